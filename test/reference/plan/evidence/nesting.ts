import { hash } from 'node:crypto'
import { sortedUnique } from '../../directory/normalize.ts'
import type { SourceSnapshot } from '../../directory/snapshot.ts'
import { examples } from '../../directory/wording.ts'
import { membersDifference } from '../change.ts'
import type { PlanInputs } from '../inputs.ts'
import type { Plan } from '../changes.ts'
import type { Evidence, Finding, Nesting } from './finding.ts'
import {
  absentAfter,
  type Losing,
  losingFinding,
  lostText,
  MIN_EMPTIED,
  decidesNoLoss,
  undecidedGroups,
} from './losing.ts'

/** A nested group of the last good run that is absent now. */
interface Absent {
  readonly dn: string
  /** Empty for a group outside of the filter. */
  readonly id: string
  /** Who is in the directory's group; `undefined` where the directory has none. */
  readonly people: ReadonlySet<string> | undefined
  /** How many of its people a change takes out of a group. */
  readonly lostBy: (losing: Losing) => number
}

/** A group that had groups within, and lists other strangers than in the last good run. */
interface ChangedParent {
  readonly key: string
  /** In the last good run, as a digest. */
  readonly before: string
  readonly strangers: readonly string[]
  /** The ids of the groups that it is or is within. */
  readonly around: readonly string[]
}

/** Why a group that is absent may still be there. */
interface Doubt {
  readonly group: Absent
  /** The changes that take its people out of the groups around it. */
  readonly losers: readonly Losing[]
  readonly why: string
  readonly perhaps: string
}

/**
 * Nested groups that are absent although others still list them, by the name of the last good run or perhaps by a new
 * one: most servers take a group that is deleted out of all lists. The losses of those others wait too.
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
  return doubts.flatMap(({ group, losers, why, perhaps }) => {
    const had = group.people?.size ?? countLost(group, losers)
    if (had < MIN_EMPTIED || (losers.length === 0 && !deletes.has(group.id))) return []
    const detail = `"${group.dn}" is absent, and ${why}; ${perhaps}`
    return [losingFinding('nested-group-absent', detail, losers, [group.id, deletes])]
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

/** What the losers lose, behind a conjunction; empty where it is nothing. */
function lossText(group: Absent, losers: readonly Losing[], conjunction: string): string {
  const lost = countLost(group, losers)
  return lost === 0 ? '' : `${conjunction} would lose ${lostText(losers, lost)}`
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
    const why = `${whoLists(source, around, 'still ')} it as a group within${lossText(group, losers, ' and')}`
    return [{ group, losers, why, perhaps: 'perhaps the reader may not see it any more' }]
  })
}

/**
 * Absent groups that may be among the strangers of a group around them under a new name: a server that keeps lists up
 * to date renames a group there too.
 */
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
    const lists = whoLists(
      source,
      parents.map(({ key }) => key),
    )
    const strangers = examplesLike(
      dn,
      parents.flatMap((parent) => parent.strangers),
    )
    const names = examples(losers.map(({ change }) => change.name))
    const why =
      `${lists} other DNs than before that are no entry of this read (${strangers})` +
      lossText(group, losers, `, and ${names}`)
    return [{ group, losers, why, perhaps: 'perhaps it was renamed and the reader may not see it any more' }]
  })
}

/** `"A" lists` or `"A", "B" still list`; a group without an entry in the snapshot is named by its key. */
function whoLists({ groups }: SourceSnapshot, keys: readonly string[], still = ''): string {
  const names = examples(keys.map((key) => groups.get(key)?.name ?? key))
  return `${names} ${still}${keys.length === 1 ? 'lists' : 'list'}`
}

/**
 * Examples of the DNs that differ from this one in the first part or in the rest alone; of all where there are none.
 */
function examplesLike(dn: string, others: readonly string[]): string {
  const comma = dn.indexOf(',')
  const alike = others.filter(
    (other) => other.startsWith(dn.slice(0, comma + 1)) || other.endsWith(dn.slice(comma)),
  )
  return examples(sortedUnique(alike.length === 0 ? others : alike))
}

/**
 * The DNs any of which may be the new one of a nested group that is absent, where there is such a group. What they are
 * decides whether it waits.
 */
export function doubtfulDns({ source }: PlanInputs, nesting: Nesting): readonly string[] {
  if (absentIds(source, nesting).length === 0) return []
  return sortedUnique(changedParents(source, nesting, new Set()).flatMap(({ strangers }) => strangers))
}

/**
 * The DNs at which the source shows the id of another entry than those of the groups that are absent; none where one of
 * these is outside of the filter, because its id was not read.
 *
 * @param shown the ids at `doubtfulDns`, as `Source.idsAt` gives them
 */
export function entriesOfOthers(
  { source }: PlanInputs,
  nesting: Nesting,
  shown: ReadonlyMap<string, readonly string[]>,
): ReadonlySet<string> {
  const absent = new Set(absentIds(source, nesting).map(([, id]) => id))
  if (absent.has('')) return new Set()
  const others = [...shown].filter(([, ids]) => ids.length > 0 && !ids.some((id) => absent.has(id)))
  return new Set(others.map(([dn]) => dn))
}

/** The nested groups of the last good run that this read does not have, with their DNs of then. */
function absentIds(source: SourceSnapshot, { ids }: Nesting): readonly (readonly [dn: string, id: string])[] {
  return [...ids].filter(([dn, id]) => source.nestedGroups?.has(dn) !== true && !source.seen.group.has(id))
}

function changedParents(
  source: SourceSnapshot,
  { ids, strangers: digests }: Nesting,
  others: ReadonlySet<string>,
): readonly ChangedParent[] {
  const changed = [...digests].flatMap(([key, before]) => {
    const all = strangersIn(source, key, ids)
    const strangers = all.filter((dn) => !others.has(dn))
    return strangers.length === 0 || digestOf(all) === before ? [] : [{ key, before, strangers }]
  })
  if (changed.length === 0) return []
  // One stranger of a group is enough: whatever has the group within lists it too.
  const listing = groupsListing(new Set(changed.flatMap(({ strangers: [first = ''] }) => first)), source)
  return changed.map((parent) => ({ ...parent, around: listing.get(parent.strangers[0] ?? '') ?? [] }))
}

/** What a group itself lists that is no entry of the read, and no nested group that is known by its DN; sorted. */
function strangersIn(
  source: SourceSnapshot,
  key: string,
  ids: ReadonlyMap<string, string>,
): readonly string[] {
  return sortedUnique((source.strangersOf?.(key) ?? []).filter((dn) => !ids.has(dn)))
}

function digestOf(strangers: readonly string[]): string {
  return strangers.length === 0 ? '' : hash('sha256', JSON.stringify(strangers)).slice(0, 16)
}

/** By DN, the ids of the groups that list it, or within which a group does. */
function groupsListing(
  dns: ReadonlySet<string>,
  { groups, strangersWithin }: SourceSnapshot,
): ReadonlyMap<string, readonly string[]> {
  const listing = new Map<string, string[]>()
  for (const id of groups.keys())
    for (const dn of new Set(strangersWithin?.(id)))
      if (dns.has(dn)) listing.set(dn, [...(listing.get(dn) ?? []), id])
  return listing
}

/**
 * What the next run is to know of nested groups. One that is absent and still in the directory stays what it was, and
 * so do the strangers of the groups around it until it is decided.
 */
export function nestingAfter(
  inputs: PlanInputs,
  plan: Plan,
  { nesting, otherEntries }: Evidence,
  waitingGroups: readonly string[],
): Nesting {
  const { source } = inputs
  const isAbsent = absentAfter(inputs, plan)
  const missing = [...nesting.ids].filter(([dn]) => source.nestedGroups?.has(dn) !== true)
  const absent = missing.filter(([, id]) => isAbsent(id))
  // A group outside of the filter is in no directory; as long as it is listed, it may come back.
  const outside = missing.filter(([, id]) => id === '')
  const listed = outside.length === 0 ? new Map() : groupsListing(new Set(outside.map(([dn]) => dn)), source)
  const open = new Set([...waitingGroups, ...undecidedGroups(inputs, plan)])
  const isOpen = decidesNoLoss(inputs) || absent.some(([, id]) => open.has(id))
  const changed = absent.length + outside.length === 0 ? [] : changedParents(source, nesting, otherEntries)
  const undecided = changed.filter(({ around }) => isOpen || around.some((id) => open.has(id)))
  const ids = new Map([
    ...absent,
    ...outside.filter(([dn]) => listed.has(dn) || undecided.length > 0),
    ...(source.nestedGroups ?? []),
  ])
  const parents = source.nestingGroups ?? []
  return {
    ids,
    strangers: new Map([
      ...parents.map((key) => [key, digestOf(strangersIn(source, key, ids))] as const),
      ...undecided.map(({ key, before }) => [key, before] as const),
    ]),
  }
}
