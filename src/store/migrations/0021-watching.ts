import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/** When the phases of runs began. The lives of tokens are kept by where each token is, no longer by its hash. */
export const watching: Migration = {
  async up(db: Kysely<never>): Promise<void> {
    await sql`ALTER TABLE dirsyncd.runs ADD COLUMN read_at timestamptz, ADD COLUMN applying_at timestamptz`.execute(
      db,
    )
    await sql`DROP TABLE dirsyncd.token_lives`.execute(db)
    await sql`CREATE TABLE dirsyncd.token_lives (
      origin text NOT NULL,
      place text NOT NULL,
      longest_seconds double precision NOT NULL,
      expires_at timestamptz NOT NULL,
      warned_at timestamptz,
      PRIMARY KEY (origin, place)
    )`.execute(db)
    await sql`DELETE FROM dirsyncd.settings WHERE name = 'token-salt'`.execute(db)
  },
}
