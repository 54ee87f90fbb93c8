import { type Kysely, sql } from 'kysely'
import type { Tables } from './tables.ts'

type Db = Kysely<Tables>

/** A sync that a person has paused: nothing of it is written until it is resumed. */
export interface PausedSync {
  readonly sync: string
  /** Who paused it. */
  readonly by: string
  readonly reason: string | null
  readonly since: Date
}

interface NewPause {
  readonly sync: string
  readonly by: string
  readonly reason?: string | undefined
}

/**
 * Pauses a sync. Where it is paused already, that pause stays as it is, and is returned. Runs that wait to begin are
 * ended.
 */
export async function pauseSync(db: Db, { sync, by, reason }: NewPause): Promise<PausedSync> {
  return db.transaction().execute(async (trx) => {
    await trx
      .insertInto('dirsyncd.paused_syncs')
      .values({ sync, paused_by: by, reason: reason ?? null })
      .onConflict((conflict) => conflict.column('sync').doNothing())
      .execute()
    await trx
      .updateTable('dirsyncd.runs')
      .set({
        state: 'failed',
        finished_at: sql<Date>`now()`,
        error: `${by} paused the sync before this run began`,
        error_code: 'sync-paused',
      })
      .where('sync', '=', sync)
      .where('state', '=', 'waiting')
      .where('mode', '=', 'sync')
      .where('undo', 'is', null)
      .execute()
    return (await pauseOfSync(trx, sync))!
  })
}

/** Asks the run that is under way to end: what it has not sent yet is not sent any more. Returns its number. */
export async function stopRunOfSync(db: Db, sync: string, by: string): Promise<number | undefined> {
  const what = `${by} paused the sync while this run was under way`
  const goesOn = sql`CASE WHEN undo IS NULL THEN ${`; a run after dirsyncd resume ${sync} goes on`}
    ELSE '; dirsyncd undo ' || (undo->>'run') || ' puts back the rest' END`
  const row = await db
    .updateTable('dirsyncd.runs')
    .set({
      stop_code: sql`coalesce(stop_code, 'sync-paused')`,
      stop_reason: sql`coalesce(stop_reason, ${what} || ${goesOn})`,
    })
    .where('sync', '=', sync)
    .where('mode', '=', 'sync')
    .where('state', '!=', 'waiting')
    .where('finished_at', 'is', null)
    .returning('run')
    .executeTakeFirst()
  return row?.run
}

/** Ends the pause of a sync, and returns it; `undefined` where there was none. */
export async function resumeSync(db: Db, sync: string): Promise<PausedSync | undefined> {
  return db.transaction().execute(async (trx) => {
    const row = await trx
      .deleteFrom('dirsyncd.paused_syncs')
      .where('sync', '=', sync)
      .returningAll()
      .executeTakeFirst()
    if (row === undefined) return undefined
    const at = sql<Date>`now()`
    await trx
      .insertInto('dirsyncd.resumed_syncs')
      .values({ sync, at })
      .onConflict((conflict) => conflict.column('sync').doUpdateSet({ at }))
      .execute()
    return asPause(row)
  })
}

export async function pauseOfSync(db: Db, sync: string): Promise<PausedSync | undefined> {
  const row = await db
    .selectFrom('dirsyncd.paused_syncs')
    .selectAll()
    .where('sync', '=', sync)
    .executeTakeFirst()
  return row && asPause(row)
}

export async function pausedSyncs(db: Db): Promise<ReadonlyMap<string, PausedSync>> {
  const rows = await db.selectFrom('dirsyncd.paused_syncs').selectAll().execute()
  return new Map(rows.map((row) => [row.sync, asPause(row)]))
}

function asPause(row: { sync: string; paused_by: string; reason: string | null; since: Date }): PausedSync {
  return { sync: row.sync, by: row.paused_by, reason: row.reason, since: row.since }
}
