import { type Kysely, sql } from 'kysely'
import type { Kind } from '../directory/entry.ts'
import type { Change, Op } from '../plan/change.ts'
import { GUARDED, type Guarded } from '../plan/guards.ts'
import type { ChangeState } from './run-types.ts'
import { storable } from './storable.ts'
import type { Tables } from './tables.ts'

type Db = Kysely<Tables>

/** One try at one change, between its journaled intent and its journaled outcome. */
export interface Attempt {
  readonly journalId: string
  readonly run: number
  readonly number: number
  readonly sync: string
  readonly target: string
  readonly change: Change
  readonly fingerprint: string
  /** From 1. */
  readonly attempt: number
  readonly tail: boolean
  /** Look with GET before sending: an earlier intent has no outcome, or the directory moved while it was read. */
  readonly check: boolean
  /** Whether an earlier intent has no outcome. */
  readonly wasUnsure: boolean
  /** How many changes of the run had been refused with 403 when the attempt began. */
  readonly refusedBefore: number
}

/**
 * Loads a change and journals the intent to apply it, in one statement. Gives nothing when there is nothing to do: the
 * change has its final state, its run is not the current one or nobody works on it any more (fencing), or the run had
 * too many refusals in a row. `leaseMs` is the age from which on a lease belongs to nobody.
 */
export async function beginAttempt(
  db: Db,
  job: { run: number; number: number; epoch: number; refusedInRowBelow: number | null; leaseMs: number },
  worker: string,
): Promise<Attempt | undefined> {
  const { rows } = await sql<AttemptRow>`
    WITH claimed AS (
      UPDATE dirsyncd.changes AS c
      SET attempts = c.attempts + 1, unsure = true, intent_at = now()
      FROM dirsyncd.changes AS before, dirsyncd.runs AS r, dirsyncd.leases AS l
      WHERE c.run = ${job.run} AND c.number = ${job.number} AND c.state = 'pending'
        AND before.run = c.run AND before.number = c.number
        AND r.run = c.run AND r.state = 'applying' AND r.epoch = ${job.epoch} AND r.stop_code IS NULL
        AND (${job.refusedInRowBelow}::integer IS NULL OR r.refused - r.refused_before_success < ${job.refusedInRowBelow})
        AND l.sync = r.sync AND l.epoch = r.epoch
        AND l.renewed_at > clock_timestamp() - make_interval(secs => ${job.leaseMs / 1000})
      RETURNING c.change, c.op, c.entry_id, c.fingerprint, c.removes, c.attempts, c.tail,
        before.unsure AS was_unsure, r.sync, r.target, r.directory_moved, r.refused
    ), noted AS (
      INSERT INTO dirsyncd.journal (run, number, sync, target, op, entry_id, fingerprint, attempt, worker, before, removes)
      SELECT ${job.run}, ${job.number}, sync, target, op, entry_id, fingerprint, attempts, ${worker}, change -> 'have', removes
      FROM claimed
      RETURNING id
    )
    SELECT claimed.*, noted.id FROM claimed, noted`.execute(db)
  const row = rows[0]
  if (row === undefined) return undefined
  return {
    journalId: row.id,
    run: job.run,
    number: job.number,
    sync: row.sync,
    target: row.target,
    change: row.change,
    fingerprint: row.fingerprint,
    attempt: row.attempts,
    tail: row.tail,
    check: row.was_unsure || row.directory_moved,
    wasUnsure: row.was_unsure,
    refusedBefore: row.refused,
  }
}

interface AttemptRow {
  id: string
  change: Change
  fingerprint: string
  attempts: number
  tail: boolean
  was_unsure: boolean
  refused: number
  sync: string
  target: string
  directory_moved: boolean
}

/** What the API said, for the journal. */
export interface Answer {
  readonly status?: number | undefined
  readonly requests?: number | undefined
  /** One sentence without personal data beyond the entry's own. */
  readonly detail?: string | undefined
}

/** The detail as the store can keep it. */
export function detailOf({ detail }: Answer): string | null {
  return detail === undefined ? null : storable(detail)
}

/** Journals the outcome of an attempt that gave the change its final state. A success ends a row of refusals. */
export async function endAttempt(
  db: Db,
  attempt: Attempt,
  state: Exclude<ChangeState, 'pending' | 'dropped'>,
  answer: Answer,
): Promise<void> {
  await sql`
    WITH done AS (
      UPDATE dirsyncd.changes
      SET state = ${state}, unsure = false, intent_at = NULL, detail = ${detailOf(answer)}
      WHERE run = ${attempt.run} AND number = ${attempt.number}
    ), accepted AS (
      UPDATE dirsyncd.runs SET refused_before_success = ${attempt.refusedBefore}, probes = 0
      WHERE run = ${attempt.run} AND refused_before_success < ${attempt.refusedBefore} AND ${state === 'applied'}
    )
    UPDATE dirsyncd.journal
    SET ended_at = now(), outcome = ${state}, status = ${answer.status ?? null}, requests = ${answer.requests ?? null},
      detail = ${detailOf(answer)}
    WHERE id = ${attempt.journalId}`.execute(db)
}

/**
 * Journals an attempt that failed and may be made again. `unsure` tells whether the API may have done it all the same,
 * `tail` leaves the change to the end of the run, and an attempt that is not `counted` burns none of the change's tries.
 */
export async function failAttempt(
  db: Db,
  attempt: Attempt,
  next: { unsure: boolean; tail: boolean; counted: boolean },
  answer: Answer,
): Promise<void> {
  await sql`
    WITH failed AS (
      UPDATE dirsyncd.changes
      SET unsure = ${next.unsure}, intent_at = NULL, tail = tail OR ${next.tail},
        attempts = attempts - ${next.counted ? 0 : 1}, detail = ${detailOf(answer)}
      WHERE run = ${attempt.run} AND number = ${attempt.number} AND state = 'pending'
    )
    UPDATE dirsyncd.journal
    SET ended_at = now(), outcome = 'retry', status = ${answer.status ?? null}, requests = ${answer.requests ?? null},
      detail = ${detailOf(answer)}
    WHERE id = ${attempt.journalId}`.execute(db)
}

/** What came of the last attempt of the run that failed and may be made again. */
export async function lastFailure(db: Db, run: number): Promise<string | undefined> {
  const row = await db
    .selectFrom('dirsyncd.journal')
    .select('detail')
    .where('run', '=', run)
    .where('outcome', '=', 'retry')
    .where('detail', 'is not', null)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.detail ?? undefined
}

/** Takes back an attempt in which nothing was sent, or nothing was accepted: it counts for nothing. */
export async function undoAttempt(db: Db, attempt: Attempt): Promise<void> {
  await sql`
    WITH returned AS (
      UPDATE dirsyncd.changes
      SET attempts = attempts - 1, unsure = ${attempt.wasUnsure}, intent_at = NULL
      WHERE run = ${attempt.run} AND number = ${attempt.number} AND state = 'pending'
    )
    DELETE FROM dirsyncd.journal WHERE id = ${attempt.journalId}`.execute(db)
}

/** The run of the sync that may send changes now, if there is one. */
export async function currentRun(db: Db, sync: string): Promise<number | undefined> {
  const { rows } = await sql<{ run: number }>`
    SELECT r.run FROM dirsyncd.runs r JOIN dirsyncd.leases l ON l.sync = r.sync AND l.epoch = r.epoch
    WHERE r.sync = ${sync} AND r.state = 'applying'
    ORDER BY r.run DESC LIMIT 1`.execute(db)
  return rows[0]?.run
}

/** Whether an attempt of an ended run was never journaled to its end: its request may still be under way. */
export async function hasOpenIntents(db: Db, sync: string): Promise<boolean> {
  const { rows } = await sql`
    SELECT 1 FROM dirsyncd.changes c JOIN dirsyncd.runs r ON r.run = c.run
    WHERE c.intent_at IS NOT NULL AND r.sync = ${sync} LIMIT 1`.execute(db)
  return rows.length > 0
}

export async function closeIntents(db: Db, sync: string): Promise<void> {
  await sql`UPDATE dirsyncd.changes SET intent_at = NULL
    WHERE intent_at IS NOT NULL AND run IN (SELECT run FROM dirsyncd.runs WHERE sync = ${sync})`.execute(db)
}

/** Deletes applied within the last 24 hours in runs that nobody approved. */
export async function deletedLastDay(
  db: Db,
  sync: string,
  target: string,
): Promise<Readonly<Record<Guarded, number>>> {
  const { rows } = await sql<{ op: Op; removes: string }>`
    SELECT j.op, sum(j.removes) AS removes FROM dirsyncd.journal j
    WHERE j.sync = ${sync} AND j.target = ${target} AND j.outcome = 'applied' AND j.removes > 0
      AND j.intent_at > now() - interval '24 hours'
      AND NOT EXISTS (SELECT 1 FROM dirsyncd.runs r WHERE r.run = j.run AND r.approved)
    GROUP BY j.op`.execute(db)
  const counts = { users: 0, groups: 0, memberships: 0 }
  for (const row of rows) counts[GUARDED[row.op]] += Number(row.removes)
  return counts
}

/** Whether any change, or any of this operation, succeeded in this run. */
export async function hasSucceeded(db: Db, run: number, op?: Op): Promise<boolean> {
  let query = db
    .selectFrom('dirsyncd.changes')
    .select('number')
    .where('run', '=', run)
    .where('state', '=', 'applied')
  if (op !== undefined) query = query.where('op', '=', op)
  const row = await query.limit(1).executeTakeFirst()
  return row !== undefined
}

/** The ids of the entries that this sync deleted on this target within the last 24 hours. */
export async function deletedIdsLastDay(
  db: Db,
  sync: string,
  target: string,
): Promise<Readonly<Record<Kind, ReadonlySet<string>>>> {
  const rows = await db
    .selectFrom('dirsyncd.journal')
    .select(['op', 'entry_id'])
    .where('sync', '=', sync)
    .where('target', '=', target)
    .where('op', 'in', ['delete-user', 'delete-group'])
    .where('outcome', 'in', ['applied', 'found', 'already'])
    .where(sql<boolean>`intent_at > now() - interval '24 hours'`)
    .execute()
  const ids = { user: new Set<string>(), group: new Set<string>() }
  for (const { op, entry_id: id } of rows) ids[op === 'delete-user' ? 'user' : 'group'].add(id)
  return ids
}
