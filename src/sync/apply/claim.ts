import { type Kysely, sql } from 'kysely'
import type { Change } from '../../core/plan/change.ts'
import type { Fenced, FencedRun, LockedRun } from '../../store/fenced-run.ts'
import type { Tables } from '../../store/tables.ts'
import type { ChunkJob } from './job.ts'
import { isInForce } from '../../store/pause.ts'
import { REFUSED_IN_ROW } from './refusals.ts'
import { isDue, MOST_REFUSALS } from './waiting.ts'

export interface Claimed {
  readonly number: number
  readonly change: Change
  readonly fingerprint: string
  /** The number of attempts, this one included. */
  readonly attempts: number
  readonly refusals: number
  readonly tail: boolean
  /** An earlier attempt has no outcome. */
  readonly unsure: boolean
  /** The last run created the entry, so the list of the directory may only not show it yet. */
  readonly created_before?: boolean
}

/** The changes that a worker has claimed. The store has them before anything is sent. */
export interface Chunk {
  readonly id: string
  readonly run: LockedRun
  readonly changes: readonly Claimed[]
  readonly outages: number
}

export interface Claimer {
  readonly worker: string
  readonly target: string
  /** A lease older than this is free, in milliseconds. */
  readonly leaseMs: number
  /** Called where the run writes to another directory: the worker's configuration is older or newer. */
  readonly onOtherTarget: () => void
}

/**
 * Claims the remaining changes of a hint. Returns nothing where the changes are final or claimed, no process works on
 * the run, the run must stop, too many changes in a row were refused, the target is paused, or the plan is for another
 * directory than the worker's. After an outage, one change alone tests the target.
 */
export async function claim(fenced: FencedRun, job: ChunkJob, claimer: Claimer): Promise<Chunk | undefined> {
  return fenced.write(async (trx, run) => {
    const limit = await limitOf(trx, run, job, claimer)
    const claimed = limit === undefined ? [] : await claimChanges(trx, job, claimer.worker, limit.changes)
    await countReturned(trx, fenced.run, job.count - claimed.length)
    const [first] = claimed
    if (first === undefined) return undefined
    return { id: first.chunk, run, changes: claimed, outages: limit?.outages ?? 0 }
  })
}

async function limitOf(
  trx: Fenced,
  run: LockedRun,
  job: ChunkJob,
  claimer: Claimer,
): Promise<{ readonly changes: number | null; readonly outages: number } | undefined> {
  if (run.state !== 'applying' || run.stop_code !== null) return undefined
  if (run.target !== claimer.target) {
    claimer.onOtherTarget()
    return undefined
  }
  if (job.probe !== true && run.refused - run.refused_before_success >= REFUSED_IN_ROW) return undefined
  const { isLeased, isPaused, isClaimed, outages } = await lookAround(trx, run, job, claimer)
  if (!isLeased || isPaused || (outages > 0 && isClaimed)) return undefined
  return { changes: outages > 0 ? 1 : null, outages }
}

interface Surroundings {
  /** Checked with the epoch: another process may have taken a free lease since the fence looked. */
  readonly isLeased: boolean
  readonly isPaused: boolean
  readonly isClaimed: boolean
  readonly outages: number
}

async function lookAround(
  trx: Fenced,
  { sync, target }: LockedRun,
  { run, epoch }: ChunkJob,
  { leaseMs }: Claimer,
): Promise<Surroundings> {
  const { rows } = await sql<Surroundings>`SELECT
      EXISTS (SELECT FROM dirsyncd.leases WHERE sync = ${sync} AND epoch = ${epoch}
        AND renewed_at > clock_timestamp() - make_interval(secs => ${leaseMs / 1000})) AS "isLeased",
      EXISTS (SELECT FROM dirsyncd.chunks WHERE run = ${run}) AS "isClaimed",
      EXISTS (SELECT FROM dirsyncd.targets WHERE target = ${target} AND ${isInForce}) AS "isPaused",
      COALESCE((SELECT outages FROM dirsyncd.targets WHERE target = ${target}), 0) AS outages`.execute(trx)
  return rows[0]!
}

async function claimChanges(
  trx: Fenced,
  { run, first, last, tail }: ChunkJob,
  worker: string,
  limit: number | null,
): Promise<readonly (Claimed & { readonly chunk: string })[]> {
  // The range is read alone (OFFSET 0): PostgreSQL has no statistics yet of a plan that was just stored, and would
  // search for these changes among all waiting changes of the run.
  const { rows } = await sql<Claimed & { chunk: string }>`
    WITH due AS (
      SELECT number FROM (
        SELECT * FROM dirsyncd.changes WHERE run = ${run} AND number BETWEEN ${first} AND ${last} OFFSET 0
      ) AS c
      WHERE state = 'pending' AND tail = ${tail} AND refusals < ${MOST_REFUSALS} AND ${isDue(run)}
      ORDER BY number LIMIT ${limit}
    ), opened AS (
      INSERT INTO dirsyncd.chunks (run, first, last, worker)
      SELECT ${run}, min(number), max(number), ${worker} FROM due HAVING count(*) > 0
      RETURNING chunk
    )
    UPDATE dirsyncd.changes AS c SET attempts = c.attempts + 1, chunk = opened.chunk
    FROM due, opened
    WHERE c.run = ${run} AND c.number = due.number
    RETURNING c.chunk, c.number, c.change, c.fingerprint, c.attempts, c.refusals, c.tail, c.unsure, c.created_before`.execute(
    trx,
  )
  return rows.toSorted((a, b) => a.number - b.number)
}

/** Tells the owner of the run how many changes of a hint still wait, so that it adds hints. */
async function countReturned(trx: Fenced, run: number, count: number): Promise<void> {
  if (count <= 0) return
  await sql`UPDATE dirsyncd.runs SET returned = returned + ${count} WHERE run = ${run}`.execute(trx)
}

export interface OpenChunk {
  readonly chunk: string
  readonly worker: string
  readonly beats: number
}

export async function openChunks(db: Kysely<Tables>, run: number): Promise<readonly OpenChunk[]> {
  return db
    .selectFrom('dirsyncd.chunks')
    .select(['chunk', 'worker', 'beats'])
    .where('run', '=', run)
    .execute()
}

/** Gives back the claimed changes of a dead worker. Each change is looked up before it is sent again. */
export async function reclaim(trx: Fenced, run: number, chunk: string): Promise<void> {
  const { numUpdatedRows } = await trx
    .updateTable('dirsyncd.changes')
    .set({ unsure: true, chunk: null })
    .where('run', '=', run)
    .where('chunk', '=', chunk)
    .executeTakeFirstOrThrow()
  await countReturned(trx, run, Number(numUpdatedRows))
  await trx.deleteFrom('dirsyncd.chunks').where('chunk', '=', chunk).execute()
}

/** The workers that have open chunks of ended runs of the sync: their requests may still be in flight. */
export async function workersOfEndedRuns(db: Kysely<Tables>, sync: string): Promise<readonly string[]> {
  const { rows } = await sql<{ worker: string }>`SELECT DISTINCT c.worker FROM dirsyncd.chunks c
    JOIN dirsyncd.runs r ON r.run = c.run WHERE r.sync = ${sync} AND r.finished_at IS NOT NULL`.execute(db)
  return rows.map(({ worker }) => worker)
}

/** Closes the chunks of ended runs. Their changes get the outcome `unknown`; the next plan looks the entries up. */
export async function closeChunksOfEndedRuns(db: Kysely<Tables>, sync: string): Promise<void> {
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
      removes, intent_at, outcome, approved, approved_by)
    SELECT run, number, ${sync}, target, op, entry_id, fingerprint, attempts, worker, change -> 'have',
      removes, intent_at, 'unknown', approved, approved_by
    FROM changed`.execute(db)
}
