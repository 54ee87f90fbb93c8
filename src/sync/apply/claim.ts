import { sql } from 'kysely'
import type { Fenced, FencedRun, LockedRun } from '../../store/fenced-run.ts'
import type { Db } from '../../store/tables.ts'
import { isInForce } from '../../store/pause.ts'
import type { Claimed, Ticket } from './job.ts'
import { meetNeeds } from './needs.ts'
import { nextDue, type Stage } from './stage.ts'

/** The changes that a worker has claimed. The store has them before anything is sent. */
export interface Chunk {
  readonly id: string
  readonly run: LockedRun
  /** Claimed in the retry stage. */
  readonly retry: boolean
  readonly changes: readonly Claimed[]
  readonly outages: number
}

interface Claimer {
  readonly worker: string
  readonly target: string
  /** A lease older than this is free, in milliseconds. */
  readonly leaseMs: number
}

/**
 * Claims the next changes of the run's current stage. Returns nothing where none is due, no process works on the run,
 * the run must stop, or the target is paused; `other-target` where the plan is for another directory than the worker's,
 * whose configuration is older or newer. After an outage, one change alone tests the target.
 */
export async function claim(
  fenced: FencedRun,
  { most }: Pick<Ticket, 'most'>,
  claimer: Claimer,
): Promise<Chunk | 'other-target' | undefined> {
  return fenced.write(async (trx, run) => {
    if (run.state !== 'applying' || run.stop_code !== null) return undefined
    if (run.target !== claimer.target) return 'other-target'
    const { isLeased, isPaused, isClaimed, outages, stage } = await lookAround(trx, run, fenced, claimer)
    if (!isLeased || isPaused || (outages > 0 && isClaimed) || stage === null) return undefined
    const limit = outages > 0 ? 1 : most
    const numbers = await nextDue(trx, fenced.run, stage, { after: stage.cursor, limit })
    const [first, last] = [numbers[0], numbers.at(-1)]
    if (first === undefined || last === undefined) return undefined
    await trx.updateTable('dirsyncd.applying').set({ cursor: last }).where('run', '=', fenced.run).execute()
    const { chunk: id } = await trx
      .insertInto('dirsyncd.chunks')
      .values({ run: fenced.run, first, last, worker: claimer.worker })
      .returning('chunk')
      .executeTakeFirstOrThrow()
    const claimed = await claimChanges(trx, fenced.run, id, numbers)
    return { id, run, retry: stage.retry, changes: await meetNeeds(trx, fenced.run, stage, claimed), outages }
  })
}

interface Surroundings {
  /** Checked with the epoch: another process may have taken a free lease since the fence looked. */
  readonly isLeased: boolean
  readonly isPaused: boolean
  readonly isClaimed: boolean
  readonly outages: number
  /** Read after the run was locked, because another claim may have moved the cursor meanwhile. */
  readonly stage: (Stage & { readonly cursor: number }) | null
}

async function lookAround(
  trx: Fenced,
  { sync, target }: LockedRun,
  { run, epoch }: FencedRun,
  { leaseMs }: Claimer,
): Promise<Surroundings> {
  const { rows } = await sql<Surroundings>`SELECT
      EXISTS (SELECT FROM dirsyncd.leases WHERE sync = ${sync} AND epoch = ${epoch}
        AND renewed_at > clock_timestamp() - make_interval(secs => ${leaseMs / 1000})) AS "isLeased",
      EXISTS (SELECT FROM dirsyncd.chunks WHERE run = ${run}) AS "isClaimed",
      EXISTS (SELECT FROM dirsyncd.targets WHERE target = ${target} AND ${isInForce}) AS "isPaused",
      COALESCE((SELECT outages FROM dirsyncd.targets WHERE target = ${target}), 0) AS outages,
      (SELECT json_build_object('phase', phase, 'retry', retry, 'verifies', verifies, 'cursor', cursor)
        FROM dirsyncd.applying WHERE run = ${run}) AS stage`.execute(trx)
  return rows[0]!
}

async function claimChanges(
  trx: Fenced,
  run: number,
  chunk: string,
  numbers: readonly number[],
): Promise<readonly Claimed[]> {
  const { rows } = await sql<Claimed>`UPDATE dirsyncd.changes SET attempts = attempts + 1, chunk = ${chunk}
    WHERE run = ${run} AND number = ANY(${numbers}::integer[])
    RETURNING number, change, fingerprint, attempts, refusals, retry, unsure`.execute(trx)
  return rows.toSorted((a, b) => a.number - b.number)
}

interface OpenChunk {
  readonly chunk: string
  readonly worker: string
  readonly heartbeats: number
}

export async function openChunks(db: Db, run: number): Promise<readonly OpenChunk[]> {
  return db
    .selectFrom('dirsyncd.chunks')
    .select(['chunk', 'worker', 'heartbeats'])
    .where('run', '=', run)
    .execute()
}

/** Gives back the claimed changes of a dead worker. Each change is looked up before it is sent again. */
export async function reclaim(trx: Fenced, run: number, chunk: string): Promise<void> {
  await trx
    .updateTable('dirsyncd.changes')
    .set({ unsure: true, chunk: null })
    .where('run', '=', run)
    .where('chunk', '=', chunk)
    .execute()
  await trx.deleteFrom('dirsyncd.chunks').where('chunk', '=', chunk).execute()
}

/** The workers that have open chunks of ended runs of the sync: their requests may still be in flight. */
export async function workersOfEndedRuns(db: Db, sync: string): Promise<readonly string[]> {
  const { rows } = await sql<{ worker: string }>`SELECT DISTINCT c.worker FROM dirsyncd.chunks c
    JOIN dirsyncd.runs r ON r.run = c.run WHERE r.sync = ${sync} AND r.finished_at IS NOT NULL`.execute(db)
  return rows.map(({ worker }) => worker)
}

/** Closes the chunks of ended runs. Their changes get the outcome `unknown`; the next plan looks the entries up. */
export async function closeChunksOfEndedRuns(db: Db, sync: string): Promise<void> {
  await sql`WITH closed AS (
      DELETE FROM dirsyncd.chunks AS k USING dirsyncd.runs AS r
      WHERE r.run = k.run AND r.sync = ${sync} AND r.finished_at IS NOT NULL
      RETURNING k.chunk, k.run, k.first, k.last, k.worker, k.intent_at, r.target
    ), changed AS (
      UPDATE dirsyncd.changes AS c SET state = 'unknown', unsure = true, chunk = NULL FROM closed AS k
      WHERE c.run = k.run AND c.number BETWEEN k.first AND k.last AND c.chunk = k.chunk
      RETURNING c.*, k.worker, k.intent_at, k.target
    )
    INSERT INTO dirsyncd.journal (run, number, sync, target, op, entry_id, fingerprint, attempt, worker, before,
      removes, intent_at, outcome, approved_by)
    SELECT run, number, ${sync}, target, op, entry_id, fingerprint, attempts, worker, change -> 'have',
      removes, intent_at, 'unknown', approved_by
    FROM changed`.execute(db)
}
