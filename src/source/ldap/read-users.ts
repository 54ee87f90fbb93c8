import type { Collector } from '../collect.ts'
import type { Lookup } from '../mapping.ts'
import type { GroupPlace, UserPlace } from './compile.ts'
import { bothOf } from './filter.ts'
import { createMemberIndex, type MemberIndex } from './members.ts'
import { createMemberOf, type MemberOf } from './member-of.ts'
import type { LdapEntry } from './message.ts'
import { createPrimaryGroups, type PrimaryGroups } from './primary-group.ts'
import { type Reading, readPlace } from './read-place.ts'
import { lookupIn } from './values.ts'

/** What the groups want to know of the users: who is meant by a member, and who says to be in a group. */
export interface Members {
  readonly index: MemberIndex
  readonly memberOf: MemberOf
  readonly primary: PrimaryGroups
}

export function createMembers(groups: GroupPlace | undefined): Members {
  const fromGroups = groups?.membersFrom === 'member'
  return {
    index: createMemberIndex(fromGroups ? (groups.map.members ?? 'member') : undefined),
    memberOf: createMemberOf(groups?.membersFrom === 'memberOf'),
    primary: createPrimaryGroups(groups?.primaryGroup),
  }
}

/** Reads the users into the collector and the members. Throws like `readPlace`. */
export async function readUsers(
  reading: Reading,
  place: UserPlace,
  collector: Collector,
  members: Members,
): Promise<void> {
  const { map, disabled } = place
  const locked = await readDisabled(reading, place)
  const watched = [...map.attributes, ...(disabled?.attributes ?? [])]
  const more = [
    ...members.index.attributes,
    ...members.memberOf.attributes,
    ...members.primary.userAttributes,
  ]
  const unseen = new Set(watched)
  let entries = 0
  await readPlace(reading, place, [...new Set([...watched, ...more])], (entry) => {
    entries += 1
    for (const name of unseen) if (entry.attributes.has(name.toLowerCase())) unseen.delete(name)
    const lookup = lookupIn(entry)
    const ids = lookup(map.id)
    if (disabled !== undefined && ids.some((id) => locked.has(id))) {
      const gone = disabled.action === 'delete'
      collector.addDisabled({ ids, from: entry.dn, gone })
      const [id] = ids
      if (!gone && id !== undefined) addMember(members, id, entry, lookup)
      return
    }
    const id = collector.addUser({ ids, idName: map.id, from: entry.dn, ...map.fieldsOf(lookup) })
    if (id !== undefined) addMember(members, id, entry, lookup)
  })
  warnUnseen(reading, place, entries, unseen)
}

/** Logs mapped attributes that no entry has: a typo, or the reader may not see them. */
export function warnUnseen(
  { log }: Reading,
  { bases, filterText }: Pick<UserPlace, 'bases' | 'filterText'>,
  entries: number,
  unseen: ReadonlySet<string>,
): void {
  if (entries === 0 || unseen.size === 0) return
  log.warn(
    { base: bases, filter: filterText, attributes: [...unseen] },
    'mapped attributes that no entry has, or that the bind user cannot see',
  )
}

/** The ids of the disabled users. The server itself applies the rule, because it knows the syntaxes. */
async function readDisabled(reading: Reading, place: UserPlace): Promise<ReadonlySet<string>> {
  const ids = new Set<string>()
  const { disabled, map } = place
  if (disabled === undefined) return ids
  const filter = bothOf(place.filter, disabled.filter)
  const where = { ...place, filter, filterText: `(&${place.filterText}${disabled.filterText})` }
  await readPlace(reading, where, [map.id], (entry) => {
    for (const id of lookupIn(entry)(map.id)) ids.add(id)
  })
  return ids
}

function addMember(
  { index, memberOf, primary }: Members,
  id: string,
  entry: LdapEntry,
  lookup: Lookup,
): void {
  index.addUser(id, entry.dn, lookup('uid'))
  memberOf.add(id, lookup)
  primary.addUser(id, lookup)
}
