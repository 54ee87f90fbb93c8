import type { Steps } from '../base/steps.ts'
import { FIELDS, isMember, type Key, keyText, matching } from './keys.ts'
import { type Left, without } from './without.ts'

/** Whether a key is about one of these entries; a membership is about its user, too. */
export function isAbout([, id, field, value]: Key, ids: ReadonlySet<string>): boolean {
  return ids.has(id) || (isMember(field) && ids.has(value!))
}

/** Of what is left, the keys about these entries, and what those need. */
export function* within(left: Left, ids: ReadonlySet<string>): Steps<Left> {
  const needed = new Set<string>()
  const take = (key: Key): void => {
    for (const need of left.wanted.needsOf(key)) {
      const text = keyText(need)
      if (needed.has(text)) continue
      needed.add(text)
      take(need)
    }
  }
  for (const id of ids) {
    for (const kind of ['user', 'group'] as const) for (const key of left.wanted.keysOf(kind, id)) take(key)
    yield
  }
  const isOut = (key: Key): boolean => !left.has(key) || (!isAbout(key, ids) && !needed.has(keyText(key)))
  return yield* without(left.wanted, [matching(left.wanted, FIELDS, isOut)])
}
