import { type Kysely, sql } from 'kysely'
import type { Op } from '../../core/plan/change.ts'
import type { Fenced } from '../../store/fenced-run.ts'
import { NAME_OF_CHANGE } from '../../store/quarantine.ts'
import type { Tables } from '../../store/tables.ts'
import { allWaitingIn, isDue, MOST_REFUSALS, type Part } from './waiting.ts'

type Db = Kysely<Tables>

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

export interface Probe {
  readonly number: number
  readonly op: Op
  /** How often it was tried before. */
  readonly attempts: number
}

/**
 * The change of the part to try alone next, of those that may be tried now: one that was not refused yet, or the one
 * that was tried least.
 */
export async function nextProbe(db: Db, run: number, part: Part): Promise<Probe | undefined> {
  return allWaitingIn(db, run, part)
    .select(['number', 'op', 'attempts'])
    .where('refusals', '<', MOST_REFUSALS)
    .where(isDue)
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
    .select(['attempts', 'chunk'])
    .where('run', '=', run)
    .where('number', '=', number)
    .where('state', '=', 'pending')
    .executeTakeFirst()
  return row === undefined || (row.attempts > attempts && row.chunk === null)
}

/** The operations of the changes of a part that wait for the decision, because they were refused twice. */
export async function undecidedOps(db: Db, run: number, part: Part): Promise<readonly Op[]> {
  const rows = await allWaitingIn(db, run, part)
    .select('op')
    .where('refusals', '>=', MOST_REFUSALS)
    .groupBy('op')
    .orderBy('op')
    .execute()
  return rows.map(({ op }) => op)
}

/** Decides that the service refuses these changes of a part for their own content. */
export async function quarantineUndecided(trx: Fenced, run: number, part: Part, op: Op): Promise<void> {
  await sql`
    WITH refused AS (
      UPDATE dirsyncd.changes SET state = 'quarantined', unsure = false
      WHERE run = ${run} AND phase = ${part.phase} AND tail = ${part.tail} AND op = ${op}
        AND state = 'pending' AND refusals >= ${MOST_REFUSALS}
      RETURNING run, op, entry_id, fingerprint, detail, change
    )
    INSERT INTO dirsyncd.quarantine (sync, target, fingerprint, op, entry_id, name, detail)
    SELECT DISTINCT ON (fingerprint) r.sync, r.target, fingerprint, op, entry_id, ${NAME_OF_CHANGE}, COALESCE(detail, '')
    FROM refused JOIN dirsyncd.runs AS r ON r.run = refused.run
    ON CONFLICT (sync, target, fingerprint) DO UPDATE
    SET code = 'quarantined', name = EXCLUDED.name, detail = EXCLUDED.detail, tried_at = now()`.execute(trx)
}
