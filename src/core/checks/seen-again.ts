import { forEachInSteps } from '../../base/steps.ts'
import { forEachKey, type Key, KeySet, wholeOf } from '../keys.ts'
import { isRemoval } from '../order.ts'
import type { Check } from './check.ts'

/**
 * Entries that the read lacked and the recheck found, and users that it found in a group after all: they were renamed
 * or moved during the read. An absent entry that was not rechecked counts as found.
 */
export const seenAgain: Check = {
  name: 'seen-again',
  *judge({ left, rechecks }) {
    const keys = new KeySet()
    for (const kind of ['user', 'group'] as const)
      yield* forEachKey(left.of(kind, 'delete'), (key) => {
        const state = rechecks.entries[kind].get(key[1]) ?? 'present'
        if (state === 'present') keys.add(wholeOf(key))
      })
    yield* forEachKey(left.of('user', 'leave'), (key) => {
      if ((rechecks.entries.user.get(key[1]) ?? 'present') === 'present') keys.add(key)
    })
    for (const [group, { stillMembers }] of rechecks.removals)
      yield* forEachInSteps(stillMembers, (member) => {
        const key: Key = ['group', group, '-member', member]
        if (left.has(key) && isRemoval(left, key)) keys.add(key)
      })
    return [{ code: 'seen-again', params: {}, until: 'read', keys }]
  },
}
