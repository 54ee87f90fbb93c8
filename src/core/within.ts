import type { Kind } from './entries/entry.ts'
import { forEachInSteps, type Steps } from '../base/steps.ts'
import { FIELDS, forEachKey, isMember, type Key, keyText, matching } from './keys.ts'
import type { Facts } from './checks/check.ts'
import { without } from './without.ts'

/** What a run is limited to, by external id. */
export interface Scope {
  readonly users: readonly string[]
  readonly groups: readonly string[]
}

export type ScopeIds = Readonly<Record<Kind, ReadonlySet<string>>>

export function idsOf({ users, groups }: Scope): ScopeIds {
  return { user: new Set(users), group: new Set(groups) }
}

/** Whether a key is about one of these entries; a membership is about its user, too. */
export function isAbout([kind, id, field, value]: Key, ids: ScopeIds): boolean {
  return ids[kind].has(id) || (isMember(field) && ids.user.has(value!))
}

/** The same without what is not about these entries, or needed for it. An entry is created with its values. */
export function* within<F extends Facts>(facts: F, ids: ScopeIds): Steps<F> {
  const { wanted, left } = facts
  const needed = new Map<string, Key>()
  const add = (key: Key): void => void needed.set(keyText(key), key)
  const take = (key: Key): void => {
    for (const need of wanted.needsOf(key)) if (!needed.has(keyText(need))) add(need)
  }
  for (const kind of ['user', 'group'] as const)
    for (const id of ids[kind]) {
      yield* forEachInSteps(wanted.keysOf(kind, id), take)
      yield
    }
  // A new group that a user joins is created for it.
  yield* forEachKey(wanted.of('group', 'create'), ([, group]) => {
    for (const id of ids.user) {
      const key: Key = ['group', group, '+member', id]
      if (wanted.has(key)) take(key)
    }
  })
  // The map grows during the loop.
  yield* forEachInSteps(needed.values(), (key) => {
    take(key)
    const [kind, id, field] = key
    if (field !== 'create' || ids[kind].has(id)) return
    for (const valued of ['name', 'email'] as const) {
      const value = wanted.keyOfValue(kind, id, valued)
      if (value !== undefined && !needed.has(keyText(value))) add(value)
    }
  })
  const isOut = (key: Key): boolean => !isAbout(key, ids) && !needed.has(keyText(key))
  const outside = [matching(wanted, FIELDS, isOut)]
  const blocked = facts.blocks.map(({ keys }) => keys)
  return { ...facts, outside, left: yield* without(left.wanted, [...outside, ...blocked]) }
}
