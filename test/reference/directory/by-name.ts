/** Who names whom: each name with the records that have it. */
export function byName<R>(
  records: Iterable<R>,
  namesOf: (record: R) => readonly string[],
): ReadonlyMap<string, readonly R[]> {
  const named = new Map<string, R[]>()
  for (const record of records) {
    for (const name of namesOf(record)) {
      const others = named.get(name)
      if (others === undefined) named.set(name, [record])
      else others.push(record)
    }
  }
  return named
}
