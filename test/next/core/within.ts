import type { Steps } from '../../../src/base/steps.ts'
import { FIELDS, isMember, type Key, keyText, matching } from './keys.ts'
import type { Facts } from './judge.ts'
import { without } from './without.ts'

/** Whether a key is about one of these entries; a membership is about its user, too. */
export function isAbout([, id, field, value]: Key, ids: ReadonlySet<string>): boolean {
  return ids.has(id) || (isMember(field) && ids.has(value!))
}

/** The same without what is not about these entries, or needed for it. An entry is created with its values. */
export function* within<F extends Facts>(facts: F, ids: ReadonlySet<string>): Steps<F> {
  const { wanted, left } = facts
  const needed = new Set<string>()
  const take = (key: Key): void => {
    for (const need of wanted.needsOf(key)) {
      const text = keyText(need)
      if (needed.has(text)) continue
      needed.add(text)
      take(need)
      if (need[2] === 'create' && !ids.has(need[1])) takeValues(need)
    }
  }
  const takeValues = ([kind, id]: Key): void => {
    for (const field of ['name', 'email'] as const) {
      const key = wanted.keyOfValue(kind, id, field)
      if (key === undefined) continue
      needed.add(keyText(key))
      take(key)
    }
  }
  for (const id of ids) {
    for (const kind of ['user', 'group'] as const) for (const key of wanted.keysOf(kind, id)) take(key)
    yield
  }
  const isOut = (key: Key): boolean => !isAbout(key, ids) && !needed.has(keyText(key))
  const outside = [matching(wanted, FIELDS, isOut)]
  const blocked = facts.blocks.map(({ keys }) => keys)
  return { ...facts, outside, left: yield* without(left.wanted, [...outside, ...blocked]) }
}
