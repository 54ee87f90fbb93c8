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
      if (key === undefined || !left.wanted.has(key) || left.isBlocked(key)) return
      // The check kept-membership repeats its own question while it objects.
      const isAsked = (code: string): boolean =>
        code !== 'kept-membership' && decisions.isOpenFor(text!, code)
      if ([...decisions.asksOf(text!)].some(isAsked)) keys.add(key)
    })
    const of = (key: Key) => {
      const codes = decisions.asksOf(keyText(key))
      return codes.size === 0 ? undefined : { codes: [...codes] }
    }
    return [{ code: 'asked', params: {}, until: 'decision', keys, of }]
  },
}
