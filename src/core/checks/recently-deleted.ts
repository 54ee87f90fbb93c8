import { forEachKey, KeySet } from '../keys.ts'
import type { Check } from './check.ts'

/** A server that lags shows entries that this sync deleted within the last day. */
export const recentlyDeleted: Check = {
  name: 'recently-deleted',
  *judge({ left, journal }) {
    const keys = new KeySet()
    for (const kind of ['user', 'group'] as const) {
      if (journal.deleted[kind].size === 0) continue
      yield* forEachKey(left.of(kind, 'create'), (key) => {
        if (journal.deleted[kind].has(key[1])) keys.add(key)
      })
    }
    return [{ code: 'recently-deleted', params: {}, until: 'time', keys }]
  },
}
