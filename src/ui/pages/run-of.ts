import type { Browse, ShownRun } from '../../operations/browse.ts'
import { DirsyncdError } from '../../base/errors.ts'

/** Throws `run-unknown`. */
export async function runOf(browse: Pick<Browse, 'run'>, run: number): Promise<ShownRun> {
  const view = await browse.run(run)
  if (view === undefined)
    throw new DirsyncdError('run-unknown', `There is no run ${run}, or it is not kept any more.`)
  return view
}

/** Why the run can neither be decided about nor undone; `undefined` where it can. */
export function whyUntouchable({ sync, directoryNow }: ShownRun): string | undefined {
  if (directoryNow === 'same') return undefined
  const why =
    directoryNow === 'none' ? 'is not configured any more' : 'writes to another directory than this run did'
  return `The sync ${sync} ${why}, so nothing can be decided about this run, and it cannot be undone.`
}
