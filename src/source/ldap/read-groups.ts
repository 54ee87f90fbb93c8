import { NotFilter, PresenceFilter } from 'ldapts'
import { type Collector, examples, type GroupCandidate } from '../collect.ts'
import type { Lookup } from '../mapping.ts'
import type { GroupPlace, UserPlace } from './compile.ts'
import { normalizeDn } from './dn.ts'
import { bothOf } from './filter.ts'
import { createChain } from './membership/in-chain.ts'
import { memberDn } from './membership/members.ts'
import { createMemberOf, MEMBER_OF, type MemberOf } from './membership/member-of.ts'
import type { LdapEntry } from './connection/message.ts'
import { flatten, type GroupNode, groupsWithin } from './membership/nested.ts'
import { type Reading, readPlace } from './read-place.ts'
import { type Members, warnUnseen } from './read-users.ts'
import { lookupIn } from './values.ts'

/** A group as it was read, before it is known who is in it through other groups. */
interface Draft {
  readonly candidate: Omit<GroupCandidate, 'members' | 'unknownMembers'>
  /** The DN in its normal form. */
  readonly dn: string
  readonly users: readonly string[]
  /** Members that are no users of the sync, as the group spells them. */
  readonly others: readonly string[]
}

/** Reads the groups into the collector; the users must have been read. Throws like `readPlace`. */
export async function readGroups(
  reading: Reading,
  users: UserPlace,
  groups: GroupPlace,
  collector: Collector,
  members: Members,
): Promise<void> {
  const parents = createMemberOf(groups.membersFrom === 'memberOf' && groups.nested === 'flatten')
  /** The groups that the server shows without their members: normal DN → DN. */
  const hidden = new Map<string, string>()
  const onEntry = (entry: LdapEntry) => {
    if (groups.membersFrom === undefined || reading.catalog === undefined) return
    if (reading.catalog.hidesMembers(entry.dn, lookupIn(entry))) hidden.set(normalOf(entry.dn), entry.dn)
  }
  const drafts = await readDrafts(reading, groups, members, (entry) => {
    onEntry(entry)
    parents.add(normalOf(entry.dn), lookupIn(entry))
  })
  const nodes = await nodesOf(reading, { users, groups }, members, drafts, parents, onEntry)
  const chain =
    groups.nested === 'in-chain' ? await createChain(reading, users, groups, members.primary) : undefined
  for (const draft of drafts) {
    const within = hidden.size === 0 ? [] : groupsWithin(nodes, draft.dn)
    const unknown = [...within].flatMap((dn) => hidden.get(dn) ?? [])
    if (unknown.length > 0) {
      collector.addGroupWithHiddenMembers({ ...draft.candidate, why: whyHidden(draft, unknown) })
      continue
    }
    collector.addGroup({
      ...draft.candidate,
      members:
        chain !== undefined
          ? [...draft.users, ...(await chain(draft.candidate.from)).filter(collector.knowsUser)]
          : groups.nested === 'flatten'
            ? flatten(nodes, draft.dn)
            : draft.users,
      unknownMembers: draft.others.filter((value) => !nodes.has(dnOf(groups, value) ?? '')),
    })
  }
}

function whyHidden({ candidate: { from } }: Draft, hidden: readonly string[]): string {
  const others = hidden.filter((dn) => dn !== from)
  const whose = others.length < hidden.length ? 'its members' : `the members of ${examples(others)} within it`
  return `the global catalog does not have ${whose}, but only those of universal groups and of its own domain`
}

async function readDrafts(
  reading: Reading,
  groups: GroupPlace,
  { index, memberOf, primary }: Members,
  onEntry: (entry: LdapEntry) => void,
): Promise<Draft[]> {
  const { map, nested, membersFrom } = groups
  // The server is asked who is in the chain, and the direct members are in it: a large group has no ranges to read.
  const listed = membersFrom === 'member' && nested !== 'in-chain' ? map.members : undefined
  const watched = map.attributes.filter((name) => name !== map.members || listed !== undefined)
  const parents = membersFrom === 'memberOf' && nested === 'flatten' ? memberOf.attributes : []
  const unseen = new Set(watched)
  const drafts: Draft[] = []
  const ofCatalog = reading.catalog?.groupAttributes ?? []
  const attributes = [...new Set([...watched, ...primary.groupAttributes, ...parents, ...ofCatalog])]
  await readPlace(reading, groups, attributes, (entry) => {
    for (const name of unseen) if (entry.attributes.has(name.toLowerCase())) unseen.delete(name)
    onEntry(entry)
    const lookup = lookupIn(entry)
    const found = index.resolve(listed === undefined ? [] : lookup(listed))
    const candidate = { ids: lookup(map.id), idName: map.id, from: entry.dn, ...map.fieldsOf(lookup) }
    const named = nested === 'in-chain' ? [] : memberOf.membersOf(entry.dn)
    const users = [...found.ids, ...named, ...primary.usersOf(lookup)]
    drafts.push({ candidate, dn: normalOf(entry.dn), users, others: found.strangers })
  })
  warnUnseen(reading, groups, drafts.length, unseen)
  return drafts
}

/** The groups that may be within one another; empty unless they are to be flattened. */
async function nodesOf(
  reading: Reading,
  { users: userPlace, groups }: { readonly users: UserPlace; readonly groups: GroupPlace },
  members: Members,
  drafts: readonly Draft[],
  parents: MemberOf,
  onOther: (entry: LdapEntry) => void,
): Promise<ReadonlyMap<string, GroupNode>> {
  const nodes = new Map<string, GroupNode>()
  if (groups.nested !== 'flatten') return nodes
  if (groups.membersFrom === 'memberOf') {
    const inside = new Set(drafts.map(({ dn }) => dn))
    const named = [members.memberOf, parents]
    const outside = await readOtherParents(reading, userPlace, groups, inside, named, onOther)
    for (const [dn, lookup] of outside) parents.add(dn, lookup)
    for (const dn of outside.keys()) {
      nodes.set(dn, { users: members.memberOf.membersOf(dn), groups: parents.membersOf(dn) })
    }
  }
  const childDns = (values: readonly string[]) =>
    values.map((value) => dnOf(groups, value)).filter((dn) => dn !== undefined)
  for (const { dn, users, others } of drafts) {
    nodes.set(dn, { users, groups: [...childDns(others), ...parents.membersOf(dn)] })
  }
  const attribute = groups.map.members
  const isKnown = (dn: string) => nodes.has(dn)
  if (attribute !== undefined && [...nodes.values()].some((node) => !node.groups.every(isKnown))) {
    await readOtherGroups(reading, groups, members, isKnown, (entry, users, others) => {
      onOther(entry)
      const dn = normalOf(entry.dn)
      if (!nodes.has(dn)) nodes.set(dn, { users, groups: childDns(others) })
    })
  }
  return nodes
}

/**
 * As `readOtherGroups`, where the members tell: what is below the same bases, is no user and is in a group itself. Only
 * where somebody names a group that was not read, or at a global catalog, whose members do not name all of their groups.
 */
async function readOtherParents(
  reading: Reading,
  users: UserPlace,
  groups: GroupPlace,
  inside: ReadonlySet<string>,
  named: readonly MemberOf[],
  onGroup: (entry: LdapEntry) => void,
): Promise<ReadonlyMap<string, Lookup>> {
  const found = new Map<string, Lookup>()
  const ofCatalog = reading.catalog?.groupAttributes ?? []
  const isKnown = named.every((each) => [...each.groups()].every((dn) => inside.has(dn)))
  if (isKnown && ofCatalog.length === 0) return found
  const filter = bothOf(new PresenceFilter({ attribute: MEMBER_OF }), new NotFilter({ filter: users.filter }))
  const where = { ...groups, filter, filterText: `(&(${MEMBER_OF}=*)(!${users.filterText}))` }
  await readPlace(reading, where, [MEMBER_OF, ...ofCatalog], (entry) => {
    const dn = normalOf(entry.dn)
    if (inside.has(dn)) return
    const lookup = lookupIn(entry)
    found.set(dn, lookup)
    if (ofCatalog.every((name) => lookup(name).length > 0)) onGroup(entry)
  })
  return found
}

/**
 * Groups outside of the sync's filter may still be within its groups. All below the same bases that have members are
 * read in one search, because to look at one unknown member after the other would take a request for each. A global
 * catalog shows the members of some groups to nobody: there those without any count too.
 */
async function readOtherGroups(
  reading: Reading,
  groups: GroupPlace,
  { index, primary }: Members,
  isKnown: (dn: string) => boolean,
  onGroup: (entry: LdapEntry, users: readonly string[], others: readonly string[]) => void,
): Promise<void> {
  const attribute = groups.map.members ?? ''
  const ofCatalog = reading.catalog?.groupAttributes ?? []
  const [present = attribute] = ofCatalog
  const filter = new PresenceFilter({ attribute: present })
  const where = { ...groups, filter, filterText: `(${present}=*)` }
  const attributes = [...new Set([attribute, ...primary.groupAttributes, ...ofCatalog])]
  const onEntry = (entry: LdapEntry) => {
    const lookup = lookupIn(entry)
    const { ids, strangers } = index.resolve(lookup(attribute))
    onGroup(entry, [...ids, ...primary.usersOf(lookup)], strangers)
  }
  // A large group that was read as a whole is not read range by range again.
  await readPlace(reading, where, attributes, onEntry, (dn) => !isKnown(normalOf(dn)))
}

function dnOf(groups: GroupPlace, value: string): string | undefined {
  return memberDn(groups.map.members ?? 'member', value)
}

function normalOf(dn: string): string {
  return normalizeDn(dn) ?? dn
}
