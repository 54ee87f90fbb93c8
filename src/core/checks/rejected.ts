import { forEachInSteps } from '../../base/steps.ts'
import type { FactsOf } from '../block.ts'
import { type Key, KeySet, keyText, parseKey } from '../keys.ts'
import type { Check, Facts } from './check.ts'

/** What an operator rejected; of a delete all of it, so that the user keeps its memberships, too. */
export const rejected: Check<Facts> = {
  name: 'rejected',
  *judge({ wanted, decisions }) {
    const keys = new KeySet()
    yield* forEachInSteps(decisions.ledger.rejections.keys(), (text) => {
      const key = parseKey(text)
      if (key !== undefined && wanted.has(key)) keys.add(key)
    })
    const of = (key: Key): FactsOf<'rejected'> | undefined => {
      const rejection = decisions.rejectionOf(keyText(key))
      return rejection && { ...rejection, at: rejection.at.toISOString() }
    }
    return [{ code: 'rejected', params: {}, until: 'decision', keys, of }]
  },
}
