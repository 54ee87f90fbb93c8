import { type RawBuilder, sql } from 'kysely'
import type { Lease, Leases, LeaseTimes } from './lease.ts'
import { FIRST_BLOCKED } from './change-list.ts'
import type { Db } from './tables.ts'
import { vacuumEmbedded } from './vacuum.ts'

/** How much of the past is kept. */
export interface Retention {
  readonly timeMs: number
  /** The most rows of plans and journals, about. */
  readonly rows: number
  /** An embedded store has nobody else who frees the space of deleted rows. */
  readonly isEmbedded: boolean
}

interface PruneDeps {
  readonly db: Db
  readonly leases: Leases
  readonly retention?: Retention
  /** The configured syncs. */
  readonly syncs: readonly string[]
  /** Names this process in leases. */
  readonly owner: string
  readonly lease: LeaseTimes
}

/** An embedded store blocks the process for as long as a statement takes. */
const ROWS_PER_STATEMENT = 5000

/** Guards and evidence count the deletes of the last day, so a little more than a day is kept, whatever its size. */
const SHORTEST_MS = 25 * 60 * 60 * 1000

/** So many of the newest runs of a sync keep their notices, and so many the changes that were planned and never made. */
const RUNS_WITH_NOTICES = 20

/**
 * Removes, after a run of a sync, what no command shows any more, and then what is older than the retention. Call it
 * with the sync's lease in hand. An abort ends it between two statements, and the next call goes on.
 */
export async function prune(deps: PruneDeps, sync: string, signal?: AbortSignal): Promise<void> {
  const { db, retention } = deps
  if (retention === undefined) return
  await unlessAborted(signal, () => pruneAfter({ ...deps, retention, signal }, sync))
  if (retention.isEmbedded) await vacuumEmbedded(db)
}

interface Work extends Required<PruneDeps> {
  readonly signal: AbortSignal | undefined
}

async function unlessAborted(signal: AbortSignal | undefined, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (signal?.aborted !== true) throw error
  }
}

async function pruneAfter(work: Work, sync: string): Promise<void> {
  await trimPlans(work, sync)
  const before = await findCutoff(work)
  await removeRunsWhere(
    work,
    sql`r.sync = ${sync} AND r.finished_at <= ${before}::timestamptz AND ${isDispensable(before)}`,
  )
  await pruneAll(
    work,
    'journal',
    sql`sync = ${sync} AND intent_at <= ${before}::timestamptz AND run NOT IN (SELECT run FROM dirsyncd.chunks)`,
  )
  await pruneDecisions(work, sync, before)
  for (const removed of await removedSyncs(work)) await pruneSync(work, removed)
}

/**
 * The time up to which everything is removed: that of the retention, or a later one where the store has more rows than
 * the retention allows. As text, because a Date has no microseconds.
 */
async function findCutoff({ db, syncs, retention: { timeMs, rows } }: Work): Promise<string> {
  const beyond = (await mayHaveMore(db, rows)) ? newestBeyond(syncs, rows) : null
  const { rows: found } = await sql<{ before: string }>`SELECT least(now() - ${ms(SHORTEST_MS)}, greatest(
      now() - ${ms(timeMs)}, ${beyond}))::text AS before`.execute(db)
  return found[0]!.before
}

/** By the database's own estimate, because counting the rows takes long. */
async function mayHaveMore(db: Db, most: number): Promise<boolean> {
  const { rows } = await sql<{ rows: string }>`SELECT sum(greatest(s.n_live_tup, c.reltuples)) AS rows
    FROM pg_stat_user_tables AS s JOIN pg_class AS c ON c.oid = s.relid
    WHERE s.schemaname = 'dirsyncd' AND s.relname IN ('changes', 'notices', 'journal')`.execute(db)
  return Number(rows[0]?.rows) > most
}

/**
 * The end of the newest run that is one too many. Applied changes count twice, because the journal has them as well.
 */
function newestBeyond(syncs: readonly string[], most: number): RawBuilder<unknown> {
  return sql`(SELECT max(finished_at) FROM (
    SELECT finished_at, sum(stored_notices + stored_changes * CASE WHEN state IN ('held', 'planned') THEN 1 ELSE 2 END)
      OVER (ORDER BY finished_at DESC, run DESC) AS rows
    FROM dirsyncd.runs WHERE sync = ANY(${syncs}::text[]) AND finished_at IS NOT NULL
  ) AS counted WHERE rows > ${most})`
}

/**
 * Removes what most runs repeat: from all but the newest runs their notices, and from all but the newest ones with rows
 * of their own blocked changes and plans of which nothing was made. Those of a decision stay as long as the decision.
 */
async function trimPlans(work: Work, sync: string): Promise<void> {
  const isUnused = sql<boolean>`state IN ('held', 'planned') AND applying_at IS NULL`
  const repeats = sql`(stored_blocked > 0 OR stored_changes > 0 AND ${isUnused})`
  const newest = (which: RawBuilder<unknown>) => sql`(SELECT run FROM dirsyncd.runs
    WHERE sync = ${sync} AND ${which} ORDER BY run DESC OFFSET ${RUNS_WITH_NOTICES} LIMIT 1)`
  const hasEnded = sql`sync = ${sync} AND finished_at IS NOT NULL`
  const { rows: told } = await sql<{ run: number }>`SELECT run FROM dirsyncd.runs
    WHERE ${hasEnded} AND stored_notices > 0 AND run <= ${newest(sql`true`)} ORDER BY run`.execute(work.db)
  for (const { run } of told) {
    await pruneAll(work, 'notices', sql`run = ${run}`)
    await sql`UPDATE dirsyncd.runs SET stored_notices = 0 WHERE run = ${run}`.execute(work.db)
  }
  const { rows } = await sql<{ run: number; isUnused: boolean }>`SELECT run, ${isUnused} AS "isUnused"
    FROM dirsyncd.runs AS r WHERE ${hasEnded} AND ${repeats} AND run <= ${newest(repeats)}
      AND NOT EXISTS (SELECT FROM dirsyncd.decisions AS d JOIN dirsyncd.runs AS same ON same.run = d.run
        WHERE r.run IN (same.run, same.blocked_in))
      AND NOT EXISTS (SELECT FROM dirsyncd.runs AS same
        WHERE same.blocked_in = r.run AND same.run > ${newest(sql`true`)})
    ORDER BY run`.execute(work.db)
  for (const { run, isUnused: isPlanUnused } of rows) {
    await pruneChanges(work, sql`run = ${run}`, isPlanUnused ? 0 : FIRST_BLOCKED)
    await sql`UPDATE dirsyncd.runs SET stored_blocked = 0,
      stored_changes = CASE WHEN ${isPlanUnused} THEN 0 ELSE stored_changes END
      WHERE run = ${run}`.execute(work.db)
  }
}

/** Decisions that a run has taken in, and key sets that nothing refers to. */
async function pruneDecisions(work: Work, sync: string, before: string): Promise<void> {
  await pruneAll(
    work,
    'decisions',
    sql`sync = ${sync} AND decided_at <= ${before}::timestamptz AND decision <= COALESCE((SELECT folded
      FROM dirsyncd.ledgers AS l WHERE (l.sync, l.target, l.origin) = (decisions.sync, decisions.target, decisions.origin)), 0)`,
  )
  await pruneAll(
    work,
    'ledgers',
    sql`sync = ${sync} AND origin LIKE 'undo %' AND NOT EXISTS (SELECT FROM dirsyncd.runs AS r
      WHERE r.sync = ${sync} AND r.undo IS NOT NULL AND 'undo ' || (r.undo ->> 'run') = origin)`,
  )
  await pruneAll(
    work,
    'key_sets',
    sql`NOT EXISTS (SELECT FROM dirsyncd.ledgers WHERE key_set = digest)
      AND NOT EXISTS (SELECT FROM dirsyncd.shown_keys WHERE key_set = digest)`,
  )
}

const RUNS_PER_STATEMENT = 100

/** @param where a condition on `r` */
async function removeRunsWhere(work: Work, where: RawBuilder<unknown>): Promise<void> {
  for (;;) {
    const { rows } = await sql<{ run: number }>`SELECT r.run FROM dirsyncd.runs AS r
      WHERE ${where} LIMIT ${RUNS_PER_STATEMENT}`.execute(work.db)
    if (rows.length === 0) return
    const ofRuns = sql`run = ANY(${rows.map(({ run }) => run)}::integer[])`
    await pruneChanges(work, ofRuns, 0)
    await pruneAll(work, 'notices', ofRuns)
    await pruneAll(work, 'runs', ofRuns)
  }
}

/**
 * Whether nothing needs a run: it is not the newest one, nor the last complete one, nor the newest one that asked; it has
 * no chunk, no later run shows what it blocked, and each decision about it is in the ledger.
 */
function isDispensable(before: string): RawBuilder<boolean> {
  return sql`r.run < (SELECT max(run) FROM dirsyncd.runs AS newest WHERE newest.sync = r.sync)
    AND NOT EXISTS (SELECT FROM dirsyncd.check_states AS states WHERE states.sync = r.sync
      AND states.name = 'configuration' AND (states.value ->> 'run')::integer = r.run)
    AND NOT EXISTS (SELECT FROM dirsyncd.ledgers AS l WHERE l.asked_in = r.run AND l.open > 0)
    AND NOT EXISTS (SELECT FROM dirsyncd.decisions AS d JOIN dirsyncd.ledgers AS l USING (sync, target, origin)
      WHERE d.run = r.run AND d.decision > l.folded)
    AND NOT EXISTS (SELECT FROM dirsyncd.chunks AS open WHERE open.run = r.run)
    AND NOT EXISTS (SELECT FROM dirsyncd.runs AS same
      WHERE same.blocked_in = r.run AND same.run <> r.run AND same.finished_at > ${before}::timestamptz)`
}

const OF_SYNC = [
  'journal',
  'quarantine',
  'decisions',
  'ledgers',
  'check_states',
  'verifications',
  'paused_syncs',
  'resumed_syncs',
] as const

type Prunable =
  | (typeof OF_SYNC)[number]
  | 'leases'
  | 'runs'
  | 'changes'
  | 'change_texts'
  | 'notices'
  | 'key_sets'

/** @param from the number of the first change */
async function pruneChanges(work: Work, ofRuns: RawBuilder<unknown>, from: number): Promise<void> {
  await pruneAll(work, 'changes', sql`${ofRuns} AND number >= ${from}`)
  await pruneAll(work, 'change_texts', sql`${ofRuns} AND first >= ${from}`)
}

/** Deletes these rows, some in each statement. */
async function pruneAll(
  { db, retention: { isEmbedded }, signal }: Work,
  table: Prunable,
  where: RawBuilder<unknown>,
): Promise<void> {
  const from = sql.table(`dirsyncd.${table}`)
  for (;;) {
    signal?.throwIfAborted()
    const { numAffectedRows } = await sql`DELETE FROM ${from} WHERE ctid = ANY(ARRAY(
      SELECT ctid FROM ${from} WHERE ${where} LIMIT ${ROWS_PER_STATEMENT}))`.execute(db)
    if (Number(numAffectedRows) < ROWS_PER_STATEMENT) return
    if (isEmbedded) await vacuumEmbedded(db)
  }
}

/**
 * The syncs that this configuration does not have, and whose last run is older than the retention. Another daemon on
 * the same store may have them.
 */
async function removedSyncs({ db, syncs, retention: { timeMs } }: Work): Promise<readonly string[]> {
  const { rows } = await sql<{ sync: string }>`SELECT sync FROM dirsyncd.leases AS l
    WHERE sync <> ALL(${syncs}::text[]) AND (renewed_at IS NULL OR renewed_at < now() - ${ms(timeMs)})
      AND ${isForgotten(sql`l.sync`, timeMs)}`.execute(db)
  return rows.map((row) => row.sync)
}

function isForgotten(sync: RawBuilder<unknown>, timeMs: number): RawBuilder<boolean> {
  return sql`COALESCE((SELECT COALESCE(finished_at, requested_at) < now() - ${ms(timeMs)}
      FROM dirsyncd.runs AS last WHERE last.sync = ${sync} ORDER BY run DESC LIMIT 1), true)
    AND NOT EXISTS (SELECT FROM dirsyncd.chunks AS open JOIN dirsyncd.runs AS r ON r.run = open.run
      WHERE r.sync = ${sync})`
}

/**
 * Removes a sync while its lease is held, so that nobody runs it meanwhile. The row of the lease goes last, so that the
 * next call goes on after an interruption.
 */
async function pruneSync(work: Work, sync: string): Promise<void> {
  const { db, leases, owner, retention } = work
  await using lease = await leases.take(sync, owner, work.lease)
  if (lease === undefined || !(await isStillForgotten(db, lease, retention.timeMs))) return
  const signal = AbortSignal.any([lease.signal, ...(work.signal === undefined ? [] : [work.signal])])
  await unlessAborted(signal, () => removeSync({ ...work, signal }, sync))
}

async function removeSync(work: Work, sync: string): Promise<void> {
  // Somebody may ask for a run at any time.
  await removeRunsWhere(work, sql`r.sync = ${sync} AND r.requested_at < now() - ${ms(work.retention.timeMs)}`)
  for (const table of OF_SYNC) await pruneAll(work, table, sql`sync = ${sync}`)
  await pruneAll(
    work,
    'leases',
    sql`sync = ${sync} AND NOT EXISTS (SELECT FROM dirsyncd.runs WHERE runs.sync = ${sync})`,
  )
}

async function isStillForgotten(db: Db, { sync }: Lease, timeMs: number): Promise<boolean> {
  const still = isForgotten(sql`${sync}::text`, timeMs)
  const { rows } = await sql<{ is: boolean }>`SELECT ${still} AS is`.execute(db)
  return rows[0]?.is === true
}

function ms(timeMs: number): RawBuilder<unknown> {
  return sql`make_interval(secs => ${timeMs / 1000})`
}
