import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { Kind } from '../core/entries/entry.ts'
import type { NoticeCode } from '../core/notice.ts'
import type { Op } from '../core/plan/change.ts'
import type { ServerMemory } from '../core/plan/server.ts'
import type { ChangeState, SyncTarget } from './run-types.ts'
import type { RunRecord } from './runs.ts'
import type { Tables } from './tables.ts'

type Db = Kysely<Tables>

export async function storeVersion(db: Db): Promise<{ server: string; migrations: readonly string[] }> {
  const { rows: versions } = await sql<{ version: string }>`SELECT version()`.execute(db)
  const { rows } = await sql<{ name: string }>`SELECT name || ' ' || left(hash, 12) AS name
    FROM dirsyncd.migrations ORDER BY 1`.execute(db)
  return { server: versions[0]?.version ?? '', migrations: rows.map(({ name }) => name) }
}

export interface TableSize {
  readonly table: string
  /** Of a large table as the database estimates them. */
  readonly rows: number
  /** With its indexes. */
  readonly bytes: number
}

/** Counting the rows of a larger table takes long. */
const COUNTED_BYTES = 16 * 1024 ** 2

/** Of the tables that are not empty, the largest first. */
export async function tableSizes(db: Db): Promise<readonly TableSize[]> {
  const { rows: tables } = await sql<
    TableSize & { schema: string; name: string }
  >`SELECT s.schemaname AS schema,
      s.relname AS name, s.schemaname || '.' || s.relname AS table, greatest(s.n_live_tup, c.reltuples)::float8 AS rows,
      pg_total_relation_size(s.relid)::float8 AS bytes
    FROM pg_stat_user_tables AS s JOIN pg_class AS c ON c.oid = s.relid
    WHERE s.schemaname IN ('dirsyncd', 'bullmq') ORDER BY bytes DESC, "table"`.execute(db)
  const sizes: TableSize[] = []
  for (const { schema, name, table, rows, bytes } of tables) {
    const counted = bytes > COUNTED_BYTES ? rows : await countRows(db, schema, name)
    if (counted > 0) sizes.push({ table, rows: counted, bytes })
  }
  return sizes
}

async function countRows(db: Db, schema: string, name: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`SELECT count(*)::integer AS count
    FROM ${sql.id(schema, name)}`.execute(db)
  return rows[0]?.count ?? 0
}

/** Every sync and target that the store knows of. */
export async function knownSyncs(db: Db): Promise<readonly SyncTarget[]> {
  const { rows } = await sql<SyncTarget>`SELECT sync, target FROM dirsyncd.runs
    UNION SELECT sync, target FROM dirsyncd.last_good ORDER BY sync, target`.execute(db)
  return rows
}

/** The newest first. */
export function newestRuns(
  db: Db,
  { sync, target }: SyncTarget,
  limit: number,
): Promise<readonly RunRecord[]> {
  return db
    .selectFrom('dirsyncd.runs')
    .selectAll()
    .where('sync', '=', sync)
    .where('target', '=', target)
    .orderBy('run', 'desc')
    .limit(limit)
    .execute()
}

export interface Trouble {
  readonly run: number
  readonly op: Op
  readonly state: ChangeState
  readonly status: number | null
  readonly count: number
  readonly attempts: number
  /** The first of these changes. */
  readonly number: number
  readonly id: string
  readonly detail: string | null
}

/** The changes of these runs that did not come to a good end, by what came of them. */
export async function troublesOf(db: Db, runs: readonly number[]): Promise<readonly Trouble[]> {
  const { rows } = await sql<Trouble>`SELECT g.*, c.entry_id AS id, c.detail FROM (
      SELECT run, op, state, status, count(*)::integer AS count, max(attempts)::integer AS attempts, min(number) AS number
      FROM dirsyncd.changes WHERE run = ANY(${runs}::integer[]) AND (state NOT IN ('pending', 'applied', 'found', 'already')
        OR state = 'pending' AND attempts > 0)
      GROUP BY run, op, state, status
    ) AS g JOIN dirsyncd.changes AS c USING (run, number) ORDER BY run, op, state, status`.execute(db)
  return rows
}

export interface NoticeCount {
  readonly run: number
  readonly kind: Kind
  readonly code: NoticeCode
  readonly count: number
  /** The first of these notices. */
  readonly number: number
  readonly params: object
}

/** The notices of these runs by their codes, each with the parameters of the first one. */
export async function noticeCounts(db: Db, runs: readonly number[]): Promise<readonly NoticeCount[]> {
  const { rows } = await sql<NoticeCount>`SELECT g.*, n.params FROM (
      SELECT run, kind, code, count(*)::integer AS count, min(number) AS number
      FROM dirsyncd.notices WHERE run = ANY(${runs}::integer[]) GROUP BY run, kind, code
    ) AS g JOIN dirsyncd.notices AS n USING (run, number) ORDER BY run, kind, code`.execute(db)
  return rows
}

export interface LastGoodFacts {
  readonly run: number
  readonly sourceUsers: number
  readonly sourceGroups: number
  readonly groupsWithMembers: number | null
  readonly waitingGroups: number
  readonly nestedGroups: number
  readonly server: ServerMemory | null
}

export async function lastGoodFacts(
  db: Db,
  { sync, target }: SyncTarget,
): Promise<LastGoodFacts | undefined> {
  const { rows } =
    await sql<LastGoodFacts>`SELECT run, source_users AS "sourceUsers", source_groups AS "sourceGroups",
      groups_with_members AS "groupsWithMembers", jsonb_array_length(waiting_groups) AS "waitingGroups",
      (SELECT count(*)::integer FROM jsonb_object_keys(nested_groups)) AS "nestedGroups", server
    FROM dirsyncd.last_good WHERE sync = ${sync} AND target = ${target}`.execute(db)
  return rows[0]
}

export interface AbsenceCount {
  readonly kind: Kind
  readonly count: number
  readonly oldest: Date
  readonly mostReads: number
}

export async function absenceCounts(db: Db, { sync, target }: SyncTarget): Promise<readonly AbsenceCount[]> {
  const { rows } = await sql<AbsenceCount>`SELECT kind, count(*)::integer AS count, min(since) AS oldest,
      max(reads)::integer AS "mostReads"
    FROM dirsyncd.absences WHERE sync = ${sync} AND target = ${target} GROUP BY kind ORDER BY kind`.execute(
    db,
  )
  return rows
}

export interface QuarantineFacts {
  readonly op: Op
  readonly code: 'quarantined' | 'does-not-converge'
  /** The HTTP status of its last attempt. */
  readonly status: number | null
  readonly id: string
  readonly params: object
  readonly since: Date
  readonly tried: Date
}

/** All that is in quarantine, the newest first. */
export async function quarantineFacts(
  db: Db,
  { sync, target }: SyncTarget,
): Promise<readonly QuarantineFacts[]> {
  const { rows } =
    await sql<QuarantineFacts>`SELECT q.op, q.code, j.status, q.entry_id AS id, q.params, q.since,
      q.tried_at AS tried
    FROM dirsyncd.quarantine AS q LEFT JOIN (SELECT DISTINCT ON (fingerprint) fingerprint, status FROM dirsyncd.journal
      WHERE sync = ${sync} AND target = ${target} AND status IS NOT NULL AND fingerprint IN (SELECT fingerprint
        FROM dirsyncd.quarantine WHERE sync = ${sync} AND target = ${target})
      ORDER BY fingerprint, id DESC) AS j ON j.fingerprint = q.fingerprint
    WHERE q.sync = ${sync} AND q.target = ${target} ORDER BY q.tried_at DESC, q.fingerprint`.execute(db)
  return rows
}

export interface CanaryFacts {
  readonly op: Op
  readonly inLists: boolean
  readonly verdict: string
  readonly run: number
  readonly judged: Date
}

export async function canaryFacts(db: Db, { sync, target }: SyncTarget): Promise<readonly CanaryFacts[]> {
  const { rows } = await sql<CanaryFacts>`SELECT op, in_lists AS "inLists", verdict, run, judged_at AS judged
    FROM dirsyncd.canaries WHERE sync = ${sync} AND target = ${target} ORDER BY op, in_lists`.execute(db)
  return rows
}

export interface DecisionCount {
  readonly run: number
  readonly decision: string
  readonly count: number
  readonly at: Date
}

export async function decisionCounts(
  db: Db,
  { sync, target }: SyncTarget,
): Promise<readonly DecisionCount[]> {
  const { rows } =
    await sql<DecisionCount>`SELECT run, decision, count(*)::integer AS count, max(decided_at) AS at
    FROM dirsyncd.decisions WHERE sync = ${sync} AND target = ${target} GROUP BY run, decision ORDER BY run DESC`.execute(
      db,
    )
  return rows
}

export interface LeaseFacts {
  readonly sync: string
  readonly epoch: number
  readonly owner: string | null
  readonly renewed: string | null
}

export async function leaseFacts(db: Db): Promise<readonly LeaseFacts[]> {
  const { rows } = await sql<LeaseFacts>`SELECT sync, epoch::integer, owner, renewed_at::text AS renewed
    FROM dirsyncd.leases ORDER BY sync`.execute(db)
  return rows
}

export interface PauseFacts {
  readonly target: string
  readonly why: string
  readonly until: Date
  readonly outages: number
}

/** The last pause of every target, also where it is over. */
export async function pauseFacts(db: Db): Promise<readonly PauseFacts[]> {
  const { rows } =
    await sql<PauseFacts>`SELECT target, why, not_before AS until, outages FROM dirsyncd.targets
    ORDER BY target`.execute(db)
  return rows
}

export interface TokenFacts {
  readonly longestSeconds: number
  readonly expires: Date
  readonly warned: Date | null
}

/** Without what could lead back to the token. */
export async function tokenFacts(db: Db): Promise<readonly TokenFacts[]> {
  const { rows } = await sql<TokenFacts>`SELECT longest_seconds AS "longestSeconds", expires_at AS expires,
      warned_at AS warned FROM dirsyncd.token_lives ORDER BY expires_at`.execute(db)
  return rows
}

export interface RefusedLoginFacts {
  readonly message: string
  readonly times: number
  readonly secrets: number
  readonly at: Date
}

export async function refusedLoginFacts(db: Db): Promise<readonly RefusedLoginFacts[]> {
  const { rows } =
    await sql<RefusedLoginFacts>`SELECT message, times, secrets, at FROM dirsyncd.refused_logins
    ORDER BY at`.execute(db)
  return rows
}

/** A text of the store that names somebody. */
export interface NamingText {
  readonly kind: Kind
  readonly id: string
  readonly texts: readonly (string | null)[]
}

/** An embedded store blocks the process for each statement. */
const ROWS_PER_STATEMENT = 2000

const KIND_OF_OP = sql`CASE WHEN op LIKE '%-user' THEN 'user' ELSE 'group' END`

/** Ids with names and e-mails of all changes of these runs, and ids of what else the store keeps of entries. */
export async function* namingTexts(db: Db, runs: readonly number[]): AsyncGenerator<readonly NamingText[]> {
  for (const run of runs) {
    for await (const range of rangesOf(db, 'changes', run)) {
      const { rows } = await sql<NamingText>`SELECT ${KIND_OF_OP} AS kind, entry_id AS id, ARRAY[
          change->'want'->>'name', change->'want'->>'email', change->'want'->>'employeeId', change->'have'->>'name',
          change->'have'->>'email', change->>'name'] AS texts
        FROM dirsyncd.changes WHERE run = ${run} AND ${range}`.execute(db)
      yield rows
    }
    for await (const range of rangesOf(db, 'notices', run)) {
      const { rows } = await sql<NamingText>`SELECT kind, entry_id AS id, '{}'::text[] AS texts
        FROM dirsyncd.notices WHERE run = ${run} AND ${range} AND entry_id IS NOT NULL`.execute(db)
      yield rows
    }
  }
  const others =
    await sql<NamingText>`SELECT kind, entry_id AS id, '{}'::text[] AS texts FROM dirsyncd.absences
    UNION SELECT ${KIND_OF_OP}, entry_id, '{}'::text[] FROM dirsyncd.quarantine`.execute(db)
  yield others.rows
}

/** Conditions that together cover all numbers of a run; the few notices of workers have negative ones. */
async function* rangesOf(
  db: Db,
  table: 'changes' | 'notices',
  run: number,
): AsyncGenerator<RawBuilder<boolean>> {
  yield sql<boolean>`number <= 0`
  const { rows } = await sql<{ last: number | null }>`SELECT max(number) AS last
    FROM ${sql.table(`dirsyncd.${table}`)} WHERE run = ${run}`.execute(db)
  for (let after = 0; after < (rows[0]?.last ?? 0); after += ROWS_PER_STATEMENT)
    yield sql<boolean>`number > ${after} AND number <= ${after + ROWS_PER_STATEMENT}`
}
