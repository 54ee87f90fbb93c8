/** As `push(...items)`, which throws for more than some 125,000 items. */
export function addAll<T>(list: T[], items: Iterable<T>): void {
  for (const item of items) list.push(item)
}
