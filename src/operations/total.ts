export function total(counts: Readonly<Partial<Record<string, number>>>): number {
  let sum = 0
  for (const count of Object.values(counts)) sum += count ?? 0
  return sum
}
