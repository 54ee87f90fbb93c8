import { listAt } from '../../base/lists.ts'
import { forEachInSteps, type Steps } from '../../base/steps.ts'

export function* byName<R>(
  records: Iterable<R>,
  namesOf: (record: R) => readonly string[],
): Steps<ReadonlyMap<string, readonly R[]>> {
  const named = new Map<string, R[]>()
  yield* forEachInSteps(records, (record) => {
    for (const name of namesOf(record)) listAt(named, name).push(record)
  })
  return named
}
