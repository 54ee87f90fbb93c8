import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/** In which of several attributes each group lists somebody. */
export const memberLists: Migration = {
  async up(db: Kysely<never>): Promise<void> {
    await sql.raw(STATEMENT).execute(db)
  },
}

const STATEMENT = "ALTER TABLE dirsyncd.last_good ADD COLUMN member_lists jsonb NOT NULL DEFAULT '{}'"
