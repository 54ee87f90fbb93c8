import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/**
 * Whom a quarantined change is about, where an old row's change is still known; and how often changes were refused
 * with 403, which must be known before anybody is put into quarantine for it.
 */
export const quarantineEntries: Migration = {
  async up(db: Kysely<never>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
  },
}

const STATEMENTS = [
  'ALTER TABLE dirsyncd.quarantine ADD COLUMN op text, ADD COLUMN entry_id text',
  `UPDATE dirsyncd.quarantine AS q SET op = known.op, entry_id = known.entry_id
    FROM (
      SELECT DISTINCT r.sync, r.target, c.fingerprint, c.op, c.entry_id
      FROM dirsyncd.changes AS c JOIN dirsyncd.runs AS r ON r.run = c.run
      WHERE c.fingerprint IN (SELECT fingerprint FROM dirsyncd.quarantine)
    ) AS known
    WHERE known.sync = q.sync AND known.target = q.target AND known.fingerprint = q.fingerprint`,
  'ALTER TABLE dirsyncd.changes ADD COLUMN refusals smallint NOT NULL DEFAULT 0',
  `ALTER TABLE dirsyncd.runs ADD COLUMN refused integer NOT NULL DEFAULT 0,
    ADD COLUMN refused_before_success integer NOT NULL DEFAULT 0, ADD COLUMN probes integer NOT NULL DEFAULT 0`,
]
