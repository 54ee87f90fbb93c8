import { forEachInSteps } from '../../base/steps.ts'
import { KeySet, wholeOf } from '../keys.ts'
import type { Check, Facts } from './check.ts'

/** Entries that the configuration protects are never deleted, and keep their memberships. */
export const protect: Check<Facts> = {
  name: 'protected',
  *judge({ wanted }) {
    const keys = new KeySet()
    for (const kind of ['user', 'group'] as const)
      yield* forEachInSteps(wanted.absent[kind], (id) => {
        if (wanted.selections[kind].isProtected(id)) keys.add(wholeOf([kind, id, 'delete']))
      })
    return [{ code: 'protected', params: {}, until: 'configuration', keys }]
  },
}
