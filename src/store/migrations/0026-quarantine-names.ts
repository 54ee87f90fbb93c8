import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/** The name of whom a quarantined change concerns: many ids say nothing to a person. */
export const quarantineNames: Migration = {
  async up(db: Kysely<never>): Promise<void> {
    await sql`ALTER TABLE dirsyncd.quarantine ADD COLUMN name text`.execute(db)
    await sql`UPDATE dirsyncd.quarantine AS q SET name = known.name FROM (
      SELECT DISTINCT ON (fingerprint) fingerprint,
        coalesce(change #>> '{want,name}', change ->> 'name', change #>> '{have,name}') AS name
      FROM dirsyncd.changes WHERE fingerprint IN (SELECT fingerprint FROM dirsyncd.quarantine)
    ) AS known WHERE known.fingerprint = q.fingerprint`.execute(db)
  },
}
