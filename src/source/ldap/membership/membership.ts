import { byName } from '../../../core/entries/by-name.ts'
import type { GroupPlace } from '../compile.ts'
import { dnKey, normalizeDn } from '../dn.ts'
import type { GroupRecord, ImageUsers, LdapImage, UserRecord } from '../image.ts'
import { flatten, type GroupNode, groupsWithin } from './nested.ts'

export interface Membership {
  /** User ids; an id may come twice. */
  membersOf(group: GroupRecord): Iterable<string>
  /** Unresolved members, as the group spells them. */
  strangersIn(group: GroupRecord): readonly string[]
  /** How many of these are groups of the sync, where nested groups do not count. */
  nestedIn(group: GroupRecord): number
  /** The normal DNs of unresolved members of the group and all groups within it. */
  strangersWithin(group: GroupRecord): readonly string[]
  /** Where groups are flattened, all known groups by normal DN. */
  readonly known: ReadonlyMap<string, GroupRecord>
  /** The known groups that a known group lists, by normal DN. */
  nested(): ReadonlyMap<string, GroupRecord>
  /** The normal DNs of the known groups that list a known group. */
  nesting(): readonly string[]
  /** The normal DNs of unresolved members that this known group itself lists. */
  strangersOf(dn: string): readonly string[]
  /** The group and, where groups are flattened, all known groups within it. */
  within(group: GroupRecord): readonly GroupRecord[]
  /** Whether the group has members, apart from users whose primary group it is. */
  readonly hasListed: (group: GroupRecord) => boolean
}

export function membershipOf(image: LdapImage, place: GroupPlace): Membership {
  const { groups, others } = image
  const { nested } = place
  const direct = directMembership(image, nested)
  const records = byKey(nested === 'flatten' ? [...others, ...groups] : [])
  const parents = byName(records.keys(), (key) => records.get(key)?.memberOf ?? [])
  const nodes = new Map<string, GroupNode>()
  for (const [key, record] of records) {
    const children = record.nonUsers.map(normalizeDn).filter((dn) => dn !== undefined)
    nodes.set(key, {
      users: direct.membersOf(key, record),
      groups: [...children, ...(parents.get(key) ?? [])],
    })
  }

  function isKnown(dn: string): boolean {
    return nodes.has(dn)
  }

  function strangersIn(group: GroupRecord): readonly string[] {
    return group.nonUsers.filter((value) => !isKnown(normalizeDn(value) ?? ''))
  }

  function within(group: GroupRecord): readonly GroupRecord[] {
    if (nested !== 'flatten') return [group]
    return [...groupsWithin(nodes, dnKey(group.dn))].flatMap((key) => records.get(key) ?? [])
  }

  return {
    nestedIn: nested === 'direct' ? createNestedCount(groups) : () => 0,
    membersOf: (group) => {
      const key = dnKey(group.dn)
      return nested === 'flatten' ? flatten(nodes, key) : direct.membersOf(key, group)
    },
    strangersIn,
    strangersWithin: (group) =>
      within(group).flatMap((each) => strangersIn(each).flatMap((value) => normalizeDn(value) ?? [])),
    nested() {
      const listed = [...nodes.values()].flatMap(({ groups: children }) => [...children])
      return new Map(
        listed.flatMap((key) => {
          const record = records.get(key)
          return record === undefined ? [] : [[key, record] as const]
        }),
      )
    },
    known: records,
    nesting: () => [...nodes].filter(([, { groups: children }]) => children.some(isKnown)).map(([dn]) => dn),
    strangersOf: (dn) => (nodes.get(dn)?.groups ?? []).filter((child) => !isKnown(child)),
    within,
    hasListed: direct.hasListed,
  }
}

function createNestedCount(groups: readonly GroupRecord[]) {
  let dns: ReadonlySet<string> | undefined
  return ({ nonUsers }: GroupRecord): number => {
    if (nonUsers.length === 0) return 0
    const known = (dns ??= new Set(groups.map(({ dn }) => dnKey(dn))))
    return nonUsers.filter((value) => known.has(normalizeDn(value) ?? '')).length
  }
}

/** Without the groups within it. */
function directMembership({ users }: LdapImage, nested: GroupPlace['nested']) {
  const naming = membersBy(users, ({ memberOf }) => (nested === 'in-chain' ? [] : memberOf))
  const primary = membersBy(users, ({ primaryGroup }) => (primaryGroup === undefined ? [] : [primaryGroup]))
  const known = seenIds(nested === 'in-chain' ? users : [])
  return {
    membersOf(key: string, group: GroupRecord): string[] {
      return [
        ...group.users.map((number) => users.idOf(number)).filter((id) => id !== undefined),
        ...(naming.get(key) ?? []).map(({ id }) => id),
        ...group.primaryNames.flatMap((name) => primary.get(name) ?? []).map(({ id }) => id),
        ...group.chained.filter((id) => known.has(id)),
      ]
    },
    hasListed: ({ users: listed, nonUsers, chained, dn }: GroupRecord): boolean =>
      listed.length + nonUsers.length + chained.length > 0 || naming.has(dnKey(dn)),
  }
}

/** The members that name a group, by their name of it. */
function membersBy(
  users: ImageUsers,
  namesOf: (user: UserRecord) => readonly string[],
): ReadonlyMap<string, readonly NamingMember[]> {
  return byName(namingMembers(users, namesOf), ({ names }) => names)
}

/** A record is built on access, so only what is needed is kept. */
interface NamingMember {
  readonly id: string
  readonly names: readonly string[]
}

function* namingMembers(
  users: ImageUsers,
  namesOf: (user: UserRecord) => readonly string[],
): Generator<NamingMember, undefined> {
  for (const user of users.naming()) if (user.id !== undefined) yield { id: user.id, names: namesOf(user) }
  return undefined
}

function byKey(groups: readonly GroupRecord[]): ReadonlyMap<string, GroupRecord> {
  return new Map(groups.map((group) => [dnKey(group.dn), group]))
}

/** Of all accounts that do not count as gone. */
function seenIds(users: Iterable<UserRecord>): ReadonlySet<string> {
  const seen = new Set<string>()
  for (const { ids, disabled } of users) if (disabled !== 'delete') for (const id of ids) seen.add(id)
  return seen
}
