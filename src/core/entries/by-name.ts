import { listAt } from '../../base/lists.ts'
import type { Steps } from '../../base/steps.ts'

/** @param namesOf one step for each record, because it may be long */
export function* byName<R>(
  records: Iterable<R>,
  namesOf: (record: R) => readonly string[],
): Steps<ReadonlyMap<string, readonly R[]>> {
  const named = new Map<string, R[]>()
  for (const record of records) {
    yield
    for (const name of namesOf(record)) listAt(named, name).push(record)
  }
  return named
}
