import { batchesOf, type Create } from '../../core/plan/batches.ts'
import type { Change } from '../../core/plan/change.ts'
import type { Outcome, SharedOutcome } from '../../core/plan/outcome.ts'
import type { HowToApply } from '../../target/apply-change.ts'
import type { HowToCreate } from '../../target/batch/create-batch.ts'
import type { Claimed } from './job.ts'

/** Neither throws for an answer of the API. */
export interface Senders {
  readonly applyChange: (change: Change, how: HowToApply, signal: AbortSignal) => Promise<Outcome>
  /** Creates entries of one kind with different ids, yielding each outcome. */
  readonly createBatch: (
    changes: readonly Create[],
    how: HowToCreate,
    signal: AbortSignal,
  ) => AsyncIterable<SharedOutcome>
  /** The most creates in one request. */
  readonly batchSize: number
}

/**
 * Divides the changes of a chunk into requests: at most `most` creates together, every other change alone. A create
 * that was tried before goes alone: one entry at which the service always fails must not make others fail.
 */
export function requestsOf(changes: readonly Claimed[], most: number): readonly (readonly Claimed[])[] {
  const { fresh = [], tried = [] } = Object.groupBy(changes, groupOf)
  return [...batchesOf(fresh, most), ...batchesOf(tried, 1)]
}

function groupOf({ attempts, refusals, retry, unsure }: Claimed): 'fresh' | 'tried' {
  return attempts > 1 || refusals > 0 || retry || unsure ? 'tried' : 'fresh'
}
