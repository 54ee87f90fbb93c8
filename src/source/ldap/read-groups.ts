import { NotFilter, PresenceFilter } from 'ldapts'
import type { CompiledOptions, GroupPlace } from './compile.ts'
import { dnKey, normalizeDn } from './dn.ts'
import type { LdapEntry } from './entry.ts'
import { anyPresent, bothOf } from './filter.ts'
import type { GroupRecord, GroupRecords } from './image.ts'
import { createChain } from './membership/in-chain.ts'
import { MEMBER_OF } from './membership/names.ts'
import { type Reading, readPlace } from './read-place.ts'
import type { Records } from './records.ts'
import { reportUnseen } from './unseen.ts'
import type { ReadUsers } from './users.ts'

interface Context extends Pick<CompiledOptions, 'users'> {
  readonly groups: GroupPlace
  readonly records: Records
  readonly names: ReadUsers
}

/** Reads the groups; the users must have been read, because members are looked up in them. Throws like `readPlace`. */
export async function readGroups(reading: Reading, context: Context): Promise<GroupRecords> {
  const { users, groups: place, records, names } = context
  const groups = await readInFilter(reading, context)
  const others = place.nested === 'flatten' ? await readOthers(reading, context, groups) : []
  if (place.nested !== 'in-chain') return { groups, others }
  const chain = await createChain(reading, users, place, records.primary, names.primaryNames())
  const chained: GroupRecord[] = []
  for (const group of groups) chained.push(withChain(group, await chain(group.dn)))
  return { groups: chained, others }
}

function withChain(
  group: GroupRecord,
  chain: Awaited<ReturnType<Awaited<ReturnType<typeof createChain>>>>,
): GroupRecord {
  return { ...group, chained: chain.ids, primaryNames: [...group.primaryNames, ...chain.primaryNames] }
}

async function readInFilter(
  reading: Reading,
  { groups: place, records, names }: Context,
): Promise<GroupRecord[]> {
  const { map } = place
  const watched = map.attributes.filter((name) => !map.members.includes(name) || records.listed.length > 0)
  const unseen = new Set(watched)
  const groups: GroupRecord[] = []
  const attributes = [...new Set([...watched, ...records.groupAttributes])]
  await readPlace(reading, place, attributes, (entry) => {
    for (const name of unseen) if (entry.attributes.has(name.toLowerCase())) unseen.delete(name)
    groups.push(records.groupOf(entry, names))
  })
  // Of several attributes with members, one is enough.
  const listsSome = map.members.some((name) => !unseen.has(name))
  const isUsual = (name: string) => listsSome && map.members.includes(name)
  if (groups.length > 0) await reportUnseen(reading, 'groups.map', place, [...unseen], isUsual)
  return groups
}

/** The groups outside of the sync's filter that may be within its groups. */
async function readOthers(
  reading: Reading,
  context: Context,
  groups: readonly GroupRecord[],
): Promise<readonly GroupRecord[]> {
  const { groups: place, records, names } = context
  const others = new Map<string, GroupRecord>()
  const inside = new Set(groups.map(({ dn }) => dnKey(dn)))
  const isKnown = (dn: string) => inside.has(dn) || others.has(dn)
  function add(entry: LdapEntry): void {
    const key = dnKey(entry.dn)
    if (!isKnown(key)) others.set(key, records.otherOf(entry, names))
  }
  if (place.membersFrom === 'memberOf') {
    const isOutside = [...records.named()].some((dn) => !inside.has(dn))
    if (isOutside || !records.namesAllGroups) await readOtherParents(reading, context, add)
  }
  const nests = (value: string) => {
    const dn = normalizeDn(value)
    return dn !== undefined && !isKnown(dn)
  }
  if (
    place.map.members.length > 0 &&
    groups.some(({ lists }) => lists.some(({ nonUsers }) => nonUsers.some(nests)))
  )
    await readOtherGroups(reading, place, records, isKnown, add)
  return [...others.values()]
}

/**
 * As `readOtherGroups`, where the members name their groups: reads entries below the same bases that are no users and
 * are in a group themselves. Only where an entry names a group that was not read, or at a global catalog, whose members
 * do not name all of their groups.
 */
async function readOtherParents(
  reading: Reading,
  { users, groups, records }: Context,
  onGroup: (entry: LdapEntry) => void,
): Promise<void> {
  const filter = bothOf(new PresenceFilter({ attribute: MEMBER_OF }), new NotFilter({ filter: users.filter }))
  const where = { ...groups, filter, filterText: `(&(${MEMBER_OF}=*)(!${users.filterText}))` }
  await readPlace(reading, where, [...new Set([MEMBER_OF, ...records.groupAttributes])], onGroup)
}

/**
 * Groups outside of the sync's filter may still be within its groups. All groups with members below the same bases are
 * read in one search, because single lookups of unknown members would take a request each. A global catalog hides the
 * members of some groups: there those without any count too.
 */
async function readOtherGroups(
  reading: Reading,
  groups: GroupPlace,
  records: Records,
  isKnown: (dn: string) => boolean,
  onGroup: (entry: LdapEntry) => void,
): Promise<void> {
  const where = { ...groups, ...anyPresent(records.groupSigns) }
  const attributes = [...new Set([...groups.map.members, ...records.groupAttributes])]
  // A large group that was read completely is not read range by range again.
  await readPlace(reading, where, attributes, onGroup, (dn) => !isKnown(dnKey(dn)))
}
