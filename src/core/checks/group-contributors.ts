import { forEachInSteps, type Steps } from '../../base/steps.ts'
import type { SourceSnapshot } from '../entries/snapshot.ts'

/** What a group listed: users by attribute, and groups, by key. */
export interface Contributor {
  readonly dn: string
  /** How many users each attribute listed that showed a value, by its name in lower case. */
  readonly lists: ReadonlyMap<string, number>
  /** Attributes that showed no user while a removal was blocked. */
  readonly doubted?: ReadonlySet<string>
  readonly nested: readonly string[]
}

/** By the key of a group, what its members came from. */
export type Contributors = ReadonlyMap<string, Contributor>

export function* contributorsOf({ lists }: SourceSnapshot): Steps<Contributors> {
  const all = new Map<string, Contributor>()
  const groups = lists?.groups ?? new Map()
  yield* forEachInSteps(lists?.groups.values() ?? [], (group) => {
    if (group.lists.length === 0) return
    const users = new Map(group.lists.map((list) => [list.attribute.toLowerCase(), list.users.length]))
    const nested = group.lists.flatMap((list) => list.nested.map((dn) => groups.get(dn)?.key ?? dn))
    all.set(group.key, { dn: group.dn, lists: users, nested })
  })
  return all
}

/** The keys of a group and of all groups within it, each once, also in circles. */
export function keysWithin(contributors: Contributors, key: string): ReadonlySet<string> {
  const within = new Set([key])
  // A set iterates over values that are added during the loop, and never twice.
  for (const each of within) for (const nested of contributors.get(each)?.nested ?? []) within.add(nested)
  return within
}
