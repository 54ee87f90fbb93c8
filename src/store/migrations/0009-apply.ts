import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/**
 * Changes are claimed in chunks, a sync has one active run and one open hold, and a target can ask to be left alone.
 */
export const apply: Migration = {
  async up(db: Kysely<never>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
  },
}

const INTERRUPTED =
  'the process that worked on this run ended; a new run goes on from what both sides say now'

const STATEMENTS = [
  // Of two holds, or of two runs that nobody ended, the newer one counts.
  `UPDATE dirsyncd.runs AS older SET hold = 'replaced' WHERE hold = 'open'
    AND EXISTS (SELECT FROM dirsyncd.runs AS newer WHERE newer.sync = older.sync AND newer.hold = 'open'
      AND newer.run > older.run)`,
  "CREATE UNIQUE INDEX runs_one_hold ON dirsyncd.runs (sync) WHERE hold = 'open'",
  `UPDATE dirsyncd.runs AS older SET state = 'failed', finished_at = now(), error = '${INTERRUPTED}'
    WHERE finished_at IS NULL AND state <> 'waiting' AND mode = 'sync'
    AND EXISTS (SELECT FROM dirsyncd.runs AS newer WHERE newer.sync = older.sync AND newer.finished_at IS NULL
      AND newer.state <> 'waiting' AND newer.mode = 'sync' AND newer.run > older.run)`,
  `CREATE UNIQUE INDEX runs_one_active ON dirsyncd.runs (sync)
    WHERE finished_at IS NULL AND state <> 'waiting' AND mode = 'sync'`,
  `ALTER TABLE dirsyncd.runs
    ADD COLUMN pending integer NOT NULL DEFAULT 0,
    ADD COLUMN returned integer NOT NULL DEFAULT 0,
    ADD COLUMN outcomes jsonb NOT NULL DEFAULT '{}',
    ADD COLUMN interruptions smallint NOT NULL DEFAULT 0,
    ADD COLUMN left_orderly boolean NOT NULL DEFAULT false,
    ADD COLUMN begin_after timestamptz`,
  `CREATE TABLE dirsyncd.chunks (
    chunk bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run integer NOT NULL REFERENCES dirsyncd.runs ON DELETE CASCADE,
    first integer NOT NULL,
    last integer NOT NULL,
    worker text NOT NULL,
    beats integer NOT NULL DEFAULT 0,
    intent_at timestamptz NOT NULL DEFAULT clock_timestamp()
  )`,
  'CREATE INDEX chunks_by_run ON dirsyncd.chunks (run)',
  `ALTER TABLE dirsyncd.changes
    ADD COLUMN chunk bigint,
    ADD COLUMN next_at timestamptz,
    ADD COLUMN status smallint,
    ADD COLUMN was_there boolean NOT NULL DEFAULT false,
    ADD COLUMN approved boolean NOT NULL DEFAULT false`,
  'ALTER TABLE dirsyncd.journal ADD COLUMN approved boolean NOT NULL DEFAULT false',
  `UPDATE dirsyncd.journal AS j SET approved = true FROM dirsyncd.runs AS r WHERE r.run = j.run AND r.approved`,
  // Attempts that the version before did not journal to their end become chunks of one change.
  `WITH opened AS (
      INSERT INTO dirsyncd.chunks (run, first, last, worker, intent_at)
      SELECT run, number, number, 'an older version', intent_at FROM dirsyncd.changes WHERE intent_at IS NOT NULL
      RETURNING chunk, run, first
    )
    UPDATE dirsyncd.changes AS c SET chunk = opened.chunk FROM opened
    WHERE c.run = opened.run AND c.number = opened.first`,
  'DELETE FROM dirsyncd.journal WHERE outcome IS NULL',
  "DELETE FROM dirsyncd.journal WHERE outcome IN ('retry', 'refused')",
  'DROP INDEX dirsyncd.changes_intents',
  'DROP INDEX dirsyncd.changes_pending',
  'ALTER TABLE dirsyncd.changes DROP COLUMN intent_at',
  "CREATE INDEX changes_pending ON dirsyncd.changes (run, phase, tail, number) WHERE state = 'pending'",
  'ALTER TABLE dirsyncd.changes SET (fillfactor = 70)',
  `CREATE TABLE dirsyncd.targets (
    target text PRIMARY KEY,
    not_before timestamptz NOT NULL,
    why text NOT NULL,
    outages integer NOT NULL DEFAULT 0
  )`,
]
