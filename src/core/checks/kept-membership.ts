import { includesSorted } from '../../base/sorting.ts'
import { forEachInSteps } from '../../base/steps.ts'
import type { Decisions } from '../decisions.ts'
import { type Key, KeySet, keyText, parseKey } from '../keys.ts'
import type { Check, Facts } from './check.ts'

/** A delete of a user or group ends memberships. It is blocked while a removal of one is rejected or not decided. */
export const keptMembership: Check<Facts> = {
  name: 'kept-membership',
  *judge({ wanted, left, decisions }) {
    const keys = new KeySet()
    const kept = new Map<string, { readonly user: string; readonly group: string }>()
    yield* forEachInSteps(undecided(decisions), (text) => {
      const [, group = '', field, user = ''] = (text === undefined ? undefined : parseKey(text)) ?? []
      const members = wanted.snapshots.directory.groups.get(group)?.members ?? []
      if (field !== '-member' || !includesSorted(members, user)) return
      const deletes: readonly Key[] = [
        ['user', user, 'delete'],
        ['group', group, 'delete'],
      ]
      for (const key of deletes)
        if (left.has(key)) {
          keys.add(key)
          kept.set(keyText(key), { user, group })
        }
    })
    const of = (key: Key) => kept.get(keyText(key))
    return [{ code: 'kept-membership', params: {}, until: 'decision', keys, of }]
  },
}

function* undecided(decisions: Decisions): Generator<string | undefined, void> {
  yield* decisions.open()
  yield* decisions.ledger.rejections.keys()
}
