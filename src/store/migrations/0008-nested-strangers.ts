import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/** What the groups that have groups within list besides, as a digest. */
export const nestedStrangers: Migration = {
  async up(db: Kysely<never>): Promise<void> {
    await sql.raw(STATEMENT).execute(db)
  },
}

const STATEMENT = "ALTER TABLE dirsyncd.last_good ADD COLUMN nested_strangers jsonb NOT NULL DEFAULT '{}'"
