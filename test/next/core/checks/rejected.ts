import { forEachInSteps } from '../../../../src/base/steps.ts'
import { KeySet, parseKey, wholeOf } from '../keys.ts'
import type { Check } from './check.ts'

/** What an operator rejected; of a delete all of it, so that the user keeps its memberships, too. */
export const rejected: Check = {
  name: 'rejected',
  *judge({ wanted, decisions }) {
    const keys = new KeySet()
    yield* forEachInSteps(decisions.ledger.rejections.keys(), (text) => {
      const key = parseKey(text)
      const whole = key && wholeOf(key)
      if (whole !== undefined && wanted.has(whole)) keys.add(whole)
    })
    return [{ code: 'rejected', until: 'decision', keys }]
  },
}
