import { type RawBuilder, sql } from 'kysely'
import type { Op } from '../../core/plan/change.ts'
import type { Phase } from '../../core/plan/changes.ts'
import type { Fenced } from '../../store/fenced-run.ts'
import type { Db } from '../../store/tables.ts'

/** A change that was refused with 403 so often is not retried before the decision about it. */
export const MOST_REFUSALS = 2

/** The changes of one phase, either in their turn or in the retry stage. */
export interface Stage {
  readonly phase: Phase
  readonly retry: boolean
  /** Only the changes of this operation that are marked for write verification. */
  readonly verifies?: Op | null
}

/** No retry waits longer: a later time comes from a clock that was set back since. */
const LONGEST_WAIT = sql`interval '15 minutes'`

/** Of two changes of e-mails, the one that frees the other's is sent first; those in circles last, together. */
const LEVEL = sql`c.change #>> '{takes,after}'`

/** A time that is further ahead comes from a clock that was set back. */
const MAY_REMOVE = sql<boolean>`EXISTS (SELECT FROM dirsyncd.applying AS a WHERE a.run = c.run
  AND removes_until BETWEEN clock_timestamp() AND clock_timestamp() + interval '1 minute')`

const HAS_WAITED = sql<boolean>`c.chunk IS NULL AND (c.next_at IS NULL
  OR c.next_at NOT BETWEEN clock_timestamp() AND clock_timestamp() + ${LONGEST_WAIT})`

const IS_DUE = sql<boolean>`${HAS_WAITED}
  AND (NOT c.takes_away OR ${MAY_REMOVE})`

/** The next changes of a stage that are due, in their order. */
export async function nextDue(
  db: Db,
  run: number,
  stage: Stage,
  { after, limit }: { readonly after: number; readonly limit: number },
): Promise<readonly number[]> {
  const rows = await dueAfter(db, run, stage, after).orderBy('number').limit(limit).execute()
  return rows.map(({ number }) => number)
}

/** How many changes after the cursor are due, counted up to `limit`. */
export async function countDue(db: Db, run: number, stage: Stage, limit: number): Promise<number> {
  const cursor = sql<number>`(SELECT cursor FROM dirsyncd.applying WHERE run = ${run})`
  const { count } = await db
    .selectFrom(dueAfter(db, run, stage, cursor).orderBy('number').limit(limit).as('due'))
    .select(({ fn }) => fn.countAll<string>().as('count'))
    .executeTakeFirstOrThrow()
  return Number(count)
}

function dueAfter(db: Db, run: number, stage: Stage, after: number | RawBuilder<number>) {
  return nextIn(db, run, stage).select('number').where('number', '>', after).where(IS_DUE)
}

/**
 * Has workers claim this stage from its beginning. Returns how many changes wait; outcomes decrement the counter.
 *
 * @param removesMs for how long removals may be claimed; only the first stage of a run sets it
 */
export async function enterStage(trx: Fenced, run: number, stage: Stage, removesMs = 0): Promise<number> {
  const pending = await countWaiting(trx, run, stage)
  const { phase, retry, verifies = null } = stage
  const row = { phase, retry, verifies, pending, cursor: 0 }
  await trx
    .insertInto('dirsyncd.applying')
    .values({ run, ...row, removes_until: fromNow(removesMs) })
    .onConflict((conflict) => conflict.column('run').doUpdateSet(row))
    .execute()
  return pending
}

export async function countWaiting(db: Db, run: number, stage: Stage): Promise<number> {
  const { count } = await waitingIn(db, run, stage)
    .select(({ fn }) => fn.countAll<string>().as('count'))
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** Marks the first changes that are due, unless earlier marked ones still wait. Returns how many marked ones wait. */
export async function markFirst(
  trx: Fenced,
  run: number,
  { verifies: op, ...stage }: Stage & { readonly verifies: Op },
  most: number,
): Promise<number> {
  const marked = await nextIn(trx, run, { ...stage, verifies: op })
    .select('number')
    .execute()
  if (marked.length > 0) return marked.length
  // Not within the update: a PostgreSQL that has not analyzed the run yet would search for them again at each change.
  const first = await nextIn(trx, run, stage)
    .select('number')
    .where('op', '=', op)
    .where(HAS_WAITED)
    .orderBy('number')
    .limit(most)
    .execute()
  if (first.length === 0) return 0
  await trx
    .updateTable('dirsyncd.changes')
    .set({ verifies: true })
    .where('run', '=', run)
    .where(
      'number',
      'in',
      first.map(({ number }) => number),
    )
    .execute()
  return first.length
}

/** A change that takes an e-mail waits for the changes that free it. Their numbers are lower. */
function nextIn(db: Db, run: number, stage: Stage) {
  const changes = waitingIn(db, run, stage)
  if (stage.phase !== 'take-emails') return changes
  const { phase, retry } = stage
  const first = waitingIn(db, run, { phase, retry }).select(LEVEL.as('level')).orderBy('number').limit(1)
  return changes.where(sql<boolean>`${LEVEL} IS NOT DISTINCT FROM (${first})`)
}

/** Without the changes whose refusals are decided at the end of the stage. */
function waitingIn(db: Db, run: number, { phase, retry, verifies }: Stage) {
  const changes = db
    .selectFrom('dirsyncd.changes as c')
    .where('run', '=', run)
    .where('state', '=', 'pending')
    .where('phase', '=', phase)
    .where('retry', '=', retry)
    .where('refusals', '<', MOST_REFUSALS)
  return verifies ? changes.where('verifies', '=', true).where('op', '=', verifies) : changes
}

/** Until `ms` from now, removals may be claimed. */
export async function allowRemovals(trx: Fenced, run: number, ms: number): Promise<void> {
  await trx
    .updateTable('dirsyncd.applying')
    .set({ removes_until: fromNow(ms) })
    .where('run', '=', run)
    .execute()
}

function fromNow(ms: number): RawBuilder<Date> {
  return sql<Date>`clock_timestamp() + ${ms} * interval '1 millisecond'`
}

/** Whether changes of a stage that take somebody out wait; with `lackRecheck`, whether one is due and lacks a recheck. */
export async function hasRemovals(
  db: Db,
  run: number,
  stage: Stage,
  { lackRecheck = false } = {},
): Promise<boolean> {
  const removals = waitingIn(db, run, stage).select('number').where('takes_away', '=', true).limit(1)
  const isDue = sql<boolean>`${HAS_WAITED} AND NOT ${MAY_REMOVE}`
  return (await (lackRecheck ? removals.where(isDue) : removals).execute()).length > 0
}
