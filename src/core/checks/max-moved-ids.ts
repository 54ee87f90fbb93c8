import { forEachInSteps } from '../../base/steps.ts'
import { KeySet } from '../keys.ts'
import { isMovedId } from '../plan/id-form.ts'
import { createChanges } from '../order.ts'
import type { Check } from './check.ts'

/** Where ids were renumbered, users get each other's accounts, although no single update looks wrong. */
export const maxMovedIds: Check = {
  name: 'max-moved-ids',
  *judge({ left, wanted, limits, decisions }) {
    const limit = limits.maxMovedIds
    if (limit === undefined) return []
    const changes = yield* createChanges(left, () => 'gone')
    const keys = new KeySet()
    let users = 0
    yield* forEachInSteps(wanted.updates, (id) => {
      const change = changes.updateUser(id)
      const own = [...wanted.keysOf('user', id)].filter((key) => !decisions.isApproved(key))
      if (change === undefined || own.length === 0 || !isMovedId(change)) return
      users += 1
      for (const key of own) keys.add(key)
    })
    if (users <= limit) return []
    return [{ code: 'max-moved-ids', params: { users, limit }, stops: 'plan', until: 'decision', keys }]
  },
}
