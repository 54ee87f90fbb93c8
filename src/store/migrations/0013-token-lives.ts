import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/** How long the access tokens of the syncs live. */
export const tokenLives: Migration = {
  async up(db: Kysely<never>): Promise<void> {
    await sql`CREATE TABLE dirsyncd.token_lives (
      hash text PRIMARY KEY,
      longest_seconds double precision NOT NULL,
      expires_at timestamptz NOT NULL,
      warned_at timestamptz
    )`.execute(db)
  },
}
