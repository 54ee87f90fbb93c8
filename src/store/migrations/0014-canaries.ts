import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/** What came of reading back the first changes that a sync sent to a directory. */
export const canaries: Migration = {
  async up(db: Kysely<never>): Promise<void> {
    await sql`CREATE TABLE dirsyncd.canaries (
      sync text NOT NULL,
      target text NOT NULL,
      op text NOT NULL,
      in_lists boolean NOT NULL,
      verdict text NOT NULL,
      run integer NOT NULL,
      judged_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (sync, target, op, in_lists)
    )`.execute(db)
    await sql`ALTER TABLE dirsyncd.changes ADD COLUMN canary boolean NOT NULL DEFAULT false`.execute(db)
  },
}
