import type { Database } from '../store/database.ts'
import { writeActivity } from '../store/activity.ts'

/** The precision of a contact's last activity. */
const WRITE_INTERVAL_MS = 60_000

export type RecordActivity = (contactId: number, at: Date) => Promise<void>

/**
 * Writes at most once a minute, so that a read normally costs no write. This process remembers its own writes; the
 * store knows those of other processes.
 */
export function createActivityRecorder(db: Database): RecordActivity {
  const written = new Map<number, number>()
  return async (contactId, at) => {
    const now = at.getTime()
    const last = written.get(contactId)
    if (last !== undefined && now - last < WRITE_INTERVAL_MS) return
    // Before the write, so that concurrent requests do not write too.
    written.set(contactId, now)
    try {
      await writeActivity(db, contactId, at, new Date(now - WRITE_INTERVAL_MS))
    } catch (error) {
      written.delete(contactId)
      throw error
    }
  }
}
