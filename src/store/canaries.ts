import { type Kysely, sql } from 'kysely'
import type { Op } from '../core/plan/change.ts'
import type { CanaryChange } from '../core/plan/canary.ts'
import { forgetWrites } from './convergence.ts'
import type { Fenced } from './fenced-run.ts'
import type { SyncTarget } from './run-types.ts'
import type { CanariesTable, Tables } from './tables.ts'

/** An operation, and whether its changes go out several in one request: one proves nothing about the other. */
export interface CanaryKind {
  readonly op: Op
  readonly inLists: boolean
}

export type Verdict = CanariesTable['verdict']

/** What came of it when such changes of this sync were last read back from this target. */
export async function lastVerdict(
  db: Kysely<Tables>,
  { sync, target }: SyncTarget,
  { op, inLists }: CanaryKind,
): Promise<Verdict | undefined> {
  const row = await db
    .selectFrom('dirsyncd.canaries')
    .select('verdict')
    .where('sync', '=', sync)
    .where('target', '=', target)
    .where('op', '=', op)
    .where('in_lists', '=', inLists)
    .executeTakeFirst()
  return row?.verdict
}

/** Stores what came of it. A service that fails does so with all entries, so what it was sent does not count for any. */
export async function storeVerdict(
  trx: Fenced,
  { sync, target, run }: SyncTarget & { readonly run: number },
  { op, inLists }: CanaryKind,
  verdict: Verdict,
): Promise<void> {
  if (verdict === 'failed') await forgetWrites(trx, run, op)
  const judged = { verdict, run, judged_at: sql<Date>`now()` }
  await trx
    .insertInto('dirsyncd.canaries')
    .values({ sync, target, op, in_lists: inLists, ...judged })
    .onConflict((conflict) => conflict.columns(['sync', 'target', 'op', 'in_lists']).doUpdateSet(judged))
    .execute()
}

/** A change of a canary that was sent. */
export interface SentCanary {
  readonly number: number
  readonly change: CanaryChange
  readonly status: number | null
  /** Whether the service said that it did it. */
  readonly accepted: boolean
}

/**
 * The changes of this run's canary of an operation that the service accepted, and the creates that it refused: it may
 * have created their entries all the same.
 */
export async function sentCanary(db: Kysely<Tables>, run: number, op: Op): Promise<readonly SentCanary[]> {
  const { rows } = await sql<SentCanary>`SELECT number, change, status,
      state = 'applied' OR COALESCE(status, 0) BETWEEN 200 AND 299 AS accepted FROM dirsyncd.changes
    WHERE run = ${run} AND op = ${op} AND canary AND (state = 'applied'
      OR state IN ('quarantined', 'failed') AND op LIKE 'create-%') ORDER BY number`.execute(db)
  return rows
}
