import { sql } from 'kysely'
import type { Db } from './tables.ts'

/** A sync that an operator paused: nothing of it is written until it is resumed. */
interface PausedSync {
  readonly sync: string
  readonly by: string
  readonly reason: string | null
  readonly since: Date
}

const PAUSE = ['sync', 'paused_by as by', 'reason', 'since'] as const

/**
 * Pauses a sync. Where it is paused already, that pause stays as it is, and is returned. Runs that wait to begin are
 * ended.
 */
export async function pauseSync(
  db: Db,
  { sync, by, reason }: { sync: string; by: string; reason?: string | undefined },
): Promise<PausedSync> {
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
      .returning(PAUSE)
      .executeTakeFirst()
    if (row === undefined) return undefined
    await sql`INSERT INTO dirsyncd.resumed_syncs (sync) VALUES (${sync})
      ON CONFLICT (sync) DO UPDATE SET at = excluded.at`.execute(trx)
    return row
  })
}

export function pauseOfSync(db: Db, sync: string): Promise<PausedSync | undefined> {
  return db.selectFrom('dirsyncd.paused_syncs').select(PAUSE).where('sync', '=', sync).executeTakeFirst()
}

export async function pausedSyncs(db: Db): Promise<ReadonlyMap<string, PausedSync>> {
  const rows = await db.selectFrom('dirsyncd.paused_syncs').select(PAUSE).execute()
  return new Map(rows.map((row) => [row.sync, row]))
}
