import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/** Who approved a change: its decision is forgotten when it is made, and a hold may have several. */
export const approvers: Migration = {
  async up(db: Kysely<never>): Promise<void> {
    await sql`ALTER TABLE dirsyncd.changes ADD COLUMN approved_by text`.execute(db)
    await sql`ALTER TABLE dirsyncd.journal ADD COLUMN approved_by text`.execute(db)
  },
}
