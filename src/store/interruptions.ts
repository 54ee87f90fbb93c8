import { sql } from 'kysely'
import type { Fenced } from './fenced-run.ts'
import { outcomesAtEnd } from './plans.ts'
import type { RunRecord } from './runs.ts'
import type { Db } from './tables.ts'

/** After so many interruptions in a row the next run waits, twice as long each time. */
const INTERRUPTIONS_BEFORE_WAIT = 3
const FIRST_WAIT_MINUTES = 2
const LONGEST_WAIT_MINUTES = 60

/** A run that nobody works on any more. */
interface Interrupted {
  readonly run: RunRecord
  /** How many runs in a row ended so, this one included. */
  readonly inRow: number
  /** How long the next run waits. */
  readonly waitMinutes: number
}

/**
 * Ends every begun run of the sync, because its process is gone. The waiting run that `next` names goes on from there:
 * it remembers how many ended so in a row, and waits because of them unless it `beginsAtOnce`. `trx` is that of
 * `withLease`.
 */
export async function interruptRuns(
  trx: Db,
  sync: string,
  next: (interrupted: RunRecord) => Promise<number>,
  { beginsAtOnce = false } = {},
): Promise<void> {
  for (const run of await begunRuns(trx, sync)) {
    const interrupted = asInterrupted(run, beginsAtOnce)
    await failRun(trx, run, whyInterrupted(interrupted))
    const { inRow, waitMinutes } = interrupted
    await trx
      .updateTable('dirsyncd.runs')
      .set({ interruptions: inRow, begin_after: sql<Date>`now() + make_interval(mins => ${waitMinutes})` })
      .where('run', '=', await next(run))
      .execute()
  }
}

/**
 * Ends every begun run of the sync, because its process is gone, and no run goes on from it; of a sync that was removed
 * from the configuration, also those that wait. `trx` is as above.
 */
export async function endRuns(trx: Db, sync: string, why: 'interrupted' | 'sync-removed'): Promise<void> {
  const isRemoved = why === 'sync-removed'
  const runs = isRemoved ? await unfinishedRuns(trx, sync).execute() : await begunRuns(trx, sync)
  const error = isRemoved ? 'the sync was removed from the configuration' : WHAT_HAPPENED
  for (const run of runs) await failRun(trx, run, error)
}

function begunRuns(trx: Db, sync: string): Promise<readonly RunRecord[]> {
  return unfinishedRuns(trx, sync).where('state', '!=', 'waiting').execute()
}

function unfinishedRuns(trx: Db, sync: string) {
  return trx.selectFrom('dirsyncd.runs').selectAll().where('sync', '=', sync).where('finished_at', 'is', null)
}

async function failRun(trx: Db, run: RunRecord, error: string): Promise<void> {
  const counts = run.counts && { ...run.counts, outcomes: await outcomesAtEnd(trx, run.run) }
  await trx
    .updateTable('dirsyncd.runs')
    .set({
      state: 'failed',
      finished_at: sql<Date>`now()`,
      error,
      error_code: 'interrupted',
      ...(counts !== null && { counts: JSON.stringify(counts) }),
    })
    .where('run', '=', run.run)
    .execute()
  await trx.deleteFrom('dirsyncd.applying').where('run', '=', run.run).execute()
}

function asInterrupted(run: RunRecord, beginsAtOnce: boolean): Interrupted {
  const inRow = run.left_orderly || run.mode === 'plan' ? 0 : run.interruptions + 1
  const isNoWait = beginsAtOnce || inRow < INTERRUPTIONS_BEFORE_WAIT
  const waits = isNoWait ? 0 : FIRST_WAIT_MINUTES * 2 ** (inRow - INTERRUPTIONS_BEFORE_WAIT)
  return { run, inRow, waitMinutes: Math.min(waits, LONGEST_WAIT_MINUTES) }
}

/** Nobody can tell these from the outside. */
const WHAT_HAPPENED = 'the process that worked on this run ended, or did not reach the store for too long'

const LEFT = 'its process was asked to end, or the configuration of the sync was changed'

function whyInterrupted({ run, inRow, waitMinutes }: Interrupted): string {
  if (run.undo !== null)
    return `${run.left_orderly ? LEFT : WHAT_HAPPENED}; a daemon goes on with the undo, or dirsyncd undo ${run.undo.run}`
  if (run.left_orderly) return `${LEFT}; a new run goes on from what both sides say now`
  if (inRow < INTERRUPTIONS_BEFORE_WAIT)
    return `${WHAT_HAPPENED}; a new run goes on from what both sides say now`
  const next = waitMinutes === 0 ? '' : `; the next run waits ${waitMinutes} minutes`
  return (
    `${WHAT_HAPPENED}, while it was ${run.state}, as with the ${inRow - 1} runs before: see its log, ` +
    `and whether it has enough memory${next}`
  )
}

/** Notes that the run is left to the next one on purpose. */
export async function leaveRun(trx: Fenced, run: number): Promise<void> {
  await trx.updateTable('dirsyncd.runs').set({ left_orderly: true }).where('run', '=', run).execute()
}
