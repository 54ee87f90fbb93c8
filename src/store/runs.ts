import { type Selectable, sql } from 'kysely'
import type { ErrorCode } from '../base/errors.ts'
import type { Scope } from '../core/within.ts'
import { type Fenced, Overtaken } from './fenced-run.ts'
import type { Lease } from './lease.ts'
import type { RunCounts, RunState, Undo } from './run-types.ts'
import { storable, storableJson } from './storable.ts'
import type { Db, Tables } from './tables.ts'

export type RunRecord = Selectable<Tables['dirsyncd.runs']>

export type NewRun = Pick<RunRecord, 'sync' | 'target' | 'mode' | 'trigger'> & {
  /** Set where the run changes these entries only. */
  readonly scope?: Scope | undefined
  /** Set where the run undoes another one. */
  readonly undo?: Undo | undefined
}

/** Adds a run that waits for a process to take it, and returns its number. */
export async function addRun(db: Db, { sync, target, mode, trigger, scope, undo }: NewRun): Promise<number> {
  const of = { scope: scope && JSON.stringify(scope), undo: undo && JSON.stringify(undo) }
  const row = await db
    .insertInto('dirsyncd.runs')
    .values({ sync, target, mode, trigger, ...of, state: 'waiting' })
    .returning('run')
    .executeTakeFirstOrThrow()
  return row.run
}

/** JSON of a column; one that is left out stays as it is. */
function json(value: object | null | undefined): string | null | undefined {
  return value == null ? value : storableJson(value)
}

/** Whether a run is of all entries of its sync. */
export const IS_OF_ALL = sql<boolean>`(scope IS NULL AND undo IS NULL)`

/**
 * No run waits longer than an hour: one that seems to was put off by a clock that was set back since. While its sync is
 * paused, only a plan and an undo begin.
 */
const mayBegin = sql<boolean>`(begin_after IS NULL OR begin_after NOT BETWEEN now() AND now() + interval '1 hour')
  AND (mode = 'plan' OR undo IS NOT NULL
    OR NOT EXISTS (SELECT FROM dirsyncd.paused_syncs AS paused WHERE paused.sync = runs.sync))`

/** The oldest run of the sync that nobody has taken yet and that may begin. */
export function nextWaitingRun(db: Db, sync: string): Promise<RunRecord | undefined> {
  return waitingRuns(db, sync).where(mayBegin).selectAll().orderBy('run').limit(1).executeTakeFirst()
}

/** Ends a run that nobody has taken yet. */
export async function cancelRun(db: Db, run: number): Promise<void> {
  await db
    .updateTable('dirsyncd.runs')
    .set({
      state: 'failed',
      finished_at: sql<Date>`now()`,
      error: 'the command that asked for this run ended before it began',
      error_code: 'interrupted',
    })
    .where('run', '=', run)
    .where('state', '=', 'waiting')
    .execute()
}

/** The run that waits to apply all changes of the sync, be it that it may not begin yet. */
export async function waitingWholeRun(db: Db, sync: string): Promise<number | undefined> {
  const query = waitingRuns(db, sync).select('run').where('mode', '=', 'sync')
  return (await query.where(IS_OF_ALL).orderBy('run').limit(1).executeTakeFirst())?.run
}

function waitingRuns(db: Db, sync: string) {
  return db.selectFrom('dirsyncd.runs').where('sync', '=', sync).where('state', '=', 'waiting')
}

/** Whether this sync has ever been asked to run on this target. */
export async function hasRuns(db: Db, sync: string, target: string): Promise<boolean> {
  const { rows } = await sql`SELECT FROM dirsyncd.runs
    WHERE sync = ${sync} AND target = ${target} AND mode = 'sync' LIMIT 1`.execute(db)
  return rows.length > 0
}

/** Names of the syncs that have a run which may begin, or one that was begun, be it that somebody works on it. */
export async function syncsWithWork(db: Db): Promise<readonly string[]> {
  const { rows } = await sql<{ sync: string }>`SELECT DISTINCT sync FROM dirsyncd.runs
    WHERE finished_at IS NULL AND (${mayBegin} OR state <> 'waiting')`.execute(db)
  return rows.map(({ sync }) => sync)
}

/** Does the work while nobody can take the sync over. Throws `Overtaken` where somebody has. */
export async function withLease<T>(
  db: Db,
  { sync, epoch }: Pick<Lease, 'sync' | 'epoch'>,
  run: number,
  work: (trx: Db) => Promise<T>,
): Promise<T> {
  return db.transaction().execute(async (trx) => {
    const row = await trx
      .selectFrom('dirsyncd.leases')
      .select('sync')
      .where('sync', '=', sync)
      .where('epoch', '=', String(epoch))
      .forUpdate()
      .executeTakeFirst()
    if (row === undefined) throw new Overtaken(run)
    return work(trx)
  })
}

/**
 * Marks a waiting run as begun under this lease. `target` is what its sync writes to now: the configuration may have
 * been changed since somebody asked for the run.
 */
export async function beginRun(
  db: Db,
  lease: Pick<Lease, 'sync' | 'epoch'>,
  run: number,
  target: string,
): Promise<void> {
  await withLease(db, lease, run, async (trx) => {
    await trx
      .updateTable('dirsyncd.runs')
      .set({ state: 'reading', epoch: lease.epoch, started_at: sql<Date>`now()`, target })
      .where('run', '=', run)
      .where('state', '=', 'waiting')
      .execute()
  })
}

type Report = Pick<
  RunRecord,
  | 'look_first'
  | 'counts'
  | 'evidence'
  | 'digest'
  | 'blocks'
  | 'blocked_in'
  | 'blocked_digest'
  | 'configuration_change'
>

export async function setRunState(
  trx: Fenced,
  run: number,
  state: RunState,
  { counts, evidence, blocks, configuration_change: change, ...columns }: Partial<Report> = {},
): Promise<void> {
  await trx
    .updateTable('dirsyncd.runs')
    .set({
      state,
      ...(state === 'planning' && { read_at: sql<Date>`COALESCE(read_at, now())` }),
      ...(state === 'applying' && { applying_at: sql<Date>`COALESCE(applying_at, now())` }),
      ...columns,
      counts: json(counts),
      evidence: json(evidence),
      blocks: json(blocks),
      configuration_change: json(change),
    })
    .where('run', '=', run)
    .execute()
}

export interface RunError {
  readonly code: ErrorCode
  readonly text: string
}

/** How many changes of a run that applies have which final state. */
export async function outcomesSoFar(db: Db, run: number): Promise<RunCounts['outcomes']> {
  const query = db.selectFrom('dirsyncd.applying').select('outcomes').where('run', '=', run)
  return (await query.executeTakeFirst())?.outcomes ?? {}
}

/** The run whose blocked changes are stored under this digest: an earlier one of the same sync and origin. */
export async function blockedBefore(
  db: Db,
  { run, sync, target }: Pick<RunRecord, 'run' | 'sync' | 'target'>,
  digest: string,
): Promise<number | undefined> {
  const { rows } = await sql<{ stored: number }>`SELECT blocked_in AS stored FROM dirsyncd.runs
    WHERE sync = ${sync} AND target = ${target} AND run < ${run} AND blocked_digest = ${digest}
      AND EXISTS (SELECT FROM dirsyncd.runs AS stored
        WHERE stored.run = runs.blocked_in AND stored.stored_blocked > 0)
    ORDER BY run DESC LIMIT 1`.execute(db)
  return rows[0]?.stored
}

export async function finishRun(
  trx: Fenced,
  run: number,
  { state, counts, error }: { state: RunState; counts?: RunCounts | undefined; error?: RunError | undefined },
): Promise<void> {
  await trx
    .updateTable('dirsyncd.runs')
    .set({
      state,
      finished_at: sql<Date>`now()`,
      counts: json(counts),
      ...(error !== undefined && { error: storable(error.text), error_code: error.code }),
    })
    .where('run', '=', run)
    .execute()
  await trx.deleteFrom('dirsyncd.applying').where('run', '=', run).execute()
}

/** Asks the owner of the run to end it, because of something that a worker met. The first reason stays. */
export async function stopRun(trx: Fenced, run: number, code: ErrorCode, reason: string): Promise<void> {
  await trx
    .updateTable('dirsyncd.runs')
    .set({ stop_code: code, stop_reason: storable(reason) })
    .where('run', '=', run)
    .where('stop_code', 'is', null)
    .execute()
}

export function findRun(db: Db, run: number): Promise<RunRecord | undefined> {
  return db.selectFrom('dirsyncd.runs').selectAll().where('run', '=', run).executeTakeFirst()
}

export interface RunFilter {
  readonly sync?: string | undefined
  /** Only runs with a smaller number. */
  readonly before?: number | undefined
  readonly limit: number
}

/** The newest runs first. */
export function listRuns(db: Db, { sync, before, limit }: RunFilter): Promise<readonly RunRecord[]> {
  let query = db.selectFrom('dirsyncd.runs').selectAll().orderBy('run', 'desc').limit(limit)
  if (sync !== undefined) query = query.where('sync', '=', sync)
  if (before !== undefined) query = query.where('run', '<', before)
  return query.execute()
}

/** The runs that have begun and not ended. */
export function runsUnderWay(db: Db): Promise<readonly Pick<RunRecord, 'run' | 'sync' | 'state'>[]> {
  return db
    .selectFrom('dirsyncd.runs')
    .select(['run', 'sync', 'state'])
    .where('finished_at', 'is', null)
    .where('state', '!=', 'waiting')
    .orderBy('run')
    .execute()
}
