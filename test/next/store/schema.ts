/** Takes the place of held_changes, decisions, last_good, baselines and absences. */
export const NEXT_SCHEMA = `
-- What a run compares its reads with: one row for each check. Hashes of options are of all targets of a sync.
CREATE TABLE dirsyncd.check_states (
  sync text, target text, name text, PRIMARY KEY (sync, target, name),
  value jsonb NOT NULL, bytes bytea
);

-- What operators were asked, and what they decided. A key set is packed, and equal ones are stored once.
CREATE TABLE dirsyncd.key_sets (digest text PRIMARY KEY, packed bytea NOT NULL);
CREATE TABLE dirsyncd.ledgers (
  sync text, target text, origin text, PRIMARY KEY (sync, target, origin),
  -- The decisions up to this one are in it.
  folded bigint NOT NULL, key_set text NOT NULL REFERENCES dirsyncd.key_sets
);
CREATE TABLE dirsyncd.key_decisions (
  decision bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  sync text NOT NULL, target text NOT NULL, origin text NOT NULL, run integer NOT NULL,
  does text NOT NULL, selection jsonb NOT NULL, keys integer NOT NULL,
  decided_by text NOT NULL, reason text NOT NULL, decided_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX key_decisions_by_origin ON dirsyncd.key_decisions (sync, target, origin, decision);
CREATE TABLE dirsyncd.shown_keys (
  run integer PRIMARY KEY REFERENCES dirsyncd.runs ON DELETE CASCADE,
  key_set text NOT NULL REFERENCES dirsyncd.key_sets
);
`
