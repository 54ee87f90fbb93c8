import { sql } from 'kysely'
import type { KeyFacts } from '../core/block.ts'
import { type Pause, pausesOf } from './pause.ts'
import type { RunCounts, RunState, StoredBlock, Undo } from './run-types.ts'
import type { Db } from './tables.ts'
import { isSoon, type TokenPlace } from './token-watch.ts'

/** A sync as the configuration has it. */
export interface WatchedSync extends TokenPlace {
  readonly sync: string
  /** What it writes to. */
  readonly target: string
}

/** What the store knows of a sync and its directory now, for those who watch over it. */
export interface SyncFigures {
  readonly sync: string
  /** When the newest run began; plans, undos and other directories do not count here, nor below. */
  readonly lastAttempt: Date | null
  /** When both sides were last read as a whole. */
  readonly lastFullRead: Date | null
  /** When a run of the whole sync last ended as done. */
  readonly lastSuccess: Date | null
  /** When an operator last resumed the sync or decided, also about an undo. */
  readonly lastDecision: Date | null
  /** How many runs in a row have failed, and why the last of them. */
  readonly failures: number
  readonly error: string | null
  /** Of the newest run of the whole sync that had a plan. */
  readonly planned: PlannedRun | null
  /** The newest rejection that no run has taken in yet. */
  readonly newRejection: KeyFacts['rejected'] | null
  /** The newest run with a question that no operator has decided. */
  readonly asking: AskingRun | null
  readonly isPaused: boolean
  /** A run has begun and not ended. */
  readonly isUnderWay: boolean
  readonly quarantined: number
  /** While changes are applied: how many of the present phase have no outcome yet. */
  readonly pending: number
  /** For how many seconds changes have been applied. */
  readonly pendingSeconds: number
  /** Why, and until when, nothing is sent to the directory. */
  readonly pause: Pause | null
  /** How often in a row the service did not answer. */
  readonly outages: number
  readonly token: TokenLife | null
}

interface PlannedRun {
  readonly run: number
  readonly state: RunState
  readonly counts: RunCounts
  readonly blocks: readonly StoredBlock[]
}

interface AskingRun extends PlannedRun {
  readonly undo: Undo | null
  /** How many questions are open now. */
  readonly questions: number
}

interface TokenLife {
  readonly secondsLeft: number
  /** Whoever renews it would have done so by now. */
  readonly isSoon: boolean
}

/** The figures of these syncs, in their order, by one look at the store. */
export async function figuresOf(db: Db, syncs: readonly WatchedSync[]): Promise<readonly SyncFigures[]> {
  const { rows } = await select(syncs).execute(db)
  const pauses = await pausesOf(
    db,
    syncs.map(({ target }) => target),
  )
  return rows.map(({ target, tokenSeconds, tokenLongest, ...row }) => ({
    ...row,
    pause: pauses.get(target) ?? null,
    token:
      tokenSeconds === null
        ? null
        : { secondsLeft: tokenSeconds, isSoon: isSoon(tokenSeconds, tokenLongest ?? 0) },
  }))
}

/**
 * Whether the schedule has called for the sync three times, the first time at `due`, since it last succeeded or an
 * operator last decided about it or resumed it: it cannot succeed before the next run.
 */
export function isPastDue(figures: SyncFigures, due: Date | undefined): boolean {
  const success = figures.lastSuccess?.getTime() ?? 0
  return due !== undefined && success < due.getTime() && !hasTimeAgain(figures, due)
}

/** Whether an operator has decided about the sync or resumed it since `due`. */
export function hasTimeAgain({ lastDecision }: SyncFigures, due: Date): boolean {
  return lastDecision !== null && lastDecision >= due
}

/** The size of the store's database in bytes. */
export async function storeBytes(db: Db): Promise<number> {
  const size = sql`pg_database_size(current_database())`
  const { rows } = await sql<{ bytes: string }>`SELECT ${size} AS bytes`.execute(db)
  return Number(rows[0]?.bytes ?? 0)
}

interface Row extends Omit<SyncFigures, 'pause' | 'token'> {
  readonly target: string
  readonly tokenSeconds: number | null
  readonly tokenLongest: number | null
}

/** Each subquery takes the first row of an index, however many runs there are. */
function select(syncs: readonly WatchedSync[]) {
  const column = (key: keyof WatchedSync) => sql`${syncs.map((sync) => sync[key])}::text[]`
  const ofSync = sql`r.sync = w.sync AND r.target = w.target AND r.mode = 'sync' AND r.undo IS NULL`
  const newest = (what: ReturnType<typeof sql>, which: ReturnType<typeof sql>) =>
    sql`(SELECT ${what} FROM dirsyncd.runs AS r WHERE ${ofSync} AND ${which} ORDER BY r.run DESC LIMIT 1)`
  // The counter `pending` is of the current stage only.
  const withoutOutcome = sql`greatest(0, r.stored_changes - COALESCE((SELECT sum(ended::int)
    FROM dirsyncd.applying AS a, jsonb_each_text(a.outcomes) AS o (state, ended) WHERE a.run = r.run), 0))`
  const applying = sql`r.sync = w.sync AND r.finished_at IS NULL AND r.state = 'applying'`
  return sql<Row>`SELECT w.sync, w.target,
      ${newest(sql`r.started_at`, sql`r.started_at IS NOT NULL`)} AS "lastAttempt",
      ${newest(sql`r.read_at`, sql`r.read_at IS NOT NULL`)} AS "lastFullRead",
      ${newest(sql`r.finished_at`, sql`r.state = 'done' AND r.scope IS NULL`)} AS "lastSuccess",
      greatest((SELECT at FROM dirsyncd.resumed_syncs AS s WHERE s.sync = w.sync),
        (SELECT max(decided_at) FROM dirsyncd.decisions AS d WHERE d.sync = w.sync AND d.target = w.target)) AS "lastDecision",
      (SELECT count(*)::int FROM dirsyncd.runs AS r WHERE ${ofSync} AND r.state = 'failed' AND r.started_at IS NOT NULL
        AND NOT r.left_orderly AND COALESCE(r.stop_code, '') NOT IN ('sync-paused', 'rejected')
        AND r.run > COALESCE(${newest(sql`r.run`, sql`r.state IN ('done', 'held')`)}, 0)) AS failures,
      ${newest(sql`CASE WHEN r.state = 'failed' THEN r.error END`, sql`r.started_at IS NOT NULL AND r.finished_at IS NOT NULL`)} AS error,
      ${newest(
        sql`json_build_object('run', r.run, 'state', r.state, 'counts', r.counts, 'blocks', COALESCE(r.blocks, '[]'))`,
        sql`r.counts IS NOT NULL AND r.scope IS NULL`,
      )} AS planned,
      (SELECT json_build_object('run', r.run, 'state', r.state, 'counts', r.counts, 'blocks', COALESCE(r.blocks, '[]'),
          'undo', r.undo, 'questions', l.open)
        FROM dirsyncd.ledgers AS l JOIN dirsyncd.runs AS r ON r.run = l.asked_in
        WHERE l.sync = w.sync AND l.target = w.target AND l.open > 0 ORDER BY r.run DESC LIMIT 1) AS asking,
      (SELECT json_build_object('run', d.run, 'by', d.decided_by, 'at', d.decided_at, 'reason', d.reason)
        FROM dirsyncd.ledgers AS l JOIN dirsyncd.decisions AS d USING (sync, target, origin)
        WHERE l.sync = w.sync AND l.target = w.target AND l.origin = 'sync' AND d.decision > l.folded AND d.does = 'reject'
        ORDER BY d.decision DESC LIMIT 1) AS "newRejection",
      EXISTS (SELECT FROM dirsyncd.paused_syncs AS p WHERE p.sync = w.sync) AS "isPaused",
      EXISTS (SELECT FROM dirsyncd.runs AS r WHERE ${ofSync} AND r.finished_at IS NULL AND r.started_at IS NOT NULL)
        AS "isUnderWay",
      (SELECT count(*)::int FROM dirsyncd.quarantine AS q WHERE q.sync = w.sync AND q.target = w.target
        AND q.code = 'quarantine') AS quarantined,
      COALESCE((SELECT sum(${withoutOutcome}) FROM dirsyncd.runs AS r WHERE ${applying}), 0)::int AS pending,
      COALESCE((SELECT max(extract(epoch FROM now() - r.applying_at))::float8 FROM dirsyncd.runs AS r
        WHERE ${applying} AND ${withoutOutcome} > 0), 0) AS "pendingSeconds",
      COALESCE((SELECT t.outages FROM dirsyncd.targets AS t WHERE t.target = w.target), 0) AS outages,
      extract(epoch FROM l.expires_at - now())::float8 AS "tokenSeconds", l.longest_seconds AS "tokenLongest"
    FROM unnest(${column('sync')}, ${column('target')}, ${column('origin')}, ${column('place')})
      WITH ORDINALITY AS w (sync, target, origin, place, nth)
    LEFT JOIN dirsyncd.token_lives AS l ON l.origin = w.origin AND l.place = w.place
    ORDER BY w.nth`
}
