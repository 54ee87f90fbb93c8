import { batchesOf } from '../../core/plan/batches.ts'
import type { Claimed } from './claim.ts'

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
