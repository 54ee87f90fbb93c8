import { type Examples, examplesOf } from '../../notice.ts'
import type { NestedGroupAbsent } from '../../block.ts'
import { hash } from 'node:crypto'
import { createWithin, type GroupLists, type ListedGroup, unresolvedOf } from '../../entries/groups.ts'
import { sortedUnique } from '../../entries/normalize.ts'
import { sortedUniqueInSteps } from '../../entries/sorting.ts'
import type { EntryNow } from '../../entries/recheck.ts'
import type { SourceSnapshot } from '../../entries/snapshot.ts'
import { addAll, listAt } from '../../../base/lists.ts'
import { filterInSteps, forEachInSteps, type Steps } from '../../../base/steps.ts'
import { membersDifference } from '../change.ts'
import type { PlanInputs } from '../inputs.ts'
import type { Plan } from '../changes.ts'
import type { Evidence, Finding, Nesting } from './finding.ts'
import {
  absentAfter,
  type Losing,
  losingFinding,
  removalsOf,
  MIN_EMPTIED,
  decidesNoLoss,
  undecidedGroups,
} from './losing.ts'

/** A nested group of the last good run that is absent now. */
interface Absent {
  readonly dn: string
  /** Empty for a group outside of the filter. */
  readonly id: string
  /** The members in the directory; `undefined` where the directory lacks the group. */
  readonly people: ReadonlySet<string> | undefined
  /** How many of its members a change removes from a group. */
  readonly lostBy: (losing: Losing) => number
}

/** A group that had groups within, and lists other unresolved members than in the last good run. */
interface ChangedParent {
  readonly key: string
  /** In the last good run, as a digest. */
  readonly before: string
  readonly strangers: readonly string[]
  /** The ids of the groups that it is or is within. */
  readonly around: readonly string[]
}

interface Doubt {
  readonly group: Absent
  /** The changes that remove its members from the groups around it. */
  readonly losers: readonly Losing[]
  readonly how: NestedGroupAbsent['how']
  readonly listedBy: Examples
  readonly unresolved: Examples
}

/**
 * Absent nested groups that others still list, by their old name or perhaps by a new one: most servers remove a deleted
 * group from all lists. The removals of those others wait too.
 */
export function* hiddenGroups(
  inputs: PlanInputs,
  plan: Plan,
  losing: readonly Losing[],
  deletes: ReadonlyMap<string, string>,
  { nesting, otherEntries }: Evidence,
): Steps<Finding[]> {
  const absent = yield* absentGroups(inputs, plan, losing, nesting)
  if (absent.length === 0) return []
  const changed = yield* changedParents(inputs.source, nesting, otherEntries)
  const doubts = [
    ...(yield* stillListed(inputs.source, absent, losing)),
    ...(yield* perhapsRenamed(inputs, absent, losing, changed)),
  ]
  const found: Finding[] = []
  for (const { group, losers, ...doubt } of doubts) {
    const lost = yield* countLost(group, losers)
    const had = group.people?.size ?? lost
    if (had < MIN_EMPTIED || (losers.length === 0 && !deletes.has(group.id))) continue
    const params = { group: group.dn, ...doubt, ...removalsOf(losers, lost) }
    found.push(losingFinding({ code: 'nested-group-absent', params }, losers, [group.id, deletes]))
  }
  return found
}

function* absentGroups(
  { source, directory }: PlanInputs,
  { changes }: Plan,
  losing: readonly Losing[],
  nesting: Nesting,
): Steps<readonly Absent[]> {
  const absent = yield* absentIds(source, nesting)
  if (absent.length === 0) return []
  const leaving = changes.idsOf('delete-user')
  const lost = new Map<string, readonly string[]>()
  for (const { change } of losing) {
    yield
    const { removed } = membersDifference(change)
    lost.set(
      change.id,
      removed.filter((member) => !leaving.has(member)),
    )
  }
  return absent.map(([dn, id]) => {
    const group = directory.groups.get(id)
    const people = group && new Set(group.members)
    const lostBy = ({ change }: Losing): number => {
      const all = lost.get(change.id) ?? []
      return people === undefined ? all.length : all.filter((member) => people.has(member)).length
    }
    return { dn, id, people, lostBy }
  })
}

function* countLost({ lostBy }: Absent, losers: readonly Losing[]): Steps<number> {
  let lost = 0
  for (const loser of losers) {
    yield
    lost += lostBy(loser)
  }
  return lost
}

/** Absent groups that another one still lists by the DN of the last good run. */
function* stillListed(
  source: SourceSnapshot,
  absent: readonly Absent[],
  losing: readonly Losing[],
): Steps<readonly Doubt[]> {
  const listing = yield* groupsListing(new Set(absent.map(({ dn }) => dn)), source)
  const doubts: Doubt[] = []
  for (const group of absent) {
    const around = listing.get(group.dn)
    if (around === undefined) continue
    const losers = yield* losersAmong(new Set(around), losing)
    const listedBy = yield* namesOf(source, around)
    doubts.push({ group, losers, how: 'still-listed', listedBy, unresolved: examplesOf([]) })
  }
  return doubts
}

function losersAmong(groups: ReadonlySet<string>, losing: readonly Losing[]): Steps<Losing[]> {
  return filterInSteps(losing, ({ change }) => groups.has(change.id))
}

/** An absent group may be among a parent's unresolved members: referential integrity renames it there too. */
function* perhapsRenamed(
  { source, directory }: PlanInputs,
  absent: readonly Absent[],
  losing: readonly Losing[],
  changed: readonly ChangedParent[],
): Steps<readonly Doubt[]> {
  const doubts: Doubt[] = []
  for (const group of changed.length === 0 ? [] : absent) {
    const { dn, people, lostBy } = group
    const heldItsPeople = (id: string): boolean => {
      const members = directory.groups.get(id)?.members
      return people === undefined || members === undefined || members.some((member) => people.has(member))
    }
    const parents = yield* parentsAround(changed, heldItsPeople)
    if (parents.length === 0) continue
    const around = new Set<string>()
    for (const ids of Map.groupBy(parents, (parent) => parent.around).keys())
      yield* forEachInSteps(ids, (id) => around.add(id))
    const losers: Losing[] = []
    for (const loser of yield* losersAmong(around, losing)) {
      yield
      if (lostBy(loser) > 0) losers.push(loser)
    }
    const listedBy = yield* namesOf(
      source,
      parents.map(({ key }) => key),
    )
    const strangers = new Set<string>()
    for (const parent of parents) {
      yield
      for (const stranger of parent.strangers) strangers.add(stranger)
    }
    const unresolved = examplesLike(dn, [...strangers])
    doubts.push({ group, losers, how: 'perhaps-renamed', listedBy, unresolved })
  }
  return doubts
}

/** Those that one of these groups is or has within. Parents with the same unresolved member share the list of groups. */
function* parentsAround(
  changed: readonly ChangedParent[],
  test: (group: string) => boolean,
): Steps<readonly ChangedParent[]> {
  const parents: ChangedParent[] = []
  for (const [around, sharing] of Map.groupBy(changed, (parent) => parent.around)) {
    for (const group of around) {
      yield
      if (!test(group)) continue
      addAll(parents, sharing)
      break
    }
  }
  return parents
}

/** A group without an entry in the snapshot is named by its key. */
function* namesOf({ groups }: SourceSnapshot, keys: readonly string[]): Steps<Examples> {
  const names: string[] = []
  yield* forEachInSteps(keys, (key) => names.push(groups.get(key)?.name ?? key))
  return examplesOf(names)
}

/** Examples of DNs that differ from this one in the first part or in the rest alone; else of all. */
function examplesLike(dn: string, others: readonly string[]): Examples {
  const comma = dn.indexOf(',')
  const alike = others.filter(
    (other) => other.startsWith(dn.slice(0, comma + 1)) || other.endsWith(dn.slice(comma)),
  )
  return examplesOf(alike.length === 0 ? others : alike)
}

/** The DNs that may be the new one of an absent nested group. The entries at these DNs decide whether it waits. */
export function* doubtfulDns({ source }: PlanInputs, nesting: Nesting): Steps<readonly string[]> {
  if ((yield* absentIds(source, nesting)).length === 0) return []
  const dns = new Set<string>()
  yield* forEachInSteps(yield* changedParents(source, nesting, new Set()), ({ strangers }) => {
    for (const dn of strangers) dns.add(dn)
  })
  return yield* sortedUniqueInSteps(dns)
}

/**
 * The DNs with the id of another entry than the absent groups; none where an absent group is outside of the filter,
 * because its id was not read.
 * @param shown the entries at `doubtfulDns`, as `Source.readDns` returns them
 */
export function* entriesOfOthers(
  { source }: PlanInputs,
  nesting: Nesting,
  shown: ReadonlyMap<string, Pick<EntryNow, 'ids'>>,
): Steps<ReadonlySet<string>> {
  const absent = new Set((yield* absentIds(source, nesting)).map(([, id]) => id))
  if (absent.has('')) return new Set()
  const others = [...shown].filter(
    ([, { ids }]) => ids.group.length > 0 && !ids.group.some((id) => absent.has(id)),
  )
  return new Set(others.map(([dn]) => dn))
}

/** The nested groups of the last good run that this read lacks, with their old DNs. */
function* absentIds(
  { lists, seen }: SourceSnapshot,
  { ids }: Nesting,
): Steps<readonly (readonly [dn: string, id: string])[]> {
  const nested = yield* nestedIn(lists)
  return yield* filterInSteps([...ids], ([dn, id]) => !nested.has(dn) && !seen.group.has(id))
}

/** The ids of the groups within other groups of the read, by normal DN. */
function* nestedIn(lists: GroupLists | undefined): Steps<ReadonlyMap<string, string>> {
  const ids = new Map<string, string>()
  yield* forEachInSteps(lists?.groups.values() ?? [], (group) => {
    for (const dn of group.lists.flatMap(({ nested }) => nested)) ids.set(dn, lists?.groups.get(dn)?.id ?? '')
  })
  return ids
}

function* changedParents(
  source: SourceSnapshot,
  { ids, strangers: digests }: Nesting,
  others: ReadonlySet<string>,
): Steps<readonly ChangedParent[]> {
  const strangersIn = yield* createStrangers(source.lists, ids)
  const changed: Omit<ChangedParent, 'around'>[] = []
  for (const [key, before] of digests) {
    yield
    const all = strangersIn(key)
    const strangers = all.filter((dn) => !others.has(dn))
    if (strangers.length > 0 && digestOf(all) !== before) changed.push({ key, before, strangers })
  }
  if (changed.length === 0) return []
  // One unresolved member of a group is enough: every group around it lists that too.
  const firsts = new Set<string>()
  yield* forEachInSteps(changed, ({ strangers: [first = ''] }) => firsts.add(first))
  const listing = yield* groupsListing(firsts, source)
  const parents: ChangedParent[] = []
  yield* forEachInSteps(changed, (parent) => {
    parents.push({ ...parent, around: listing.get(parent.strangers[0] ?? '') ?? [] })
  })
  return parents
}

/** The unresolved members of a group itself, by its key, without nested groups known by DN; sorted. */
function* createStrangers(
  lists: GroupLists | undefined,
  ids: ReadonlyMap<string, string>,
): Steps<(key: string) => readonly string[]> {
  const byKey = new Map<string, ListedGroup>()
  if (lists?.isFlat === true)
    yield* forEachInSteps(lists.groups.values(), (group) => byKey.set(group.key, group))
  return (key) => {
    const group = byKey.get(key)
    return group === undefined ? [] : sortedUnique(unresolvedOf(group).filter((dn) => !ids.has(dn)))
  }
}

function digestOf(strangers: readonly string[]): string {
  return strangers.length === 0 ? '' : hash('sha256', JSON.stringify(strangers)).slice(0, 16)
}

/** By DN, the ids of the groups that list it, or within which a group does. */
function* groupsListing(
  dns: ReadonlySet<string>,
  { groups, lists }: SourceSnapshot,
): Steps<ReadonlyMap<string, readonly string[]>> {
  const within = yield* createWithin(lists)
  const listing = new Map<string, string[]>()
  for (const id of groups.keys()) {
    yield
    for (const dn of new Set(within(id).flatMap(unresolvedOf))) if (dns.has(dn)) listAt(listing, dn).push(id)
  }
  return listing
}

/** For the next run. An absent group that the directory still has stays as it was, with its parents' members. */
export function* nestingAfter(
  inputs: PlanInputs,
  plan: Plan,
  { nesting, otherEntries }: Evidence,
  waitingGroups: readonly string[],
): Steps<Nesting> {
  const { source } = inputs
  const isAbsent = absentAfter(inputs, plan)
  const nested = yield* nestedIn(source.lists)
  const missing = yield* filterInSteps([...nesting.ids], ([dn]) => !nested.has(dn))
  const absent = missing.filter(([, id]) => isAbsent(id))
  // A group outside of the filter is in no directory; while it is listed, it may come back.
  const outside = missing.filter(([, id]) => id === '')
  const listed =
    outside.length === 0 ? new Map() : yield* groupsListing(new Set(outside.map(([dn]) => dn)), source)
  const open = yield* undecidedGroups(inputs, plan, waitingGroups)
  const isOpen = decidesNoLoss(inputs) || absent.some(([, id]) => open.has(id))
  const changed =
    absent.length + outside.length === 0 ? [] : yield* changedParents(source, nesting, otherEntries)
  const undecided = isOpen ? changed : yield* parentsAround(changed, (id) => open.has(id))
  const ids = new Map([
    ...absent,
    ...outside.filter(([dn]) => listed.has(dn) || undecided.length > 0),
    ...nested,
  ])
  const strangersIn = yield* createStrangers(source.lists, ids)
  const strangers = new Map<string, string>()
  for (const { key, lists } of source.lists?.groups.values() ?? []) {
    yield
    if (lists.some((list) => list.nested.length > 0)) strangers.set(key, digestOf(strangersIn(key)))
  }
  yield* forEachInSteps(undecided, ({ key, before }) => strangers.set(key, before))
  return { ids, strangers }
}
