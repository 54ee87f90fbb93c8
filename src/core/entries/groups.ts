import { type Steps, forEachInSteps } from '../../base/steps.ts'
import { listAt } from '../../base/lists.ts'

/** In place of an attribute, where others tell the members: users name the group, as their primary one too. */
export const TOLD = { byUsers: 'memberOf', byPrimaryGroup: 'primary group', inChain: 'in chain' } as const

/** The members that a group lists in one attribute, or that others tell. */
export interface MemberList {
  readonly attribute: string
  /** Ids of users; one may come twice. */
  readonly users: readonly string[]
  /** Groups of this read, where members of nested groups count, by normal DN. */
  readonly nested: readonly string[]
  /** The normal DNs of other members. */
  readonly unresolved: readonly string[]
}

/** A group as it was read, whether the sync writes it or not. */
export interface ListedGroup {
  /** Its id; without a usable one its normal DN. */
  readonly key: string
  /** Empty without a usable one, and outside of the filter. */
  readonly id: string
  /** As the server spells it. */
  readonly dn: string
  /** Without attributes that show no value. */
  readonly lists: readonly MemberList[]
  /** The groups that it names as its parents, by normal DN. */
  readonly memberOf: readonly string[]
}

/** By normal DN, all groups that were read, also those outside of the filter. */
type ListedGroups = ReadonlyMap<string, ListedGroup>

export interface GroupLists {
  readonly groups: ListedGroups
  /** Groups of the filter with any member. A fall to 0 means that members became unreadable. */
  readonly withMembers: number
  /** The attributes that the configuration names, and those of them that were read: none where others tell members. */
  readonly asked: readonly string[]
  readonly read: readonly string[]
  /** Whether members of nested groups count. */
  readonly isFlat: boolean
  /** Whether users name their groups, instead of groups their members. */
  readonly isByUsers: boolean
}

/** What a read knows of names in lists of members. */
export interface MemberNames {
  /** To be called before names are looked up: a read does not keep the index that it needed. */
  prepare(): Steps<void>
  /** The id of the user with this name, in any spelling; `null` for a name of several users. */
  idOf(name: string): string | null | undefined
  /** The normal DN, where the name is a DN. */
  dnOf(name: string): string | undefined
}

/** @param known groups of the read whose members count, by normal DN */
export function listOf(
  attribute: string,
  users: readonly string[],
  dns: readonly string[] = [],
  known: ReadonlySet<string> = new Set(),
): MemberList {
  const nested = dns.filter((dn) => known.has(dn))
  return { attribute, users, nested, unresolved: dns.filter((dn) => !known.has(dn)) }
}

/** A group and all groups within it, each once, also in circles. */
export function groupsWithin(groups: ListedGroups, group: ListedGroup): readonly ListedGroup[] {
  const within = new Set([group])
  // A set iterates over values that are added during the loop, and never twice.
  for (const { lists } of within) {
    for (const dn of lists.flatMap(({ nested }) => nested)) {
      const found = groups.get(dn)
      if (found !== undefined) within.add(found)
    }
  }
  return [...within]
}

/** The ids of the users of a group and of all groups within it; one may come twice. */
export function* flatten(groups: ListedGroups, group: ListedGroup): Steps<Iterable<string>> {
  const lists = groupsWithin(groups, group).flatMap((each) => each.lists)
  const [only] = lists
  // Most groups need no copy.
  if (only !== undefined && lists.length === 1) return only.users
  const users = new Set<string>()
  for (const list of lists) yield* forEachInSteps(list.users, (user) => users.add(user))
  return users
}

/** @param namesOf one step for each record, because it may be long */
export function* byName<R>(
  records: Iterable<R>,
  namesOf: (record: R) => readonly string[],
): Steps<ReadonlyMap<string, readonly R[]>> {
  const named = new Map<string, R[]>()
  for (const record of records) {
    yield
    for (const name of namesOf(record)) listAt(named, name).push(record)
  }
  return named
}
