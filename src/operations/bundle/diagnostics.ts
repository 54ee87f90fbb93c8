import { type Kysely, type RawBuilder, sql } from 'kysely'
import { isAway } from '../../base/database/outage.ts'
import { DirsyncdError, type ErrorCode, sentence, systemCode } from '../../base/errors.ts'
import type { RunRecord } from '../../store/runs.ts'
import type { Tables } from '../../store/tables.ts'
import { type Redaction, redact } from './redact.ts'

export interface Missing {
  readonly part: string
  readonly code: ErrorCode
  /** Such as `ECONNREFUSED`, or of SQL. */
  readonly system?: string | undefined
  /** May name users: for the operator, and in a bundle only redacted. */
  readonly text: string
}

export function missingPart(part: string, error: unknown): Missing {
  const isOurs = error instanceof DirsyncdError
  const system = systemCode(isOurs ? error.cause : error)
  return { part, code: isOurs ? error.code : 'internal', system, text: sentence(error) }
}

export interface Diagnostics {
  readonly facts: Readonly<Record<string, unknown>>
  readonly missing: readonly Missing[]
}

/** Leaves out unreadable parts. Throws where the store is unavailable, because each read would wait for it. */
export async function diagnose(db: Kysely<Tables>, redaction: Redaction): Promise<Diagnostics> {
  const missing: Missing[] = []
  const rowsOf = async <Row>(part: string, read: () => Promise<readonly Row[]>): Promise<readonly Row[]> => {
    try {
      return await read()
    } catch (error) {
      if (isAway(error)) throw error
      missing.push(missingPart(part, error))
      return []
    }
  }
  const runs = await rowsOf('runs', () => newestRuns(db))
  const facts: Record<string, unknown> = { runs: runs.map((run) => redact(run, redaction)) }
  for (const [part, query] of Object.entries(partsOf(runs.map(({ run }) => run)))) {
    const rows = await rowsOf(part, async () => (await query.execute(db)).rows)
    facts[part] = rows.map((row) => redact(row, redaction))
  }
  return { facts, missing }
}

const RUNS = 20

async function newestRuns(db: Kysely<Tables>): Promise<readonly RunRecord[]> {
  const { rows } = await sql<RunRecord>`SELECT * FROM dirsyncd.runs WHERE run IN (SELECT run FROM (
      SELECT run, row_number() OVER (PARTITION BY sync, target ORDER BY run DESC) AS place FROM dirsyncd.runs
    ) AS r WHERE place <= ${RUNS}) ORDER BY sync, target, run DESC`.execute(db)
  return rows
}

const EXAMPLES = 3

/**
 * The parts of a bundle besides the runs, by name. `redact` shows the texts of some columns, by the name of the column.
 * A column with JSON needs a type there.
 */
function partsOf(runs: readonly number[]): Readonly<Record<string, RawBuilder<object>>> {
  return {
    store: sql`SELECT version() AS version`,
    migrations: sql`SELECT name || ' ' || left(hash, 12) AS migration FROM dirsyncd.migrations ORDER BY 1`,
    // The database estimates the rows.
    tables: sql`SELECT s.schemaname || '.' || s.relname AS "table", s.n_live_tup::float8 AS rows,
        pg_total_relation_size(s.relid)::float8 AS bytes
      FROM pg_stat_user_tables AS s WHERE s.schemaname IN ('dirsyncd', 'bullmq') ORDER BY bytes DESC, "table"`,
    leases: sql`SELECT sync, epoch::integer, renewed_at,
        split_part(owner, ':', 2) || ' on ' || split_part(owner, ':', 1) AS process
      FROM dirsyncd.leases ORDER BY sync`,
    pauses: sql`SELECT target, why, not_before, outages FROM dirsyncd.targets ORDER BY target`,
    paused: sql`SELECT sync, since FROM dirsyncd.paused_syncs ORDER BY sync`,
    tokens: sql`SELECT longest_seconds, expires_at, warned_at FROM dirsyncd.token_lives ORDER BY expires_at`,
    refusedLogins: sql`SELECT message, times, secrets, at FROM dirsyncd.refused_logins ORDER BY at`,
    states: sql`SELECT sync, target, name AS state, octet_length(bytes) AS bytes, (value ->> 'users')::integer AS users,
        (value ->> 'groups')::integer AS groups, (value ->> 'notNewerSince')::timestamptz AS not_newer_since
      FROM dirsyncd.check_states ORDER BY sync, target, name`,
    verifications: sql`SELECT sync, target, op, in_batches, verdict, run, judged_at FROM dirsyncd.verifications
      ORDER BY sync, target, op, in_batches`,
    questions: sql`SELECT sync, target, origin, open, asked_in FROM dirsyncd.ledgers ORDER BY sync, target, origin`,
    decisions: sql`SELECT sync, target, origin, run, does, keys, started, decided_at
      FROM dirsyncd.decisions ORDER BY decision DESC LIMIT 100`,
    quarantine: sql`SELECT * FROM (SELECT q.sync, q.target, q.op, q.code, j.status, (count(*) OVER of_kind)::integer AS count,
        q.entry_id, q.params, q.since, q.tried_at, (row_number() OVER (of_kind ORDER BY q.tried_at DESC))::integer AS place
      FROM dirsyncd.quarantine AS q LEFT JOIN (SELECT DISTINCT ON (sync, target, fingerprint) sync, target, fingerprint,
          status
        FROM dirsyncd.journal WHERE status IS NOT NULL AND fingerprint IN (SELECT fingerprint FROM dirsyncd.quarantine)
        ORDER BY sync, target, fingerprint, id DESC) AS j USING (sync, target, fingerprint)
      WINDOW of_kind AS (PARTITION BY q.sync, q.target, q.op, q.code, j.status)) AS newest
      WHERE place <= ${EXAMPLES} ORDER BY sync, target, op, code, status, place`,
    troubles: sql`SELECT g.*, c.entry_id, c.detail FROM (
        SELECT run, op, state, status, count(*)::integer AS count, max(attempts)::integer AS attempts,
          min(number) AS number
        FROM dirsyncd.changes WHERE run = ANY(${runs}::integer[]) AND (state = 'pending' AND attempts > 0
          OR state NOT IN ('pending', 'applied', 'found', 'already'))
        GROUP BY run, op, state, status
      ) AS g JOIN dirsyncd.changes AS c USING (run, number) ORDER BY run DESC, op, state, status`,
    notices: sql`SELECT g.*, n.entry_id, n.params FROM (
        SELECT run, kind, code, count(*)::integer AS count, min(number) AS number
        FROM dirsyncd.notices WHERE run = ANY(${runs}::integer[]) GROUP BY run, kind, code
      ) AS g JOIN dirsyncd.notices AS n USING (run, number) ORDER BY run DESC, kind, code`,
  }
}
