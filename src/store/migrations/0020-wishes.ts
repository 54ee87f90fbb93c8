import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/** What the source wants for a user, whoever has the e-mail: whoever rejects a change or leaves it out means that, too. */
export const wishes: Migration = {
  async up(db: Kysely<never>): Promise<void> {
    await sql`ALTER TABLE dirsyncd.changes ADD COLUMN wish text`.execute(db)
  },
}
