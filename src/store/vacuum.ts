import { type Kysely, sql } from 'kysely'
import type { Tables } from './tables.ts'

/** A table is vacuumed when a fifth of its rows and so many more are dead, or when so many are, whatever their share. */
const WORTH = { rows: 500, always: 20_000 }

/** Bytes of the write-ahead log after which it is cut. */
const LOG_BYTES = 32 * 1024 * 1024

/**
 * Makes the space of dead rows usable again and cuts the write-ahead log, in an embedded store. A PostgreSQL server does both
 * by itself, in processes that an embedded one does not have: its folder would grow with each run. Looks first, so that a call with
 * nothing to do takes milliseconds, and often is better than rarely, because each statement blocks the process.
 */
export async function vacuumEmbedded(db: Kysely<Tables>): Promise<void> {
  // The counters of dead rows are up to a second old otherwise.
  await sql`SELECT pg_stat_force_next_flush()`.execute(db)
  const tables = await sql<{ name: string }>`SELECT format('%I.%I', schemaname, relname) AS name
    FROM pg_stat_user_tables
    WHERE n_dead_tup > least(${WORTH.rows} + n_live_tup / 5, ${WORTH.always})`.execute(db)
  for (const { name } of tables.rows) await sql.raw(`VACUUM ${name}`).execute(db)
  const log = await sql<{ bytes: string }>`SELECT pg_current_wal_lsn() - redo_lsn AS bytes
    FROM pg_control_checkpoint()`.execute(db)
  if (Number(log.rows[0]?.bytes) > LOG_BYTES) await sql`CHECKPOINT`.execute(db)
}
