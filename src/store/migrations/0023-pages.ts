import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/** What pages show: what a person looks for in changes, and what a run found out about its reads. */
export const pages: Migration = {
  async up(db: Kysely<never>): Promise<void> {
    await sql`CREATE TABLE dirsyncd.change_texts (
      run integer NOT NULL REFERENCES dirsyncd.runs ON DELETE CASCADE,
      first integer NOT NULL,
      last integer NOT NULL,
      ops text[] NOT NULL,
      texts text NOT NULL,
      PRIMARY KEY (run, first)
    )`.execute(db)
    // Compressed, they would be unpacked for each search.
    await sql`ALTER TABLE dirsyncd.change_texts ALTER COLUMN texts SET STORAGE EXTERNAL`.execute(db)
    // The few that went another way than most, for whoever lists them alone.
    await sql`CREATE INDEX changes_others ON dirsyncd.changes (run, number)
      WHERE state NOT IN ('pending', 'applied')`.execute(db)
    await sql`ALTER TABLE dirsyncd.runs ADD COLUMN evidence jsonb`.execute(db)
  },
}
