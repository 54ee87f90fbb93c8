import type { Browse } from '../../control/browse.ts'
import type { RunDetail } from '../../control/control.ts'
import { DirsyncdError } from '../../errors.ts'

/** The run of this number; throws `run-unknown`. */
export async function runOf(browse: Pick<Browse, 'run'>, run: number): Promise<RunDetail> {
  const view = await browse.run(run)
  if (view === undefined)
    throw new DirsyncdError('run-unknown', `There is no run ${run}, or it is not kept any more.`)
  return view
}
