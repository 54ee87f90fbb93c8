/** What the columns hold that are not explained here: `tables.ts`. */
export const initial = `
-- Who runs a sync. A free lease keeps its row, so that an epoch is never used twice.
CREATE TABLE dirsyncd.leases (sync text PRIMARY KEY, epoch bigint NOT NULL, owner text, renewed_at timestamptz);
CREATE TABLE dirsyncd.settings (name text PRIMARY KEY, value text NOT NULL);

-- Runs, their plans, and what operators decide about them.

CREATE TABLE dirsyncd.runs (
  run integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  sync text NOT NULL, target text NOT NULL, mode text NOT NULL, trigger text NOT NULL,
  scope jsonb, undo jsonb,
  state text NOT NULL, epoch integer,
  look_first text[] NOT NULL DEFAULT '{}',
  counts jsonb, evidence jsonb, digest text, configuration_change jsonb,
  blocks jsonb, blocked_in integer, blocked_digest text,
  error text, error_code text, stop_code text, stop_reason text,
  interruptions smallint NOT NULL DEFAULT 0, left_orderly boolean NOT NULL DEFAULT false, begin_after timestamptz,
  stored_changes integer NOT NULL DEFAULT 0, stored_blocked integer NOT NULL DEFAULT 0,
  stored_notices integer NOT NULL DEFAULT 0,
  requested_at timestamptz NOT NULL DEFAULT now(), started_at timestamptz, read_at timestamptz,
  applying_at timestamptz, finished_at timestamptz
);
CREATE UNIQUE INDEX runs_one_active ON dirsyncd.runs (sync)
  WHERE finished_at IS NULL AND state <> 'waiting' AND mode = 'sync';
CREATE INDEX runs_by_sync ON dirsyncd.runs (sync, run DESC);
CREATE INDEX runs_unfinished ON dirsyncd.runs (sync, run) WHERE finished_at IS NULL;
CREATE INDEX runs_by_end ON dirsyncd.runs (sync, finished_at);
CREATE INDEX runs_by_blocked ON dirsyncd.runs (blocked_in);
CREATE INDEX runs_to_trim ON dirsyncd.runs (sync, run) WHERE stored_notices > 0 OR stored_blocked > 0
  OR stored_changes > 0 AND state IN ('held', 'planned');

-- No foreign key: a change is written in a transaction that has locked its run, and the retention removes changes before
-- their run. The room in each page takes what a claim writes. Both save time with a plan of a million changes.
CREATE TABLE dirsyncd.changes (
  run integer, number integer, PRIMARY KEY (run, number),
  phase text NOT NULL, op text NOT NULL, entry_id text NOT NULL,
  fingerprint text NOT NULL, change jsonb NOT NULL, removes integer NOT NULL,
  takes_away boolean NOT NULL DEFAULT false,
  state text NOT NULL DEFAULT 'pending', retry boolean NOT NULL DEFAULT false,
  attempts smallint NOT NULL DEFAULT 0, refusals smallint NOT NULL DEFAULT 0,
  unsure boolean NOT NULL DEFAULT false, chunk bigint, next_at timestamptz,
  detail text, status smallint, was_there boolean NOT NULL DEFAULT false,
  approved_by text,
  reasons jsonb, verifies boolean NOT NULL DEFAULT false
) WITH (fillfactor = 50);
CREATE INDEX changes_pending ON dirsyncd.changes (run, phase, retry, number) WHERE state = 'pending';
CREATE INDEX changes_others ON dirsyncd.changes (run, number) WHERE state NOT IN ('pending', 'applied');
CREATE INDEX changes_that_decide ON dirsyncd.changes (run, op, entry_id)
  WHERE (op = 'update-group' OR was_there OR state IN ('quarantined', 'failed'));
CREATE INDEX changes_of_emails ON dirsyncd.changes (run, entry_id) WHERE phase IN ('free-emails', 'take-emails');

-- What is searched in the changes from first to last; see change-texts.ts.
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
-- What operators were asked, and what they decided. A key set is packed, and equal ones are stored once.
CREATE TABLE dirsyncd.key_sets (digest text PRIMARY KEY, packed bytea NOT NULL);
-- Up to which decision they are folded in, how many questions no operator has decided, and the newest run that asked.
CREATE TABLE dirsyncd.ledgers (
  sync text, target text, origin text, PRIMARY KEY (sync, target, origin),
  folded bigint NOT NULL DEFAULT 0, key_set text REFERENCES dirsyncd.key_sets,
  open integer NOT NULL DEFAULT 0, asked_in integer
);
CREATE TABLE dirsyncd.decisions (
  decision bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  sync text NOT NULL, target text NOT NULL, origin text NOT NULL, run integer NOT NULL,
  does text NOT NULL, selection jsonb NOT NULL, keys integer NOT NULL, started integer,
  decided_by text NOT NULL, reason text NOT NULL, decided_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX decisions_by_origin ON dirsyncd.decisions (sync, target, origin, decision);
CREATE INDEX decisions_by_run ON dirsyncd.decisions (run);
CREATE TABLE dirsyncd.shown_keys (
  run integer PRIMARY KEY REFERENCES dirsyncd.runs ON DELETE CASCADE,
  key_set text NOT NULL REFERENCES dirsyncd.key_sets
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
  refused_in_row integer NOT NULL DEFAULT 0, outcomes jsonb NOT NULL DEFAULT '{}', removes_until timestamptz NOT NULL
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
  -- A later run saw it in the directory, or it was put into quarantine: it counts no more for convergence.
  settled boolean NOT NULL DEFAULT false,
  -- A create whose entry the next run did not see in the directory.
  missed boolean NOT NULL DEFAULT false,
  approved_by text
);
CREATE INDEX journal_by_time ON dirsyncd.journal (sync, intent_at);
CREATE INDEX journal_missed ON dirsyncd.journal (sync, target, entry_id) WHERE missed;

CREATE TABLE dirsyncd.quarantine (
  sync text, target text, fingerprint text, PRIMARY KEY (sync, target, fingerprint),
  op text NOT NULL, entry_id text NOT NULL, name text,
  code text NOT NULL DEFAULT 'quarantine', params jsonb NOT NULL,
  since timestamptz NOT NULL DEFAULT now(), tried_at timestamptz NOT NULL DEFAULT now()
);
-- What came of reading back the first changes of an operation; in batches: several went out in one request.
CREATE TABLE dirsyncd.verifications (
  sync text, target text, op text, in_batches boolean, PRIMARY KEY (sync, target, op, in_batches),
  verdict text NOT NULL, run integer NOT NULL, judged_at timestamptz NOT NULL DEFAULT now()
);
-- No request of a change is sent before this time, because the service asked for it with 429 ('limited') or does not
-- answer ('outage'). Outages are counted since its last answer.
CREATE TABLE dirsyncd.targets (
  target text PRIMARY KEY,
  not_before timestamptz NOT NULL, why text NOT NULL, outages integer NOT NULL DEFAULT 0
);
-- When the next request may be sent, in milliseconds of the server's clock, for each API origin and token.
CREATE TABLE dirsyncd.request_budgets (key text PRIMARY KEY, next_at double precision NOT NULL) WITH (fillfactor = 10);
-- The longest remaining life that a service ever reported for the access token of a place.
CREATE TABLE dirsyncd.token_lives (
  origin text, place text, PRIMARY KEY (origin, place),
  longest_seconds double precision NOT NULL, expires_at timestamptz NOT NULL, warned_at timestamptz
);

-- What a run compares its reads with.

-- One row for each check. Hashes of options are of all targets of a sync.
CREATE TABLE dirsyncd.check_states (
  sync text, target text, name text, PRIMARY KEY (sync, target, name),
  value jsonb NOT NULL, bytes bytea
);
CREATE TABLE dirsyncd.refused_logins (
  reader text PRIMARY KEY, message text NOT NULL, salt text NOT NULL, hash text NOT NULL,
  times integer NOT NULL, secrets integer NOT NULL, at timestamptz NOT NULL
);

-- What was notified, and what each channel has not delivered yet.

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
