import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/** Runs with their changes, journal and notices, and what is remembered from one run to the next. */
export const runs: Migration = {
  async up(db: Kysely<never>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
  },
}

const STATEMENTS = [
  `CREATE TABLE dirsyncd.runs (
    run integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    sync text NOT NULL,
    target text NOT NULL,
    mode text NOT NULL,
    trigger text NOT NULL,
    only_entries jsonb,
    state text NOT NULL,
    epoch integer,
    directory_moved boolean NOT NULL DEFAULT false,
    approved boolean NOT NULL DEFAULT false,
    counts jsonb,
    breaches jsonb,
    hold text,
    hold_run integer,
    digest text,
    error text,
    stop_code text,
    stop_reason text,
    requested_at timestamptz NOT NULL DEFAULT now(),
    started_at timestamptz,
    finished_at timestamptz
  )`,
  'CREATE INDEX runs_by_sync ON dirsyncd.runs (sync, run DESC)',
  'CREATE INDEX runs_unfinished ON dirsyncd.runs (sync, run) WHERE finished_at IS NULL',
  `CREATE TABLE dirsyncd.changes (
    run integer NOT NULL REFERENCES dirsyncd.runs ON DELETE CASCADE,
    number integer NOT NULL,
    phase text NOT NULL,
    op text NOT NULL,
    entry_id text NOT NULL,
    fingerprint text NOT NULL,
    change jsonb NOT NULL,
    removes integer NOT NULL,
    state text NOT NULL DEFAULT 'pending',
    tail boolean NOT NULL DEFAULT false,
    attempts smallint NOT NULL DEFAULT 0,
    unsure boolean NOT NULL DEFAULT false,
    intent_at timestamptz,
    detail text,
    PRIMARY KEY (run, number)
  )`,
  "CREATE INDEX changes_pending ON dirsyncd.changes (run, number) WHERE state = 'pending'",
  'CREATE INDEX changes_intents ON dirsyncd.changes (run) WHERE intent_at IS NOT NULL',
  `CREATE TABLE dirsyncd.journal (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run integer NOT NULL,
    number integer NOT NULL,
    sync text NOT NULL,
    target text NOT NULL,
    op text NOT NULL,
    entry_id text NOT NULL,
    fingerprint text NOT NULL,
    attempt smallint NOT NULL,
    worker text NOT NULL,
    before jsonb,
    removes integer NOT NULL,
    intent_at timestamptz NOT NULL DEFAULT now(),
    ended_at timestamptz,
    outcome text,
    status smallint,
    requests smallint,
    detail text
  )`,
  'CREATE INDEX journal_by_sync ON dirsyncd.journal (sync, target, intent_at)',
  `CREATE TABLE dirsyncd.notices (
    run integer NOT NULL REFERENCES dirsyncd.runs ON DELETE CASCADE,
    number integer NOT NULL,
    kind text NOT NULL,
    entry_id text,
    code text NOT NULL,
    detail text NOT NULL,
    PRIMARY KEY (run, number)
  )`,
  `CREATE TABLE dirsyncd.quarantine (
    sync text NOT NULL,
    target text NOT NULL,
    fingerprint text NOT NULL,
    detail text NOT NULL,
    since timestamptz NOT NULL DEFAULT now(),
    tried_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (sync, target, fingerprint)
  )`,
  `CREATE TABLE dirsyncd.decisions (
    sync text NOT NULL,
    target text NOT NULL,
    fingerprint text NOT NULL,
    decision text NOT NULL,
    run integer NOT NULL,
    decided_by text NOT NULL,
    decided_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (sync, target, fingerprint)
  )`,
  `CREATE TABLE dirsyncd.last_good (
    sync text NOT NULL,
    target text NOT NULL,
    run integer NOT NULL,
    source_users integer NOT NULL,
    source_groups integer NOT NULL,
    PRIMARY KEY (sync, target)
  )`,
  'CREATE TABLE dirsyncd.settings (name text PRIMARY KEY, value text NOT NULL)',
]
