import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/** What waits for a person: containers and groups. And which groups were within others. */
export const waiting: Migration = {
  async up(db: Kysely<never>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
  },
}

const STATEMENTS = [
  "ALTER TABLE dirsyncd.baselines ADD COLUMN emptied jsonb NOT NULL DEFAULT '[]'",
  `ALTER TABLE dirsyncd.last_good
    ADD COLUMN nested_groups jsonb NOT NULL DEFAULT '{}',
    ADD COLUMN waiting_groups jsonb NOT NULL DEFAULT '[]'`,
]
