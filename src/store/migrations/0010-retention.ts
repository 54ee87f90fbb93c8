import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/**
 * What a hold waits for, apart from its run and each change once; how much is stored of each run; and indexes for what
 * retention looks for.
 */
export const retention: Migration = {
  async up(db: Kysely<never>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
  },
}

const STATEMENTS = [
  `CREATE TABLE dirsyncd.held_changes (
    run integer NOT NULL REFERENCES dirsyncd.runs ON DELETE CASCADE,
    part integer NOT NULL,
    breaches integer[] NOT NULL,
    count integer NOT NULL,
    fingerprints text[] NOT NULL,
    PRIMARY KEY (run, part)
  )`,
  `INSERT INTO dirsyncd.held_changes (run, part, breaches, count, fingerprints)
    SELECT run, row_number() OVER (PARTITION BY run), breaches, count(*), array_agg(fingerprint)
    FROM (
      SELECT r.run, fingerprint, array_agg(DISTINCT b.place::integer - 1 ORDER BY b.place::integer - 1) AS breaches
      FROM dirsyncd.runs AS r, jsonb_array_elements(r.breaches) WITH ORDINALITY AS b(breach, place),
        jsonb_array_elements_text(b.breach -> 'changes') AS fingerprint
      WHERE r.hold IN ('open', 'rejected')
      GROUP BY r.run, fingerprint
    ) AS held
    GROUP BY run, breaches`,
  `UPDATE dirsyncd.runs SET breaches = (
      SELECT jsonb_agg(jsonb_set(breach, '{changes}', to_jsonb(jsonb_array_length(breach -> 'changes'))) ORDER BY place)
      FROM jsonb_array_elements(breaches) WITH ORDINALITY AS b(breach, place))
    WHERE jsonb_array_length(breaches) > 0`,
  `ALTER TABLE dirsyncd.runs
    ADD COLUMN stored_changes integer NOT NULL DEFAULT 0, ADD COLUMN stored_notices integer NOT NULL DEFAULT 0`,
  `UPDATE dirsyncd.runs AS r SET stored_changes = stored.count
    FROM (SELECT run, count(*) FROM dirsyncd.changes GROUP BY run) AS stored WHERE stored.run = r.run`,
  `UPDATE dirsyncd.runs AS r SET stored_notices = stored.count
    FROM (SELECT run, count(*) FROM dirsyncd.notices GROUP BY run) AS stored WHERE stored.run = r.run`,
  'CREATE INDEX runs_by_end ON dirsyncd.runs (sync, finished_at)',
  'CREATE INDEX runs_by_hold ON dirsyncd.runs (hold_run)',
  `CREATE INDEX runs_to_trim ON dirsyncd.runs (sync, run) WHERE stored_notices > 0
    OR stored_changes > 0 AND state IN ('held', 'planned') AND (hold IS NULL OR hold IN ('replaced', 'closed'))`,
  'CREATE INDEX journal_by_time ON dirsyncd.journal (sync, intent_at)',
  'DROP INDEX IF EXISTS dirsyncd.journal_by_sync',
]
