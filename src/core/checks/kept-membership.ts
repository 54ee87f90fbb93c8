import { forEachInSteps } from '../../base/steps.ts'
import type { Decisions } from '../decisions.ts'
import { type Key, KeySet, keyText, parseKey } from '../keys.ts'
import type { Check, Facts } from './check.ts'

/**
 * Deletes of users that would end memberships whose removal an operator rejected, or has not decided: the service takes
 * a user whom it deletes out of the groups.
 */
export const keptMembership: Check<Facts> = {
  name: 'kept-membership',
  *judge({ left, decisions }) {
    const keys = new KeySet()
    const groups = new Map<string, string>()
    yield* forEachInSteps(undecided(decisions), (text) => {
      const [, group, field, member] = (text === undefined ? undefined : parseKey(text)) ?? []
      const ofUser: Key = ['user', member ?? '', 'delete']
      if (field !== '-member' || !left.has(ofUser)) return
      keys.add(ofUser)
      groups.set(keyText(ofUser), group!)
    })
    const of = (key: Key) => {
      const group = groups.get(keyText(key))
      return group === undefined ? undefined : { group }
    }
    return [{ code: 'kept-membership', params: {}, until: 'decision', keys, of }]
  },
}

function* undecided(decisions: Decisions): Generator<string | undefined, void> {
  yield* decisions.open()
  yield* decisions.ledger.rejections.keys()
}
