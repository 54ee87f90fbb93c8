import { type Steps } from '../base/steps.ts'
import type { Facts } from '../core/checks/check.ts'
import { createChanges } from '../core/order.ts'
import { fingerprint } from '../core/plan/change.ts'
import { without } from '../core/without.ts'
import type { Write } from '../store/convergence.ts'

/** Of these changes, the digests of those that source and directory still differ by, also where they are blocked. */
export function* stillWanted({ wanted, left }: Facts, writes: readonly Write[]): Steps<ReadonlySet<string>> {
  const still = new Set<string>()
  if (writes.length === 0) return still
  // The digest of a change tells from whom its e-mail comes, which blocks may change.
  for (const keys of [left, yield* without(wanted, [])]) {
    const changes = yield* createChanges(keys, () => 'gone')
    for (const { op, id, digest } of writes) {
      const change = yield* changes.of(op, id)
      if (change !== undefined && fingerprint(change) === digest) still.add(digest)
      yield
    }
  }
  return still
}
