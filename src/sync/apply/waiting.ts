import { type Kysely, sql } from 'kysely'
import type { Op } from '../../core/plan/change.ts'
import type { Phase } from '../../core/plan/changes.ts'
import type { Fenced } from '../../store/fenced-run.ts'
import type { Tables } from '../../store/tables.ts'

type Db = Kysely<Tables>

/** A change that was refused with 403 so often is not tried again: it waits for the decision what that means. */
export const MOST_REFUSALS = 2

/** The changes of one phase: those that go on in their turn, or those that were left to the end of the run. */
export interface Part {
  readonly phase: Phase
  readonly tail: boolean
  /** Only the changes of this operation that are marked as its canary. */
  readonly canary?: Op
}

/**
 * No change waits longer before it is tried again: one that seems to was put off by a clock that was set back since.
 */
const LONGEST_WAIT = sql`interval '15 minutes'`

/**
 * Whether a change `c` may be tried now. Who gets an e-mail waits until its owner has lost it: a service that does not
 * mind would show it with two people. In a circle nobody can be first.
 */
export const isDue = sql<boolean>`c.chunk IS NULL AND (c.next_at IS NULL
    OR c.next_at NOT BETWEEN clock_timestamp() AND clock_timestamp() + ${LONGEST_WAIT})
  AND (c.phase <> 'take-emails' OR c.change #> '{takes,after}' = 'null' OR NOT EXISTS (
    SELECT FROM dirsyncd.changes AS owner
    WHERE owner.run = c.run AND owner.phase IN ('free-emails', 'take-emails')
      AND owner.state IN ('pending', 'quarantined', 'failed') AND owner.entry_id = c.change #>> '{takes,from}'))`

/** The numbers of the changes that may be claimed now, in order. */
export async function claimable(
  db: Db,
  run: number,
  part: Part,
  { after, limit }: { readonly after: number; readonly limit: number },
): Promise<readonly { number: number; op: Op }[]> {
  return waitingIn(db, run, part)
    .select(['number', 'op'])
    .where('number', '>', after)
    .where(isDue)
    .orderBy('number')
    .limit(limit)
    .execute()
}

/** Counts the changes of a part that wait, and makes the run's counter, which outcomes move, equal to that. */
export async function countWaiting(trx: Fenced, run: number, part: Part): Promise<number> {
  const { count } = await waitingIn(trx, run, part)
    .select(({ fn }) => fn.countAll<string>().as('count'))
    .executeTakeFirstOrThrow()
  const pending = Number(count)
  await trx.updateTable('dirsyncd.runs').set({ pending }).where('run', '=', run).execute()
  return pending
}

/**
 * Marks the first changes of an operation that may be claimed now, unless some that were marked before still wait.
 * Returns how many marked ones wait.
 */
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
    .where(isDue)
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

/** The changes of a part that wait, also those that wait for the decision what their refusals mean. */
export function allWaitingIn(db: Db, run: number, { phase, tail, canary }: Part) {
  const changes = db
    .selectFrom('dirsyncd.changes as c')
    .where('run', '=', run)
    .where('state', '=', 'pending')
    .where('phase', '=', phase)
    .where('tail', '=', tail)
  return canary === undefined ? changes : changes.where('canary', '=', true).where('op', '=', canary)
}
