import { type Kysely, sql } from 'kysely'
import type { Op } from '../plan/change.ts'
import { type Answer, type Attempt, detailOf } from './journal.ts'
import { MOST_REFUSALS, type Part } from './plans.ts'
import type { Tables } from './tables.ts'

type Db = Kysely<Tables>

/**
 * The 403 answers to the changes of a run since the last success. A change that was sent before another one was refused
 * is no success after it.
 */
export interface Refusals {
  /** How many changes were refused for the first time. */
  readonly inRow: number
  /** How often a change was refused that was tried alone. */
  readonly probes: number
}

/**
 * Journals an attempt that was refused with 403. The change keeps waiting: it is left to the end of the run and tried
 * once more there. Only its first refusal counts as one in a row. The refusal of a probe is no second one: nobody knows
 * yet whether the service accepts anything.
 */
export async function refuseForNow(
  db: Db,
  attempt: Attempt,
  { probe }: { readonly probe: boolean },
  answer: Answer,
): Promise<void> {
  await sql`
    WITH refused AS (
      UPDATE dirsyncd.changes AS c
      SET refusals = CASE WHEN ${probe} THEN 1 ELSE c.refusals + 1 END, tail = true, unsure = true, intent_at = NULL,
        detail = ${detailOf(answer)}
      FROM dirsyncd.changes AS before
      WHERE c.run = ${attempt.run} AND c.number = ${attempt.number} AND c.state = 'pending'
        AND before.run = c.run AND before.number = c.number
      RETURNING before.refusals
    ), counted AS (
      UPDATE dirsyncd.runs AS r
      SET refused = refused + CASE refused.refusals WHEN 0 THEN 1 ELSE 0 END, probes = probes + ${probe ? 1 : 0}
      FROM refused WHERE r.run = ${attempt.run}
    )
    UPDATE dirsyncd.journal
    SET ended_at = now(), outcome = 'refused', status = ${answer.status ?? null}, requests = ${answer.requests ?? null},
      detail = ${detailOf(answer)}
    WHERE id = ${attempt.journalId}`.execute(db)
}

export async function refusalsOf(db: Db, run: number): Promise<Refusals> {
  const row = await db
    .selectFrom('dirsyncd.runs')
    .select(['refused', 'refused_before_success', 'probes'])
    .where('run', '=', run)
    .executeTakeFirstOrThrow()
  return { inRow: row.refused - row.refused_before_success, probes: row.probes }
}

/** What the service said of the last change of the run that it refused with 403. */
export async function lastRefusal(db: Db, run: number): Promise<string> {
  const row = await refused(db, run).select('detail').orderBy('number', 'desc').limit(1).executeTakeFirst()
  return row?.detail ?? ''
}

/** The changes with one operation that the service refused with 403. */
export interface RefusedOp {
  readonly op: Op
  readonly changes: number
  /** The entry of the last one. */
  readonly id: string
  /** What the service said of the last one. */
  readonly answer: string
}

export async function refusedOp(db: Db, run: number, op: Op): Promise<RefusedOp> {
  const rows = refused(db, run).where('op', '=', op)
  const row = await rows
    .select(['entry_id', 'detail', ({ fn }) => fn.countAll<string>().over().as('changes')])
    .orderBy('number', 'desc')
    .limit(1)
    .executeTakeFirst()
  return { op, changes: Number(row?.changes ?? 0), id: row?.entry_id ?? '', answer: row?.detail ?? '' }
}

function refused(db: Db, run: number) {
  return db
    .selectFrom('dirsyncd.changes')
    .where('run', '=', run)
    .where('state', '=', 'pending')
    .where('refusals', '>', 0)
}

export interface Probe {
  readonly number: number
  readonly op: Op
  readonly refusals: number
  /** How often it was tried before. */
  readonly attempts: number
}

/** The change of the part to try alone next: one that was not refused yet, or the one that was tried least. */
export async function nextProbe(db: Db, run: number, part: Part): Promise<Probe | undefined> {
  return waiting(db, run, part)
    .select(['number', 'op', 'refusals', 'attempts'])
    .where('refusals', '<', MOST_REFUSALS)
    .where('intent_at', 'is', null)
    .orderBy('refusals')
    .orderBy('attempts')
    .orderBy('number')
    .limit(1)
    .executeTakeFirst()
}

/** Whether the probe has an outcome, or will not be tried any more. */
export async function isProbed(db: Db, run: number, { number, attempts }: Probe): Promise<boolean> {
  const row = await db
    .selectFrom('dirsyncd.changes')
    .select(['attempts', 'intent_at'])
    .where('run', '=', run)
    .where('number', '=', number)
    .where('state', '=', 'pending')
    .executeTakeFirst()
  return row === undefined || (row.attempts > attempts && row.intent_at === null)
}

/** The operations of the changes of a part that wait for the decision, because they were refused twice. */
export async function undecidedOps(db: Db, run: number, part: Part): Promise<readonly Op[]> {
  const rows = await waiting(db, run, part)
    .select('op')
    .where('refusals', '>=', MOST_REFUSALS)
    .groupBy('op')
    .orderBy('op')
    .execute()
  return rows.map(({ op }) => op)
}

/** Decides that the service refuses these changes of a part for their own content. */
export async function quarantineUndecided(db: Db, run: number, part: Part, op: Op): Promise<void> {
  await sql`
    WITH refused AS (
      UPDATE dirsyncd.changes SET state = 'quarantined', unsure = false
      WHERE run = ${run} AND phase = ${part.phase} AND tail = ${part.tail} AND op = ${op}
        AND state = 'pending' AND refusals >= ${MOST_REFUSALS}
      RETURNING run, op, entry_id, fingerprint, detail
    )
    INSERT INTO dirsyncd.quarantine (sync, target, fingerprint, op, entry_id, detail)
    SELECT DISTINCT ON (fingerprint) r.sync, r.target, fingerprint, op, entry_id, COALESCE(detail, '')
    FROM refused JOIN dirsyncd.runs AS r ON r.run = refused.run
    ON CONFLICT (sync, target, fingerprint) DO UPDATE
    SET code = 'quarantined', detail = EXCLUDED.detail, tried_at = now()`.execute(db)
}

function waiting(db: Db, run: number, part: Part) {
  return db
    .selectFrom('dirsyncd.changes')
    .where('run', '=', run)
    .where('state', '=', 'pending')
    .where('phase', '=', part.phase)
    .where('tail', '=', part.tail)
}
