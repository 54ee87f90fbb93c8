import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/** Runs that undo another one, and the syncs that a person has paused. */
export const undo: Migration = {
  async up(db: Kysely<never>): Promise<void> {
    await sql`ALTER TABLE dirsyncd.runs ADD COLUMN undo jsonb`.execute(db)
    await sql`CREATE TABLE dirsyncd.paused_syncs (
      sync text PRIMARY KEY,
      paused_by text NOT NULL,
      reason text,
      since timestamptz NOT NULL DEFAULT now()
    )`.execute(db)
  },
}
