import { all, isEmpty, KeySet } from '../keys.ts'
import type { Check } from './check.ts'

/** A source with fewer users is probably the wrong one, or a broken export. */
export const minSourceUsers: Check = {
  name: 'min-source-users',
  *judge({ wanted, left, limits }) {
    const { size: users } = wanted.snapshots.source.seen.user
    if (users >= limits.minSourceUsers || (yield* isEmpty(all(left)))) return []
    const params = { users, limit: limits.minSourceUsers }
    const asks = ['fact', 'source-users', String(users)] as const
    return [{ code: 'min-source-users', params, stops: 'plan', until: 'decision', asks, keys: new KeySet() }]
  },
}
