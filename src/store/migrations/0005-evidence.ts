import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/** What a run compares its read with: the server, the places of the entries, and for how long entries are absent. */
export const evidence: Migration = {
  async up(db: Kysely<never>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
  },
}

const STATEMENTS = [
  'ALTER TABLE dirsyncd.last_good ADD COLUMN groups_with_members integer, ADD COLUMN server jsonb',
  `CREATE TABLE dirsyncd.baselines (
    sync text NOT NULL,
    target text NOT NULL,
    kind text NOT NULL,
    digest text NOT NULL,
    depth smallint NOT NULL,
    containers jsonb NOT NULL,
    entries bytea NOT NULL,
    PRIMARY KEY (sync, target, kind)
  )`,
  `CREATE TABLE dirsyncd.absences (
    sync text NOT NULL,
    target text NOT NULL,
    kind text NOT NULL,
    entry_id text NOT NULL,
    since timestamptz NOT NULL DEFAULT now(),
    reads integer NOT NULL DEFAULT 1,
    PRIMARY KEY (sync, target, kind, entry_id)
  )`,
]
