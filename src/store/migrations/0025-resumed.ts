import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/** When a sync was last resumed: it cannot have succeeded while it was paused. */
export const resumed: Migration = {
  async up(db: Kysely<never>): Promise<void> {
    await sql`CREATE TABLE dirsyncd.resumed_syncs (
      sync text PRIMARY KEY,
      at timestamptz NOT NULL DEFAULT now()
    )`.execute(db)
  },
}
