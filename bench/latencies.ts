/** Latencies of single requests. */
export interface Latencies {
  readonly count: number
  readonly medianMs: number
  readonly p99Ms: number
  readonly maxMs: number
}

export async function latencies(times: AsyncIterable<number>): Promise<Latencies> {
  const sorted: number[] = []
  for await (const ms of times) sorted.push(ms)
  sorted.sort((a, b) => a - b)
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
  return { count: sorted.length, medianMs: at(0.5), p99Ms: at(0.99), maxMs: at(1) }
}
