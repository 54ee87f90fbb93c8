import { batchesOf } from '../../core/plan/batches.ts'
import type { Claimed } from './claim.ts'

/**
 * Divides the changes of a chunk into requests: at most `createBatch` creates together, every other change alone. A
 * retried create goes alone, because one entry at which the service always fails must not make others fail. Creates
 * that need a lookup first are not mixed with others.
 */
export function requestsOf(
  changes: readonly Claimed[],
  createBatch: number,
): readonly (readonly Claimed[])[] {
  const { fresh = [], unsure = [], tried = [] } = Object.groupBy(changes, groupOf)
  return [...batchesOf(fresh, createBatch), ...batchesOf(unsure, createBatch), ...batchesOf(tried, 1)]
}

function groupOf(change: Claimed): 'fresh' | 'unsure' | 'tried' {
  const { attempts, refusals, tail, unsure } = change
  if (attempts > 1 || refusals > 0 || tail) return 'tried'
  return unsure ? 'unsure' : 'fresh'
}
