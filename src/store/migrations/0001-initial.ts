/** What the columns hold: `tables.ts`. */
export const initial = `
-- Who runs a sync. A free lease keeps its row, so that an epoch is never used twice.
CREATE TABLE dirsyncd.leases (sync text PRIMARY KEY, epoch bigint NOT NULL, owner text, renewed_at timestamptz);
CREATE TABLE dirsyncd.settings (name text PRIMARY KEY, value text NOT NULL);

-- Runs, their plans, and what people decide about them.

CREATE TABLE dirsyncd.runs (
  run integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  sync text NOT NULL, target text NOT NULL, mode text NOT NULL, trigger text NOT NULL,
  only_entries jsonb, part jsonb, undo jsonb, approval_of integer,
  state text NOT NULL, epoch integer,
  directory_moved boolean NOT NULL DEFAULT false, look_first text[] NOT NULL DEFAULT '{}', approved boolean NOT NULL DEFAULT false,
  counts jsonb, evidence jsonb, breaches jsonb, digest text, configuration_change jsonb,
  hold text, hold_run integer, hold_expires_at timestamptz, decisions jsonb NOT NULL DEFAULT '[]',
  error text, error_code text, stop_code text, stop_reason text,
  interruptions smallint NOT NULL DEFAULT 0, left_orderly boolean NOT NULL DEFAULT false, begin_after timestamptz,
  stored_changes integer NOT NULL DEFAULT 0, stored_notices integer NOT NULL DEFAULT 0,
  requested_at timestamptz NOT NULL DEFAULT now(), started_at timestamptz, read_at timestamptz,
  applying_at timestamptz, finished_at timestamptz
);
CREATE UNIQUE INDEX runs_one_active ON dirsyncd.runs (sync)
  WHERE finished_at IS NULL AND state <> 'waiting' AND mode = 'sync';
CREATE UNIQUE INDEX runs_one_hold ON dirsyncd.runs (sync) WHERE hold = 'open';
CREATE INDEX runs_by_sync ON dirsyncd.runs (sync, run DESC);
CREATE INDEX runs_unfinished ON dirsyncd.runs (sync, run) WHERE finished_at IS NULL;
CREATE INDEX runs_by_end ON dirsyncd.runs (sync, finished_at);
CREATE INDEX runs_by_hold ON dirsyncd.runs (hold_run);
CREATE INDEX runs_decided ON dirsyncd.runs (finished_at) WHERE decisions <> '[]'::jsonb;
CREATE INDEX runs_to_trim ON dirsyncd.runs (sync, run) WHERE stored_notices > 0
  OR stored_changes > 0 AND state IN ('held', 'planned') AND (hold IS NULL OR hold IN ('replaced', 'closed'));

-- No foreign key: a change is written in a transaction that has locked its run, and the retention removes changes before
-- their run. The room in each page takes what a claim writes. Both save time with a plan of a million changes.
CREATE TABLE dirsyncd.changes (
  run integer, number integer, PRIMARY KEY (run, number),
  phase text NOT NULL, op text NOT NULL, entry_id text NOT NULL,
  fingerprint text NOT NULL, wish text, change jsonb NOT NULL, removes integer NOT NULL,
  state text NOT NULL DEFAULT 'pending', retry boolean NOT NULL DEFAULT false,
  attempts smallint NOT NULL DEFAULT 0, refusals smallint NOT NULL DEFAULT 0,
  unsure boolean NOT NULL DEFAULT false, chunk bigint, next_at timestamptz,
  detail text, status smallint, was_there boolean NOT NULL DEFAULT false,
  approved boolean NOT NULL DEFAULT false, approved_by text,
  verifies boolean NOT NULL DEFAULT false
) WITH (fillfactor = 50);
CREATE INDEX changes_pending ON dirsyncd.changes (run, phase, retry, number) WHERE state = 'pending';
CREATE INDEX changes_others ON dirsyncd.changes (run, number) WHERE state NOT IN ('pending', 'applied');
CREATE INDEX changes_of_emails ON dirsyncd.changes (run, entry_id) WHERE phase IN ('free-emails', 'take-emails');

CREATE TABLE dirsyncd.change_texts (
  run integer REFERENCES dirsyncd.runs ON DELETE CASCADE, first integer, PRIMARY KEY (run, first),
  last integer NOT NULL, ops text[] NOT NULL, texts text NOT NULL
);
-- Compressed, they would be unpacked for each search.
ALTER TABLE dirsyncd.change_texts ALTER COLUMN texts SET STORAGE EXTERNAL;

CREATE TABLE dirsyncd.notices (
  run integer REFERENCES dirsyncd.runs ON DELETE CASCADE, number integer, PRIMARY KEY (run, number),
  kind text NOT NULL, entry_id text, code text NOT NULL, params jsonb NOT NULL
);
CREATE TABLE dirsyncd.held_changes (
  run integer REFERENCES dirsyncd.runs ON DELETE CASCADE, part integer, PRIMARY KEY (run, part),
  breaches integer[] NOT NULL, count integer NOT NULL, fingerprints text[] NOT NULL
);
CREATE TABLE dirsyncd.decisions (
  sync text, target text, fingerprint text, PRIMARY KEY (sync, target, fingerprint),
  decision text NOT NULL, run integer NOT NULL, decided_by text NOT NULL, decided_at timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE dirsyncd.paused_syncs (
  sync text PRIMARY KEY, paused_by text NOT NULL, reason text, since timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE dirsyncd.resumed_syncs (sync text PRIMARY KEY, at timestamptz NOT NULL DEFAULT now());

-- What is sent, and what came of it.

-- One narrow row for each run that applies, because each claim and each group of outcomes rewrites it.
CREATE TABLE dirsyncd.applying (
  run integer PRIMARY KEY REFERENCES dirsyncd.runs ON DELETE CASCADE,
  phase text NOT NULL, retry boolean NOT NULL, verifies text,
  cursor integer NOT NULL DEFAULT 0, pending integer NOT NULL,
  refused_in_row integer NOT NULL DEFAULT 0, outcomes jsonb NOT NULL DEFAULT '{}'
) WITH (fillfactor = 10);

CREATE TABLE dirsyncd.chunks (
  chunk bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  run integer NOT NULL REFERENCES dirsyncd.runs ON DELETE CASCADE, first integer NOT NULL, last integer NOT NULL,
  worker text NOT NULL, heartbeats integer NOT NULL DEFAULT 0, intent_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX chunks_by_run ON dirsyncd.chunks (run);

CREATE TABLE dirsyncd.journal (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  run integer NOT NULL, number integer NOT NULL, sync text NOT NULL, target text NOT NULL,
  op text NOT NULL, entry_id text NOT NULL, fingerprint text NOT NULL, before jsonb, removes integer NOT NULL,
  attempt smallint NOT NULL, worker text NOT NULL, intent_at timestamptz NOT NULL DEFAULT now(),
  outcome text NOT NULL, status smallint, requests smallint, detail text,
  settled boolean NOT NULL DEFAULT false, missed boolean NOT NULL DEFAULT false,
  approved boolean NOT NULL DEFAULT false, approved_by text
);
CREATE INDEX journal_by_time ON dirsyncd.journal (sync, intent_at);
CREATE INDEX journal_missed ON dirsyncd.journal (sync, target, entry_id) WHERE missed;

CREATE TABLE dirsyncd.quarantine (
  sync text, target text, fingerprint text, PRIMARY KEY (sync, target, fingerprint),
  op text NOT NULL, entry_id text NOT NULL, name text,
  code text NOT NULL DEFAULT 'quarantined', params jsonb NOT NULL,
  since timestamptz NOT NULL DEFAULT now(), tried_at timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE dirsyncd.verifications (
  sync text, target text, op text, in_batches boolean, PRIMARY KEY (sync, target, op, in_batches),
  verdict text NOT NULL, run integer NOT NULL, judged_at timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE dirsyncd.targets (
  target text PRIMARY KEY,
  not_before timestamptz NOT NULL, why text NOT NULL, outages integer NOT NULL DEFAULT 0
);
-- When the next request may be sent, in milliseconds of the server's clock, for each API origin and token.
CREATE TABLE dirsyncd.request_budgets (key text PRIMARY KEY, next_at double precision NOT NULL) WITH (fillfactor = 10);
CREATE TABLE dirsyncd.token_lives (
  origin text, place text, PRIMARY KEY (origin, place),
  longest_seconds double precision NOT NULL, expires_at timestamptz NOT NULL, warned_at timestamptz
);

-- What a run compares its read of the source with.

CREATE TABLE dirsyncd.last_good (
  sync text, target text, PRIMARY KEY (sync, target),
  run integer NOT NULL, source_users integer NOT NULL, source_groups integer NOT NULL, groups_with_members integer,
  nested_groups jsonb NOT NULL DEFAULT '{}', nested_strangers jsonb NOT NULL DEFAULT '{}',
  member_lists jsonb NOT NULL DEFAULT '{}', waiting_groups jsonb NOT NULL DEFAULT '[]',
  server jsonb, options jsonb NOT NULL
);
CREATE TABLE dirsyncd.baselines (
  sync text, target text, kind text, PRIMARY KEY (sync, target, kind),
  digest text NOT NULL, depth smallint NOT NULL, containers jsonb NOT NULL,
  entries bytea NOT NULL, emptied jsonb NOT NULL DEFAULT '[]'
);
CREATE TABLE dirsyncd.absences (
  sync text, target text, kind text, entry_id text, PRIMARY KEY (sync, target, kind, entry_id),
  since timestamptz NOT NULL DEFAULT now(), reads integer NOT NULL DEFAULT 1,
  counted_at timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE dirsyncd.refused_logins (
  reader text PRIMARY KEY, message text NOT NULL, salt text NOT NULL, hash text NOT NULL,
  times integer NOT NULL, secrets integer NOT NULL, at timestamptz NOT NULL
);

-- What people were told of, and what each channel has not delivered yet.

CREATE TABLE dirsyncd.conditions (
  sync text, event text, PRIMARY KEY (sync, event),
  since timestamptz NOT NULL, amount integer NOT NULL, told_at timestamptz NOT NULL, ends_at timestamptz
);
CREATE TABLE dirsyncd.notifications (
  notification bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  event text NOT NULL, sync text, run integer, subject text NOT NULL, text text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE dirsyncd.deliveries (
  notification bigint REFERENCES dirsyncd.notifications ON DELETE CASCADE,
  channel text, PRIMARY KEY (notification, channel),
  state text NOT NULL DEFAULT 'waiting', attempts integer NOT NULL DEFAULT 0,
  next_at timestamptz NOT NULL DEFAULT now(), detail text
);
CREATE INDEX deliveries_waiting ON dirsyncd.deliveries (channel, notification) WHERE state = 'waiting';
`
