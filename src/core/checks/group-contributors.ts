import type { Contributor, Contributors, RunFacts } from './check.ts'
import { type Steps, copyInSteps, forEachInSteps } from '../../base/steps.ts'
import type { SourceSnapshot } from '../entries/snapshot.ts'

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

/**
 * What the next run compares groups with. While a removal of a group is blocked, its lists stay as they were, and those
 * that show no user now stay in doubt whatever they show later. An absent group that was not deleted stays as it was.
 */
export function* nextContributors(facts: RunFacts, deleted: ReadonlySet<string>): Steps<Contributors> {
  const { source } = facts.wanted.snapshots
  const next = yield* copyInSteps(yield* contributorsOf(source))
  const before = facts.states.groups
  if (before === undefined) return next
  const kept = yield* keptGroups(facts, before, deleted)
  const present = new Set<string>()
  yield* forEachInSteps(source.lists?.groups.values() ?? [], ({ key }) => present.add(key))
  yield* forEachInSteps(before, ([key, was]) => {
    const is = next.get(key)
    const nested = was.nested.filter((each) => kept.has(each))
    if (kept.has(key)) next.set(key, present.has(key) ? merged(was, is) : was)
    else if (is !== undefined && nested.length > 0)
      next.set(key, { ...is, nested: [...new Set([...is.nested, ...nested])] })
  })
  return next
}

/** Absent groups that were not deleted, and groups about whose members nothing was decided, with all within them. */
function* keptGroups(
  { wanted, left }: RunFacts,
  before: Contributors,
  deleted: ReadonlySet<string>,
): Steps<ReadonlySet<string>> {
  const kept = new Set<string>()
  const keep = (group: string): void => {
    for (const key of keysWithin(before, group)) kept.add(key)
  }
  yield* forEachInSteps(wanted.absent.group, (group) => !deleted.has(group) && kept.add(group))
  yield* forEachInSteps(before.keys(), (group) => {
    if (wanted.isUnjudged('group', group)) keep(group)
  })
  yield* forEachInSteps(wanted.members, ([group, { removed }]) => {
    if (removed.some((id) => !left.has(['group', group, '-member', id]))) keep(group)
  })
  return kept
}

function merged(was: Contributor, is: Contributor | undefined): Contributor {
  const now = is?.lists ?? new Map<string, number>()
  const more = [...was.lists].filter(([attribute, users]) => users > (now.get(attribute) ?? 0))
  const silent = more.filter(([attribute]) => (now.get(attribute) ?? 0) === 0)
  return {
    dn: is?.dn ?? was.dn,
    lists: new Map([...now, ...more]),
    doubted: new Set([...(was.doubted ?? []), ...silent.map(([attribute]) => attribute)]),
    nested: [...new Set([...was.nested, ...(is?.nested ?? [])])],
  }
}
