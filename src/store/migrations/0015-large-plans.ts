import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/**
 * Stores and applies plans of a million changes in less time. A change is written in a transaction that has locked its
 * run, and the retention removes changes before their run, so looking each one's run up again proves nothing. The room
 * that is left in each page takes what a claim writes.
 */
export const largePlans: Migration = {
  async up(db: Kysely<never>): Promise<void> {
    await sql`ALTER TABLE dirsyncd.changes DROP CONSTRAINT changes_run_fkey`.execute(db)
    await sql`ALTER TABLE dirsyncd.changes SET (fillfactor = 50)`.execute(db)
  },
}
