import { type Kysely, sql } from 'kysely'
import type { Op } from '../../core/plan/change.ts'
import type { Phase } from '../../core/plan/changes.ts'
import type { Fenced } from '../../store/fenced-run.ts'
import type { Tables } from '../../store/tables.ts'

type Db = Kysely<Tables>

/** A change that was refused with 403 so often is not retried before the decision about it. */
export const MOST_REFUSALS = 2

/** The changes of one phase, either in their turn or in the retry stage. */
export interface Part {
  readonly phase: Phase
  readonly tail: boolean
  /** Only the changes of this operation that are marked for write verification. */
  readonly canary?: Op
}

/** No retry waits longer: a later time comes from a clock that was set back since. */
const LONGEST_WAIT = sql`interval '15 minutes'`

/** An e-mail waits until its owner lost it: a lenient service would show it twice. In a circle, none can be first. */
export function isDue(run: number) {
  // With `c.run`, PostgreSQL would read the changes of all runs.
  return sql<boolean>`c.chunk IS NULL AND (c.next_at IS NULL
    OR c.next_at NOT BETWEEN clock_timestamp() AND clock_timestamp() + ${LONGEST_WAIT})
  AND (c.phase <> 'take-emails' OR c.change #> '{takes,after}' = 'null' OR NOT EXISTS (
    SELECT FROM dirsyncd.changes AS owner
    WHERE owner.run = ${run} AND owner.phase IN ('free-emails', 'take-emails')
      AND owner.state IN ('pending', 'quarantined', 'failed') AND owner.entry_id = c.change #>> '{takes,from}'))`
}

export async function claimable(
  db: Db,
  run: number,
  part: Part,
  { after, limit }: { readonly after: number; readonly limit: number },
): Promise<readonly { number: number; op: Op }[]> {
  return waitingIn(db, run, part)
    .select(['number', 'op'])
    .where('number', '>', after)
    .where(isDue(run))
    .orderBy('number')
    .limit(limit)
    .execute()
}

/** Sets the run's counter, which outcomes decrement, to the real count. */
export async function countWaiting(trx: Fenced, run: number, part: Part): Promise<number> {
  const { count } = await waitingIn(trx, run, part)
    .select(({ fn }) => fn.countAll<string>().as('count'))
    .executeTakeFirstOrThrow()
  const pending = Number(count)
  await trx.updateTable('dirsyncd.runs').set({ pending }).where('run', '=', run).execute()
  return pending
}

/** Marks the first changes that are due, unless earlier marked ones still wait. Returns how many marked ones wait. */
export async function markCanary(
  trx: Fenced,
  run: number,
  { canary: op, ...part }: Part & { readonly canary: Op },
  most: number,
): Promise<number> {
  const waiting = await countWaiting(trx, run, { ...part, canary: op })
  if (waiting > 0) return waiting
  // Not within the update: a PostgreSQL that has not analyzed the run yet would search for them again at each change.
  const first = await waitingIn(trx, run, part)
    .select('number')
    .where('op', '=', op)
    .where(isDue(run))
    .orderBy('number')
    .limit(most)
    .execute()
  if (first.length === 0) return 0
  await trx
    .updateTable('dirsyncd.changes')
    .set({ canary: true })
    .where('run', '=', run)
    .where(
      'number',
      'in',
      first.map(({ number }) => number),
    )
    .execute()
  return first.length
}

function waitingIn(db: Db, run: number, part: Part) {
  return allWaitingIn(db, run, part).where('refusals', '<', MOST_REFUSALS)
}

/** Includes the changes that wait for the decision about their refusals. */
export function allWaitingIn(db: Db, run: number, { phase, tail, canary }: Part) {
  const changes = db
    .selectFrom('dirsyncd.changes as c')
    .where('run', '=', run)
    .where('state', '=', 'pending')
    .where('phase', '=', phase)
    .where('tail', '=', tail)
  return canary === undefined ? changes : changes.where('canary', '=', true).where('op', '=', canary)
}
