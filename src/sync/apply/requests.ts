import { batchesOf } from '../../core/plan/batches.ts'
import type { Claimed } from './claim.ts'

/**
 * Divides the changes of a chunk by the requests that send them: creates together, at most `createBatch`, every other
 * change alone. A create that was tried before goes alone, too: one entry that the service always fails at must not make
 * others fail with it. Those that are to be looked up first are not mixed with others.
 */
export function requestsOf(
  changes: readonly Claimed[],
  createBatch: number,
): readonly (readonly Claimed[])[] {
  const { fresh = [], unsure = [], tried = [] } = Object.groupBy(changes, groupOf)
  return [...batchesOf(fresh, createBatch), ...batchesOf(unsure, createBatch), ...batchesOf(tried, 1)]
}

function groupOf(change: Claimed): 'fresh' | 'unsure' | 'tried' {
  const { attempts, refusals, tail, unsure, created_before: isThereMaybe = false } = change
  if (attempts > 1 || refusals > 0 || tail) return 'tried'
  return unsure || isThereMaybe ? 'unsure' : 'fresh'
}
