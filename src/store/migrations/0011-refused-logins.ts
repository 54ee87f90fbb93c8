import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/** The last login of each reader that a source refused. */
export const refusedLogins: Migration = {
  async up(db: Kysely<never>): Promise<void> {
    await sql`CREATE TABLE dirsyncd.refused_logins (
      reader text PRIMARY KEY,
      message text NOT NULL,
      salt text NOT NULL,
      hash text NOT NULL,
      times integer NOT NULL,
      secrets integer NOT NULL,
      at timestamptz NOT NULL
    )`.execute(db)
  },
}
