import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/** With which configuration the last good run was made, and what a run found changed since. */
export const configurations: Migration = {
  async up(db: Kysely<never>): Promise<void> {
    await sql`ALTER TABLE dirsyncd.last_good ADD COLUMN options jsonb`.execute(db)
    await sql`ALTER TABLE dirsyncd.runs ADD COLUMN configuration_change jsonb`.execute(db)
  },
}
