import { sql } from 'kysely'
import { sentence } from '../base/errors.ts'
import type { Log } from '../base/log/log.ts'
import type { Db } from './tables.ts'

/** A table is vacuumed when its dead rows are more than these and a fifth of its live ones. */
const DEAD_ROWS = 500

/** A table is also vacuumed when so many rows died or were added, so that no VACUUM takes long. */
const MOST_ROWS = 20_000

/** Bytes of the write-ahead log after which it is cut. */
const LOG_BYTES = 16 * 1024 * 1024

const INTERVAL_MS = 10_000

/**
 * Makes the space of dead rows usable again and cuts the write-ahead log, in an embedded store. A PostgreSQL server
 * does both by itself, in processes that an embedded one does not have: its folder would grow with each run. Looks
 * first, so that a call with nothing to do takes milliseconds. Often is better than rarely, because each statement
 * blocks the process.
 */
export async function vacuumEmbedded(db: Db): Promise<void> {
  // The counters of dead rows are up to a second old otherwise.
  await sql`SELECT pg_stat_force_next_flush()`.execute(db)
  const tables = await sql<{ name: string }>`SELECT format('%I.%I', schemaname, relname) AS name
    FROM pg_stat_user_tables
    WHERE n_dead_tup > least(${DEAD_ROWS} + n_live_tup / 5, ${MOST_ROWS})
      OR n_ins_since_vacuum > ${MOST_ROWS}`.execute(db)
  for (const { name } of tables.rows) await sql.raw(`VACUUM ${name}`).execute(db)
  if ((await logBytes(db)) > LOG_BYTES) await sql`CHECKPOINT`.execute(db)
}

async function logBytes(db: Db): Promise<number> {
  const { rows } = await sql<{ bytes: string }>`SELECT pg_current_wal_lsn() - redo_lsn AS bytes
    FROM pg_control_checkpoint()`.execute(db)
  return Number(rows[0]?.bytes)
}

/**
 * Vacuums an embedded store every few seconds in which something was written, also during a long run. Disposing it
 * waits for what is under way.
 */
export function startVacuum(db: Db, log: Log | undefined): AsyncDisposable {
  let working: Promise<void> | undefined
  let before = -1

  async function vacuumIfWritten(): Promise<void> {
    const written = await logBytes(db)
    if (written === before) return
    await vacuumEmbedded(db)
    before = await logBytes(db)
  }

  const timer = setInterval(() => {
    working ??= vacuumIfWritten()
      .catch((error: unknown) => log?.warn({ error: sentence(error) }, 'the store could not be vacuumed'))
      .finally(() => {
        working = undefined
      })
  }, INTERVAL_MS)
  timer.unref()
  return {
    [Symbol.asyncDispose]: async () => {
      clearInterval(timer)
      await working
    },
  }
}
