import { forEachInSteps } from '../../base/steps.ts'
import type { FactsOf } from '../block.ts'
import type { Rejection } from '../decisions.ts'
import { type Key, KeySet, keyText, parseKey, wholeOf } from '../keys.ts'
import type { Check, Facts } from './check.ts'

/** What an operator rejected; of a delete all of it, so that the user keeps its memberships, too. */
export const rejected: Check<Facts> = {
  name: 'rejected',
  *judge({ wanted, decisions }) {
    const keys = new KeySet()
    const rejections = new Map<string, Rejection>()
    yield* forEachInSteps(decisions.ledger.rejections, ([text, rejection]) => {
      const key = parseKey(text)
      const whole = key && wholeOf(key)
      if (whole === undefined || !wanted.has(whole)) return
      keys.add(whole)
      rejections.set(keyText(whole), rejection)
    })
    const of = (key: Key): FactsOf<'rejected'> | undefined => {
      const rejection = rejections.get(keyText(key))
      return rejection && { ...rejection, at: rejection.at.toISOString() }
    }
    return [{ code: 'rejected', params: {}, until: 'decision', keys, of }]
  },
}
