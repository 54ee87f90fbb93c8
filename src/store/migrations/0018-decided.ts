import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/** Who decided on a hold, when and why, and which runs apply what was approved. */
export const decided: Migration = {
  async up(db: Kysely<never>): Promise<void> {
    await sql`ALTER TABLE dirsyncd.runs
      ADD COLUMN decisions jsonb NOT NULL DEFAULT '[]',
      ADD COLUMN approval_of integer,
      ADD COLUMN part jsonb,
      ADD COLUMN hold_expires_at timestamptz`.execute(db)
  },
}
