import { setTimeout as sleep } from 'node:timers/promises'
import { addAll } from '../../base/lists.ts'
import type { Notice } from '../../core/notice.ts'
import type { ChangeView, Control, RunState, RunSummary, RunView } from '../../operations/control.ts'
import { parts } from '../../operations/parts.ts'
import { DirsyncdError } from '../../base/errors.ts'
import type { Session } from './context.ts'
import { notMade } from '../messages/ends.ts'
import { runExitCode } from './exit-code.ts'
import { createProgress } from './render/progress.ts'
import { clearLine } from '../../base/terminal/output.ts'
import { renderReport } from './render/report.ts'
import { printable } from '../../base/printable.ts'
import { printLines } from './print-lines.ts'

const POLL_MS = 300

/** The run continues during an outage of the store, or after it. */
const PATIENCE_MS = 10 * 60_000

/** Enough for some changes of every operation in a usual plan. */
const SOME = 1000
export const ALL = Number.POSITIVE_INFINITY

const FINAL: ReadonlySet<RunState> = new Set(['planned', 'held', 'done', 'failed'])

export interface FollowOptions {
  readonly all: boolean
}

/** Prints the report of a run when it ends and returns its exit code. The error of a failed run goes to stderr. */
export async function followRun(
  session: Session,
  control: Control,
  run: number,
  options: FollowOptions,
): Promise<number> {
  const { finished, read } = await endOfRun(session, control, run)
  const view = await read(session.json || options.all ? ALL : detailLimit(finished))
  if (session.json) session.printJson(view)
  else printLines(session, renderReport({ ...view, error: null }, options))
  if (view.error !== null) session.stderr.write(`${view.sync}: run ${run} failed: ${printable(view.error)}\n`)
  return runExitCode(view)
}

export async function endOfRun(
  session: Session,
  control: Control,
  run: number,
): Promise<{ readonly finished: RunSummary; readonly read: Read }> {
  const read = patiently(session, run, (limit) => readRun(control, run, limit))
  return { finished: await waitForRun(session, run, read), read }
}

type Read = (limit: number) => Promise<RunView>

async function waitForRun(session: Session, run: number, read: Read): Promise<RunSummary> {
  using progress = createProgress(session.stderr, !session.json)
  for (;;) {
    const current = await read(0)
    if (FINAL.has(current.state)) return current
    progress.update(current)
    await pause(session.signal, run)
  }
}

/** Retries while the store is unavailable, and says so once. */
function patiently({ stderr, signal }: Session, run: number, read: Read): Read {
  let awaySince: number | undefined
  return async (limit) => {
    for (;;) {
      try {
        const view = await read(limit)
        awaySince = undefined
        return view
      } catch (error) {
        if (!(error instanceof DirsyncdError) || error.code !== 'store-unavailable') throw error
        if (awaySince === undefined) {
          awaySince = performance.now()
          stderr.write(
            `${clearLine(stderr)}${error.message} Run ${run} waits for it, and so does this command.\n`,
          )
        }
        if (performance.now() - awaySince > PATIENCE_MS) {
          const what = `dirsyncd runs ${run} shows what became of run ${run} when it answers again.`
          throw new DirsyncdError('store-unavailable', `${error.message} ${what}`, { cause: error })
        }
      }
      await pause(signal, run)
    }
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

/** Throws `run-unknown`. */
export async function readRun(control: Control, run: number, limit: number): Promise<RunView> {
  const view = await control.run(run, { limit: limit === ALL ? 0 : limit })
  if (view === undefined)
    throw new DirsyncdError('run-unknown', `There is no run ${run}; dirsyncd runs lists the newest ones.`)
  return limit === ALL ? { ...view, ...(await everythingOf(control, run)) } : view
}

async function everythingOf(control: Control, run: number): Promise<Pick<RunView, 'changes' | 'notices'>> {
  const changes: ChangeView[] = []
  for await (const some of parts((place) => control.changes(run, place))) addAll(changes, some)
  const notices: Notice[] = []
  for await (const some of parts((place) => control.notices(run, place)))
    for (const { number: _, ...notice } of some) notices.push(notice)
  return { changes, notices }
}

/** All changes and notices where something was not applied, because the report names each. */
export function detailLimit(run: RunSummary): number {
  return notMade(run).length > 0 ? ALL : SOME
}
