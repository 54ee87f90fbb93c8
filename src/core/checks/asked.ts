import { forEachInSteps } from '../../base/steps.ts'
import { type Key, KeySet, keyText, parseKey } from '../keys.ts'
import type { Check, Facts } from './check.ts'

/**
 * A question blocks its changes until it is decided, even if the check that asked no longer objects. Approving 11 of
 * 60 deletes, with a limit of 50, does not release the other 49. This check runs with the guards, so that all other
 * checks judge as if nothing had been asked.
 */
export const asked: Check<Facts> = {
  name: 'asked',
  *judge({ left, decisions }) {
    const keys = new KeySet()
    yield* forEachInSteps(decisions.open(), (text) => {
      const key = text === undefined ? text : parseKey(text)
      if (key !== undefined && left.has(key)) keys.add(key)
    })
    const of = (key: Key) => {
      const codes = decisions.ledger.questions.get(keyText(key))
      return codes && { codes: [...codes] }
    }
    return [{ code: 'asked', params: {}, until: 'decision', keys, of }]
  },
}
