import type { Steps } from '../base/steps.ts'
import { isMember, type Key, keyText } from './keys.ts'
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
  return yield* without(left.wanted, (key) => {
    if (!left.has(key)) return true
    return !isAbout(key, ids) && !needed.has(keyText(key))
  })
}
