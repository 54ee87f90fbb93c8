import { type Steps } from '../base/steps.ts'
import type { Facts } from '../core/checks/check.ts'
import { createChanges } from '../core/order.ts'
import { fingerprint } from '../core/plan/change.ts'
import { without, type PlanKeys } from '../core/without.ts'
import type { Write } from '../store/convergence.ts'

/** Of these changes, the digests of those that source and directory still differ by, also where they are blocked. */
export function* stillWanted({ wanted, left }: Facts, writes: readonly Write[]): Steps<ReadonlySet<string>> {
  if (writes.length === 0) return new Set()
  // The digest of a change tells from whom its e-mail comes, which blocks may change.
  const unblocked = yield* stillPlanned(yield* without(wanted, []), writes)
  return unblocked.union(yield* stillPlanned(left, writes))
}

/** Of these changes, the digests of those that a plan of some keys makes. */
export function* stillPlanned(keys: PlanKeys, writes: readonly Write[]): Steps<ReadonlySet<string>> {
  const changes = yield* createChanges(keys, () => 'gone')
  const still = new Set<string>()
  for (const { op, id, digest } of writes) {
    const change = yield* changes.of(op, id)
    if (change !== undefined && fingerprint(change) === digest) still.add(digest)
    yield
  }
  return still
}
