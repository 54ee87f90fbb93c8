import { forEachKey, type Key, KeySet } from '../keys.ts'
import type { Check } from './check.ts'

/** Members of a group that the recheck neither found nor missed for certain: the next run rechecks. */
export const removalsNotConfirmed: Check = {
  name: 'removals-not-confirmed',
  *judge({ left, wanted, rechecks }) {
    const keys = new KeySet()
    for (const [group, { unproved, unprovedMembers }] of rechecks.removals) {
      if (unproved === undefined) continue
      const some = unprovedMembers && new Set(unprovedMembers)
      yield* forEachKey(left.membersOf(group, '-member'), (key) => {
        if (some?.has(key[3]!) ?? !wanted.absent.user.has(key[3]!)) keys.add(key)
      })
    }
    const of = ([, group]: Key) => rechecks.removals.get(group)?.unproved
    return [{ code: 'removals-not-confirmed', params: {}, until: 'time', keys, of }]
  },
}
