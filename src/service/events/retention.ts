import type { Pool } from 'pg'
import { sentence } from '../../base/errors.ts'
import type { Log } from '../../base/log/log.ts'
import { openDatabase } from '../store/database.ts'
import { deleteEventsBefore } from '../store/events.ts'

const HOUR_MS = 3_600_000

/** Few enough that no request waits long for a statement. */
const EVENTS_PER_STATEMENT = 1000

/**
 * Deletes events older than `maxAgeMs` milliseconds, now and once an hour, until disposed. Closing the pool ends a
 * running statement; shutdown does not wait.
 */
export function startEventRetention(
  maxAgeMs: number,
  { pool, log }: { readonly pool: Pool; readonly log: Log },
): Disposable {
  const stopped = new AbortController()
  let running = Promise.resolve()
  const deleteOld = async (): Promise<void> => {
    await deleteOldEvents(pool, new Date(Date.now() - maxAgeMs), stopped.signal)
  }
  const clean = () => {
    running = running.then(deleteOld).catch((error: unknown) => {
      if (!stopped.signal.aborted) log.warn({ error: sentence(error) }, 'old events could not be deleted')
    })
  }
  const timer = setInterval(clean, HOUR_MS).unref()
  clean()
  return {
    [Symbol.dispose]() {
      clearInterval(timer)
      stopped.abort()
    },
  }
}

/** Resolves with the number of deleted events. An abort ends it between two statements. */
export async function deleteOldEvents(pool: Pool, before: Date, signal?: AbortSignal): Promise<number> {
  const db = openDatabase(pool)
  let deleted = 0
  for (const { id } of await db.selectFrom('organizations').select('id').orderBy('id').execute()) {
    let count: number
    do {
      count = signal?.aborted === true ? 0 : await deleteEventsBefore(db, id, before, EVENTS_PER_STATEMENT)
      deleted += count
    } while (count > 0)
  }
  // An embedded store has no autovacuum to free the space.
  if (deleted > 0 && signal?.aborted !== true) await pool.query('vacuum access_management.events')
  return deleted
}
