import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

const STATEMENTS = [
  `CREATE TABLE dirsyncd.conditions (
    sync text NOT NULL,
    event text NOT NULL,
    since timestamptz NOT NULL,
    amount integer NOT NULL,
    told_at timestamptz NOT NULL,
    ends_at timestamptz,
    PRIMARY KEY (sync, event)
  )`,
  `CREATE TABLE dirsyncd.notifications (
    notification bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    event text NOT NULL,
    sync text,
    run integer,
    subject text NOT NULL,
    text text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
  )`,
  `CREATE TABLE dirsyncd.deliveries (
    notification bigint NOT NULL REFERENCES dirsyncd.notifications ON DELETE CASCADE,
    channel text NOT NULL,
    state text NOT NULL DEFAULT 'waiting',
    attempts integer NOT NULL DEFAULT 0,
    next_at timestamptz NOT NULL DEFAULT now(),
    detail text,
    ended_at timestamptz,
    PRIMARY KEY (notification, channel)
  )`,
  `CREATE INDEX runs_decided ON dirsyncd.runs (finished_at) WHERE decisions <> '[]'::jsonb`,
  `CREATE INDEX deliveries_waiting ON dirsyncd.deliveries (channel, notification) WHERE state = 'waiting'`,
]

/** What goes on and was told of, and what each channel has not delivered yet. */
export const notifications: Migration = {
  async up(db: Kysely<never>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
  },
}
