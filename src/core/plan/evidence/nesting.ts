import { type Examples, examplesOf } from '../../notice.ts'
import type { NestedGroupAbsent } from '../../block.ts'
import { hash } from 'node:crypto'
import { createWithin, type GroupLists, unresolvedOf } from '../../entries/groups.ts'
import { sortedUnique } from '../../entries/normalize.ts'
import type { EntryNow } from '../../entries/recheck.ts'
import type { SourceSnapshot } from '../../entries/snapshot.ts'
import { listAt } from '../../../base/lists.ts'
import type { Steps } from '../../../base/steps.ts'
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
export function hiddenGroups(
  inputs: PlanInputs,
  plan: Plan,
  losing: readonly Losing[],
  deletes: ReadonlyMap<string, string>,
  { nesting, otherEntries }: Evidence,
): Finding[] {
  const absent = absentGroups(inputs, plan, losing, nesting)
  if (absent.length === 0) return []
  const doubts = [
    ...stillListed(inputs.source, absent, losing),
    ...perhapsRenamed(inputs, absent, losing, changedParents(inputs.source, nesting, otherEntries)),
  ]
  return doubts.flatMap(({ group, losers, ...doubt }) => {
    const had = group.people?.size ?? countLost(group, losers)
    if (had < MIN_EMPTIED || (losers.length === 0 && !deletes.has(group.id))) return []
    const params = { group: group.dn, ...doubt, ...removalsOf(losers, countLost(group, losers)) }
    return [losingFinding({ code: 'nested-group-absent', params }, losers, [group.id, deletes])]
  })
}

function absentGroups(
  { source, directory }: PlanInputs,
  { changes }: Plan,
  losing: readonly Losing[],
  nesting: Nesting,
): readonly Absent[] {
  const absent = absentIds(source, nesting)
  if (absent.length === 0) return []
  const leaving = changes.idsOf('delete-user')
  const lost = new Map(
    losing.map(({ change }) => {
      return [change.id, membersDifference(change).removed.filter((member) => !leaving.has(member))] as const
    }),
  )
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

function countLost({ lostBy }: Absent, losers: readonly Losing[]): number {
  return losers.reduce((sum, loser) => sum + lostBy(loser), 0)
}

/** Absent groups that another one still lists by the DN of the last good run. */
function stillListed(
  source: SourceSnapshot,
  absent: readonly Absent[],
  losing: readonly Losing[],
): readonly Doubt[] {
  const listing = groupsListing(new Set(absent.map(({ dn }) => dn)), source)
  return absent.flatMap((group) => {
    const around = listing.get(group.dn) ?? []
    if (around.length === 0) return []
    const losers = losing.filter(({ change }) => around.includes(change.id))
    return [
      { group, losers, how: 'still-listed', listedBy: namesOf(source, around), unresolved: examplesOf([]) },
    ]
  })
}

/** An absent group may be among a parent's unresolved members: referential integrity renames it there too. */
function perhapsRenamed(
  { source, directory }: PlanInputs,
  absent: readonly Absent[],
  losing: readonly Losing[],
  changed: readonly ChangedParent[],
): readonly Doubt[] {
  if (changed.length === 0) return []
  return absent.flatMap((group) => {
    const { dn, people, lostBy } = group
    const heldItsPeople = (id: string): boolean => {
      const members = directory.groups.get(id)?.members
      return people === undefined || members === undefined || members.some((member) => people.has(member))
    }
    const parents = changed.filter(({ around }) => around.some(heldItsPeople))
    if (parents.length === 0) return []
    const around = new Set(parents.flatMap((parent) => parent.around))
    const losers = losing.filter((each) => around.has(each.change.id) && lostBy(each) > 0)
    const listedBy = namesOf(
      source,
      parents.map(({ key }) => key),
    )
    const unresolved = examplesLike(
      dn,
      parents.flatMap((parent) => parent.strangers),
    )
    return [{ group, losers, how: 'perhaps-renamed', listedBy, unresolved }]
  })
}

/** A group without an entry in the snapshot is named by its key. */
function namesOf({ groups }: SourceSnapshot, keys: readonly string[]): Examples {
  return examplesOf(keys.map((key) => groups.get(key)?.name ?? key))
}

/** Examples of DNs that differ from this one in the first part or in the rest alone; else of all. */
function examplesLike(dn: string, others: readonly string[]): Examples {
  const comma = dn.indexOf(',')
  const alike = others.filter(
    (other) => other.startsWith(dn.slice(0, comma + 1)) || other.endsWith(dn.slice(comma)),
  )
  return examplesOf(sortedUnique(alike.length === 0 ? others : alike))
}

/** The DNs that may be the new one of an absent nested group. The entries at these DNs decide whether it waits. */
export function doubtfulDns({ source }: PlanInputs, nesting: Nesting): readonly string[] {
  if (absentIds(source, nesting).length === 0) return []
  return sortedUnique(changedParents(source, nesting, new Set()).flatMap(({ strangers }) => strangers))
}

/**
 * The DNs with the id of another entry than the absent groups; none where an absent group is outside of the filter,
 * because its id was not read.
 * @param shown the entries at `doubtfulDns`, as `Source.readDns` returns them
 */
export function entriesOfOthers(
  { source }: PlanInputs,
  nesting: Nesting,
  shown: ReadonlyMap<string, Pick<EntryNow, 'ids'>>,
): ReadonlySet<string> {
  const absent = new Set(absentIds(source, nesting).map(([, id]) => id))
  if (absent.has('')) return new Set()
  const others = [...shown].filter(
    ([, { ids }]) => ids.group.length > 0 && !ids.group.some((id) => absent.has(id)),
  )
  return new Set(others.map(([dn]) => dn))
}

/** The nested groups of the last good run that this read lacks, with their old DNs. */
function absentIds(
  { lists, seen }: SourceSnapshot,
  { ids }: Nesting,
): readonly (readonly [dn: string, id: string])[] {
  const nested = nestedIn(lists)
  return [...ids].filter(([dn, id]) => !nested.has(dn) && !seen.group.has(id))
}

/** The ids of the groups within other groups of the read, by normal DN. */
function nestedIn(lists: GroupLists | undefined): ReadonlyMap<string, string> {
  const ids = new Map<string, string>()
  for (const group of lists?.groups.values() ?? [])
    for (const dn of group.lists.flatMap(({ nested }) => nested)) ids.set(dn, lists?.groups.get(dn)?.id ?? '')
  return ids
}

function changedParents(
  source: SourceSnapshot,
  { ids, strangers: digests }: Nesting,
  others: ReadonlySet<string>,
): readonly ChangedParent[] {
  const strangersIn = createStrangers(source.lists, ids)
  const changed = [...digests].flatMap(([key, before]) => {
    const all = strangersIn(key)
    const strangers = all.filter((dn) => !others.has(dn))
    return strangers.length === 0 || digestOf(all) === before ? [] : [{ key, before, strangers }]
  })
  if (changed.length === 0) return []
  // One unresolved member of a group is enough: every group around it lists that too.
  const listing = groupsListing(new Set(changed.flatMap(({ strangers: [first = ''] }) => first)), source)
  return changed.map((parent) => ({ ...parent, around: listing.get(parent.strangers[0] ?? '') ?? [] }))
}

/** The unresolved members of a group itself, by its key, without nested groups known by DN; sorted. */
function createStrangers(
  lists: GroupLists | undefined,
  ids: ReadonlyMap<string, string>,
): (key: string) => readonly string[] {
  const groups = lists?.isFlat === true ? [...lists.groups.values()] : []
  const byKey = new Map(groups.map((group) => [group.key, group]))
  return (key) => {
    const group = byKey.get(key)
    return group === undefined ? [] : sortedUnique(unresolvedOf(group).filter((dn) => !ids.has(dn)))
  }
}

function digestOf(strangers: readonly string[]): string {
  return strangers.length === 0 ? '' : hash('sha256', JSON.stringify(strangers)).slice(0, 16)
}

/** By DN, the ids of the groups that list it, or within which a group does. */
function groupsListing(
  dns: ReadonlySet<string>,
  { groups, lists }: SourceSnapshot,
): ReadonlyMap<string, readonly string[]> {
  const within = createWithin(lists)
  const listing = new Map<string, string[]>()
  for (const id of groups.keys())
    for (const dn of new Set(within(id).flatMap(unresolvedOf))) if (dns.has(dn)) listAt(listing, dn).push(id)
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
  const nested = nestedIn(source.lists)
  const missing = [...nesting.ids].filter(([dn]) => !nested.has(dn))
  const absent = missing.filter(([, id]) => isAbsent(id))
  // A group outside of the filter is in no directory; while it is listed, it may come back.
  const outside = missing.filter(([, id]) => id === '')
  const listed = outside.length === 0 ? new Map() : groupsListing(new Set(outside.map(([dn]) => dn)), source)
  const open = new Set([...waitingGroups, ...(yield* undecidedGroups(inputs, plan))])
  const isOpen = decidesNoLoss(inputs) || absent.some(([, id]) => open.has(id))
  const changed = absent.length + outside.length === 0 ? [] : changedParents(source, nesting, otherEntries)
  const undecided = changed.filter(({ around }) => isOpen || around.some((id) => open.has(id)))
  const ids = new Map([
    ...absent,
    ...outside.filter(([dn]) => listed.has(dn) || undecided.length > 0),
    ...nested,
  ])
  const groups = [...(source.lists?.groups.values() ?? [])]
  const parents = groups.filter(({ lists }) => lists.some((list) => list.nested.length > 0))
  const strangersIn = createStrangers(source.lists, ids)
  return {
    ids,
    strangers: new Map([
      ...parents.map(({ key }) => [key, digestOf(strangersIn(key))] as const),
      ...undecided.map(({ key, before }) => [key, before] as const),
    ]),
  }
}
