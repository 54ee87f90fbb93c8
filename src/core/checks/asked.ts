import { forEachInSteps } from '../../base/steps.ts'
import { type Key, KeySet, keyText, parseKey } from '../keys.ts'
import type { Check, Facts } from './check.ts'

/**
 * What was asked stays blocked until it is decided, also where the check that asked would no longer object: of 60
 * deletes over a limit of 50, approving 11 does not release the other 49. It is judged with the guards, so that all
 * other checks judge as if nothing had been asked.
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
