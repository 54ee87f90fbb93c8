import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/** Which entries that a run created the next one did not see in the directory. */
export const missedCreates: Migration = {
  async up(db: Kysely<never>): Promise<void> {
    await sql`ALTER TABLE dirsyncd.journal ADD COLUMN missed boolean NOT NULL DEFAULT false`.execute(db)
    await sql`CREATE INDEX journal_missed ON dirsyncd.journal (sync, target, entry_id) WHERE missed`.execute(
      db,
    )
    await sql`ALTER TABLE dirsyncd.changes ADD COLUMN created_before boolean NOT NULL DEFAULT false`.execute(
      db,
    )
  },
}
