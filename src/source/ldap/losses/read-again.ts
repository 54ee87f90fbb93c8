import { PresenceFilter } from 'ldapts'
import type { GroupPlace, UserPlace } from '../compile.ts'
import { dnKey } from '../dn.ts'
import { type LdapEntry, lookupIn } from '../entry.ts'
import { anyOf, bothOf } from '../filter.ts'
import { recordsOf } from '../global-catalog.ts'
import type { GroupRecord, ImageUsers, UserRecord } from '../image.ts'
import { createChain } from '../membership/in-chain.ts'
import { isMemberUid, type MemberIndex } from '../membership/members.ts'
import { type Membership, membershipOf } from '../membership/membership.ts'
import { MEMBER_OF } from '../membership/names.ts'
import { withChain } from '../read-groups.ts'
import { primaryNames } from '../read-image.ts'
import { type Reading, readPlace } from '../read-place.ts'
import { tryPage } from '../search.ts'
import { valueBytes } from '../values.ts'
import {
  type SecondLook,
  attributesOfGroups,
  type MemberList,
  type Losses,
  type People,
  takeGroup,
  type Unresolved,
} from './second-look.ts'
import { resolveUnknown } from './unknown.ts'
import { UsersNow } from './users-now.ts'

const IDS_PER_SEARCH = 100

export interface SecondReading {
  /** The losing groups by id, as they are now: none, or several of one id. */
  readonly groups: ReadonlyMap<string, readonly GroupRecord[]>
  readonly membership: Membership
  /** The attributes with the members; empty where members are read otherwise. */
  readonly listed: readonly string[]
  /** Every reread group, by normal DN. */
  readonly lists: ReadonlyMap<string, MemberList>
  /** The groups that each looked-up user names, by normal DN. */
  readonly memberOf: ReadonlyMap<string, readonly string[]>
  /** Why a group's list is not understood, by normal DN. */
  readonly unresolved: ReadonlyMap<string, Unresolved>
  /** Users without the attribute by which groups list them. */
  readonly nameless: ReadonlySet<string>
  readonly renamed: ReadonlySet<string>
}

export async function readAgain(
  reading: Reading,
  compiled: SecondLook['compiled'],
  losses: Losses,
): Promise<SecondReading> {
  const records = recordsOf(reading, compiled)
  const { users: before } = losses.image
  const index = records.createIndex(before)
  for (let number = 0; number < before.size; number += 1) index.addUser(number, before.at(number))
  const look: SecondLook = { reading, compiled, losses, records, index, lists: new Map() }
  const listed = await readLists(look)
  const people = await readPeople(look)
  const { found, renamedUsers, unresolved } = await resolveUnknown(look, listed, people)
  const users = new UsersNow(before, people.records, renamedUsers)
  const now = records.createIndex(users)
  for (const [number, user] of users.moved()) now.addUser(number, user)
  const chained = await withChains(look, listed, users)
  const groups = chained.map((group) => withUsersNow(group, now, users))
  const inner = found.map((group) => withUsersNow(group, now, users))
  const image = { users, groups, others: [...untouched(look), ...inner] }
  return {
    groups: Map.groupBy(groups, ({ ids }) => ids[0] ?? ''),
    membership: membershipOf(image, compiled.groups),
    listed: records.listed,
    lists: look.lists,
    memberOf: people.memberOf,
    unresolved,
    nameless: namelessOf(people, records.listed),
    renamed: await renamedSince(look, groups),
  }
}

export function showsAll({ silent }: MemberList, { listed }: Pick<SecondReading, 'listed'>): boolean {
  return listed.length > 0 && silent.length === 0
}

/** Where groups list `uid`s, a user without a uid may be any of them. */
function namelessOf({ records }: People, listed: readonly string[]): ReadonlySet<string> {
  if (!listed.some(isMemberUid)) return new Set()
  const nameless = records.filter(({ uids }) => uids.length === 0)
  return new Set(nameless.flatMap(({ id }) => id ?? []))
}

/** The losing groups as they are now, wherever below the bases. */
async function readLists(look: SecondLook): Promise<readonly GroupRecord[]> {
  const { reading, compiled, losses } = look
  const found: GroupRecord[] = []
  await readByIds(reading, compiled.groups, [...losses.lost.keys()], attributesOfGroups(look), (entry) =>
    found.push(takeGroup(look, entry)),
  )
  return found
}

async function readPeople({ reading, compiled, losses, records }: SecondLook): Promise<People> {
  const place = compiled.users
  const ids = new Set([...losses.lost.values()].flat())
  const missing = new Set(ids)
  const before = new Map<string, UserRecord>()
  for (const user of losses.image.users)
    if (user.id !== undefined && ids.has(user.id)) before.set(user.id, user)
  const found: UserRecord[] = []
  const memberOf = new Map<string, readonly string[]>()
  const attributes = [...new Set([place.map.id, ...records.userAttributes, MEMBER_OF])]
  await readByIds(reading, place, [...ids], attributes, (entry, id) => {
    missing.delete(id)
    memberOf.set(id, [...(memberOf.get(id) ?? []), ...lookupIn(entry)(MEMBER_OF).map(dnKey)])
    found.push(records.userOf(entry, before.get(id)?.disabled))
  })
  return { records: found, memberOf, missing }
}

/** Ignores the sync's filter. */
async function readByIds(
  reading: Reading,
  place: UserPlace | GroupPlace,
  ids: readonly string[],
  attributes: readonly string[],
  onEntry: (entry: LdapEntry, id: string) => void,
): Promise<void> {
  const attribute = place.map.id
  const wanted = new Set(ids)
  for (let at = 0; at < ids.length; at += IDS_PER_SEARCH) {
    const values = ids.slice(at, at + IDS_PER_SEARCH).flatMap((id) => valueBytes(attribute, id))
    if (values.length === 0) continue
    const where = {
      ...place,
      filter: anyOf(attribute, values),
      filterText: `for ${values.length} values of ${attribute}`,
    }
    await readPlace(reading, where, attributes, (entry) => {
      for (const id of lookupIn(entry)(attribute)) if (wanted.has(id)) onEntry(entry, id)
    })
  }
}

/**
 * The group with the current users of its list. A DN of the first read still stands for its user, who may have been
 * renamed after the list was read, unless another entry has it now.
 */
function withUsersNow(group: GroupRecord, now: MemberIndex, people: UsersNow): GroupRecord {
  const { users, nonUsers } = now.resolve(group.nonUsers)
  const known = group.users.map((number) => people.movedTo(people.dnOf(number)) ?? number)
  return { ...group, users: [...known, ...users], nonUsers }
}

async function withChains(
  { reading, compiled: { users: place, groups }, records }: SecondLook,
  listed: readonly GroupRecord[],
  users: ImageUsers,
): Promise<readonly GroupRecord[]> {
  if (groups.nested !== 'in-chain') return listed
  const chain = await createChain(reading, place, groups, records.primary, primaryNames(users))
  const chained: GroupRecord[] = []
  for (const group of listed) chained.push(withChain(group, await chain(group.dn)))
  return chained
}

/** The groups of the first read that were not read again; only nested groups need them. */
function untouched({ losses: { image, lost }, compiled, lists }: SecondLook): readonly GroupRecord[] {
  if (compiled.groups.nested !== 'flatten') return []
  const isOld = ({ dn, ids }: GroupRecord) => lists.has(dnKey(dn)) || ids.some((id) => lost.has(id))
  return [...image.others, ...image.groups].filter((group) => !isOld(group))
}

/** Users name groups by DN: a group whose DN has changed was read twice for nothing. */
async function renamedSince(
  { reading, compiled: { groups: place } }: SecondLook,
  groups: readonly GroupRecord[],
): Promise<ReadonlySet<string>> {
  const dns = new Map(groups.map(({ ids, dn }) => [ids[0] ?? '', dnKey(dn)]))
  const renamed = new Set(dns.keys())
  await readByIds(reading, place, [...dns.keys()], [place.map.id], ({ dn }, id) => {
    if (dns.get(id) === dnKey(dn)) renamed.delete(id)
  })
  return renamed
}

/** Whether the bind account can read `memberOf` of any user. */
export async function isMemberOfShown(
  { connection, pageSize }: Reading,
  users: UserPlace,
  { memberOf }: Pick<SecondReading, 'memberOf'>,
): Promise<boolean> {
  for (const groups of memberOf.values()) if (groups.length > 0) return true
  if (pageSize === undefined) return false
  const filter = bothOf(users.filter, new PresenceFilter({ attribute: MEMBER_OF }))
  const search = {
    ...users,
    filter,
    filterText: `(&${users.filterText}(${MEMBER_OF}=*))`,
    attributes: [MEMBER_OF],
  }
  let isShown = false
  for (const base of users.bases) {
    await tryPage(connection, { ...search, base, pageSize: 1 }, (entry) => {
      isShown ||= lookupIn(entry)(MEMBER_OF).length > 0
    })
  }
  return isShown
}
