import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/** Which writes a later run saw in the directory, why a change is in quarantine, and when an absence was last seen. */
export const convergence: Migration = {
  async up(db: Kysely<never>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
  },
}

const STATEMENTS = [
  'ALTER TABLE dirsyncd.journal ADD COLUMN settled boolean NOT NULL DEFAULT false',
  "ALTER TABLE dirsyncd.quarantine ADD COLUMN code text NOT NULL DEFAULT 'quarantined'",
  'ALTER TABLE dirsyncd.absences ADD COLUMN counted_at timestamptz NOT NULL DEFAULT now()',
]
