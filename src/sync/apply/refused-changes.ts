import { type Kysely, sql } from 'kysely'
import type { Op } from '../../core/plan/change.ts'
import type { Fenced } from '../../store/fenced-run.ts'
import { NAME_OF_CHANGE } from '../../store/quarantine.ts'
import type { Tables } from '../../store/tables.ts'
import { allWaitingIn, isDue, MOST_REFUSALS, type Part } from './waiting.ts'

type Db = Kysely<Tables>

/** The answer to the last change of the run that was refused with 403. */
export async function lastRefusal(db: Db, run: number): Promise<string> {
  const row = await refused(db, run).select('detail').orderBy('number', 'desc').limit(1).executeTakeFirst()
  return row?.detail ?? ''
}

export interface RefusedOp {
  readonly op: Op
  readonly changes: number
  readonly id: string
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
  readonly attempts: number
}

/** Of the changes that are due: one that was not refused yet, or the one with the fewest attempts. */
export async function nextProbe(db: Db, run: number, part: Part): Promise<Probe | undefined> {
  return allWaitingIn(db, run, part)
    .select(['number', 'op', 'attempts'])
    .where('refusals', '<', MOST_REFUSALS)
    .where(isDue(run))
    .orderBy('refusals')
    .orderBy('attempts')
    .orderBy('number')
    .limit(1)
    .executeTakeFirst()
}

/** Whether the probe has an outcome, or will not be retried. */
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

/** The operations with changes that were refused twice and wait for the decision. */
export async function undecidedOps(db: Db, run: number, part: Part): Promise<readonly Op[]> {
  const rows = await allWaitingIn(db, run, part)
    .select('op')
    .where('refusals', '>=', MOST_REFUSALS)
    .groupBy('op')
    .orderBy('op')
    .execute()
  return rows.map(({ op }) => op)
}

export async function quarantineUndecided(trx: Fenced, run: number, part: Part, op: Op): Promise<void> {
  await sql`
    WITH refused AS (
      UPDATE dirsyncd.changes SET state = 'quarantined', unsure = false
      WHERE run = ${run} AND phase = ${part.phase} AND tail = ${part.tail} AND op = ${op}
        AND state = 'pending' AND refusals >= ${MOST_REFUSALS}
      RETURNING run, op, entry_id, fingerprint, detail, change
    )
    INSERT INTO dirsyncd.quarantine (sync, target, fingerprint, op, entry_id, name, params)
    SELECT DISTINCT ON (fingerprint) r.sync, r.target, fingerprint, op, entry_id, ${NAME_OF_CHANGE},
      jsonb_build_object('answer', COALESCE(detail, ''))
    FROM refused JOIN dirsyncd.runs AS r ON r.run = refused.run
    ON CONFLICT (sync, target, fingerprint) DO UPDATE
    SET code = 'quarantined', name = EXCLUDED.name, params = EXCLUDED.params, tried_at = now()`.execute(trx)
}
