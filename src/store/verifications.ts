import { sql } from 'kysely'
import type { Op } from '../core/plan/change.ts'
import type { VerifiedChange } from '../core/plan/verification.ts'
import { settleRun } from './convergence.ts'
import type { Fenced } from './fenced-run.ts'
import type { SyncTarget } from './run-types.ts'
import type { Db } from './tables.ts'

/** An operation, and whether its changes go out several in one request: one proves nothing about the other. */
interface VerificationKind {
  readonly op: Op
  readonly inBatches: boolean
}

type Verdict = 'passed' | 'failed'

/** What came of it when such changes of this sync were last read back from this target. */
export async function lastVerdict(
  db: Db,
  { sync, target }: SyncTarget,
  { op, inBatches }: VerificationKind,
): Promise<Verdict | undefined> {
  const { rows } = await sql<{ verdict: Verdict }>`SELECT verdict FROM dirsyncd.verifications
    WHERE sync = ${sync} AND target = ${target} AND op = ${op} AND in_batches = ${inBatches}`.execute(db)
  return rows[0]?.verdict
}

/** Stores what came of it. A service that fails does so with all entries, so what it was sent does not count for any. */
export async function storeVerdict(
  trx: Fenced,
  { sync, target, run }: SyncTarget & { readonly run: number },
  { op, inBatches }: VerificationKind,
  verdict: Verdict,
): Promise<void> {
  if (verdict === 'failed') await settleRun(trx, run, op)
  await sql`INSERT INTO dirsyncd.verifications (sync, target, op, in_batches, verdict, run)
    VALUES (${sync}, ${target}, ${op}, ${inBatches}, ${verdict}, ${run})
    ON CONFLICT (sync, target, op, in_batches) DO UPDATE
    SET verdict = excluded.verdict, run = excluded.run, judged_at = excluded.judged_at`.execute(trx)
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
export async function firstSent(db: Db, run: number, op: Op): Promise<readonly SentChange[]> {
  const { rows } = await sql<SentChange>`SELECT number, change, status,
      state = 'applied' OR COALESCE(status, 0) BETWEEN 200 AND 299 AS accepted FROM dirsyncd.changes
    WHERE run = ${run} AND op = ${op} AND verifies AND (state = 'applied'
      OR state IN ('quarantined', 'failed') AND op LIKE 'create-%') ORDER BY number`.execute(db)
  return rows
}
