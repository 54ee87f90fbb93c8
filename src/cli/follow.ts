import { setTimeout as sleep } from 'node:timers/promises'
import type { Control, RunState, RunSummary, RunView } from '../control/control.ts'
import { DirsyncdError } from '../errors.ts'
import type { Session } from './context.ts'
import { leftBehind, runExitCode } from './exit-code.ts'
import { createProgress } from './render/progress.ts'
import { renderReport } from './render/report.ts'
import { printable } from '../printable.ts'
import { fold } from './render/wrap.ts'

const POLL_MS = 300

/** How many changes are read; enough for some of every operation of a usual plan. */
const SOME = 1000
/** More than any directory holds. */
export const ALL = 10_000_000

const FINAL: ReadonlySet<RunState> = new Set(['planned', 'held', 'done', 'failed'])

export interface FollowOptions {
  /** Every change and notice, not only the first of each group. */
  readonly all: boolean
}

/**
 * Waits for the end of a run, with a progress bar on a terminal, prints its report and returns its exit code. The error
 * of a failed run goes to standard error, as every error does.
 */
export async function followRun(
  session: Session,
  control: Control,
  run: number,
  options: FollowOptions,
): Promise<number> {
  const finished = await waitForRun(session, control, run)
  const view = await readRun(control, run, session.json || options.all ? ALL : detailLimit(finished))
  if (session.json) session.printJson(view)
  else session.print(...fold(renderReport({ ...view, error: null }, options), session.columns))
  if (view.error !== null) session.stderr.write(`${view.sync}: run ${run} failed: ${printable(view.error)}\n`)
  return runExitCode(view)
}

async function waitForRun(session: Session, control: Control, run: number): Promise<RunSummary> {
  using progress = createProgress(session.stderr, !session.json)
  for (;;) {
    const current = await readRun(control, run, 0)
    if (FINAL.has(current.state)) return current
    progress.update(current)
    await pause(session.signal, run)
  }
}

async function pause(signal: AbortSignal, run: number): Promise<void> {
  try {
    await sleep(POLL_MS, undefined, { signal })
  } catch (cause) {
    throw new DirsyncdError(
      'interrupted',
      `Interrupted before run ${run} ended; dirsyncd runs ${run} shows what became of it.`,
      { cause },
    )
  }
}

/** One run; throws `run-unknown`. */
export async function readRun(control: Control, run: number, limit: number): Promise<RunView> {
  const view = await control.run(run, { limit })
  if (view !== undefined) return view
  throw new DirsyncdError('run-unknown', `There is no run ${run}; dirsyncd runs lists the newest ones.`)
}

/** How many changes and notices to read: all when something was left undone, because the report names it. */
export function detailLimit(run: RunSummary): number {
  return leftBehind(run).length > 0 ? ALL : SOME
}
