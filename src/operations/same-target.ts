import { DirsyncdError } from '../base/errors.ts'
import type { RunRecord } from '../store/runs.ts'

/** @param cannot the refused action, such as `be undone` */
export function requireSameTarget(
  { run, sync, target }: RunRecord,
  targets: ReadonlyMap<string, string>,
  cannot: string,
): void {
  const now = targets.get(sync)
  if (now === target) return
  const why =
    now === undefined
      ? `is of the sync ${sync}, which this configuration does not have`
      : `is for ${target}, and ${sync} writes to ${now} now`
  throw new DirsyncdError('run-unknown', `Run ${run} cannot ${cannot}: it ${why}.`)
}
