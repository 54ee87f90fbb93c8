import { type Kysely, sql } from 'kysely'
import type { Op } from '../core/plan/change.ts'
import type { VerifiedChange } from '../core/plan/verification.ts'
import { forgetWrites } from './convergence.ts'
import type { Fenced } from './fenced-run.ts'
import type { SyncTarget } from './run-types.ts'
import type { VerificationsTable, Tables } from './tables.ts'

/** An operation, and whether its changes go out several in one request: one proves nothing about the other. */
export interface VerificationKind {
  readonly op: Op
  readonly inBatches: boolean
}

export type Verdict = VerificationsTable['verdict']

/** What came of it when such changes of this sync were last read back from this target. */
export async function lastVerdict(
  db: Kysely<Tables>,
  { sync, target }: SyncTarget,
  { op, inBatches }: VerificationKind,
): Promise<Verdict | undefined> {
  const row = await db
    .selectFrom('dirsyncd.verifications')
    .select('verdict')
    .where('sync', '=', sync)
    .where('target', '=', target)
    .where('op', '=', op)
    .where('in_batches', '=', inBatches)
    .executeTakeFirst()
  return row?.verdict
}

/** Stores what came of it. A service that fails does so with all entries, so what it was sent does not count for any. */
export async function storeVerdict(
  trx: Fenced,
  { sync, target, run }: SyncTarget & { readonly run: number },
  { op, inBatches }: VerificationKind,
  verdict: Verdict,
): Promise<void> {
  if (verdict === 'failed') await forgetWrites(trx, run, op)
  const judged = { verdict, run, judged_at: sql<Date>`now()` }
  await trx
    .insertInto('dirsyncd.verifications')
    .values({ sync, target, op, in_batches: inBatches, ...judged })
    .onConflict((conflict) => conflict.columns(['sync', 'target', 'op', 'in_batches']).doUpdateSet(judged))
    .execute()
}

/** One of the first changes of an operation, which was sent. */
export interface SentChange {
  readonly number: number
  readonly change: VerifiedChange
  readonly status: number | null
  /** Whether the service said that it did it. */
  readonly accepted: boolean
}

/**
 * This run's first changes of an operation that the service accepted, and the creates that it refused: it may have
 * created their entries.
 */
export async function firstSent(db: Kysely<Tables>, run: number, op: Op): Promise<readonly SentChange[]> {
  const { rows } = await sql<SentChange>`SELECT number, change, status,
      state = 'applied' OR COALESCE(status, 0) BETWEEN 200 AND 299 AS accepted FROM dirsyncd.changes
    WHERE run = ${run} AND op = ${op} AND verifies AND (state = 'applied'
      OR state IN ('quarantined', 'failed') AND op LIKE 'create-%') ORDER BY number`.execute(db)
  return rows
}
