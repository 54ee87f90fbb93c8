import type { Database } from '../store/database.ts'
import { writeActivity } from '../store/activity.ts'

/** How exact the last activity of a contact is. */
const GRAIN_MS = 60_000

/** Notes that a contact used a token. */
export type NoteActivity = (contactId: number, at: Date) => Promise<void>

/**
 * Writes the last activity of a contact once a minute at most, so that a read normally costs no write: what this
 * process wrote it remembers, and what other processes wrote the store knows.
 */
export function createActivityNotes(db: Database): NoteActivity {
  const written = new Map<number, number>()
  return async (contactId, at) => {
    const now = at.getTime()
    const last = written.get(contactId)
    if (last !== undefined && now - last < GRAIN_MS) return
    // At once: requests that come meanwhile need not write, too.
    written.set(contactId, now)
    try {
      await writeActivity(db, contactId, at, new Date(now - GRAIN_MS))
    } catch (error) {
      written.delete(contactId)
      throw error
    }
  }
}
