import type { LdapEntry } from '../connection/message.ts'
import { dnKey } from '../dn.ts'
import type { GroupRecord, UserRecord } from '../image.ts'
import { memberDn } from '../membership/members.ts'
import { isPartial, readWhole } from '../range.ts'
import { findEntry } from '../search.ts'
import { lookupIn } from '../values.ts'
import { type Again, attributesOfGroups, type People, takeGroup, type Unresolved } from './again.ts'

/** How many DNs that the first read does not know are looked at in one run, each with a request of its own. */
const MOST_UNKNOWN = 1000

interface Resolution {
  /** Groups within the losing ones, as they are now. */
  readonly found: readonly GroupRecord[]
  /** Users who were renamed, at the DNs that the lists name. */
  readonly aliases: readonly UserRecord[]
  /** By the group's DN in its normal form. */
  readonly unresolved: ReadonlyMap<string, Unresolved>
}

/**
 * Reads what the lists of groups name: groups within them, where they are flattened, and DNs that were in no list of the
 * first read, because users may have got them meanwhile. Strangers of the first read are looked at only when a lost user is
 * not found below the bases, because somebody who has left the bases has such a DN.
 */
export async function resolveUnknown(
  again: Again,
  losing: readonly GroupRecord[],
  people: People,
): Promise<Resolution> {
  const {
    compiled,
    losses: { image },
    lists,
  } = again
  const { nested, membersFrom } = compiled.groups
  const isFlat = nested === 'flatten'
  const before = new Map([...image.others, ...image.groups].map((group) => [dnKey(group.dn), group]))
  const byId = new Map(image.groups.map((group) => [group.ids[0], group]))
  const userAt = createUserFinder(again)
  const here = new Set(people.records.map(({ dn }) => dnKey(dn)))
  const outcomes = new Map<string, Unresolved | undefined>()
  const found: GroupRecord[] = []
  const aliases: UserRecord[] = []
  const unresolved = new Map<string, Unresolved>()
  let looks = 0

  async function look(key: string, known: GroupRecord | undefined): Promise<Unresolved | undefined> {
    if (known === undefined) looks += 1
    if (known === undefined && looks > MOST_UNKNOWN) return { why: 'too-many' }
    const entry = await readAt(again, known?.dn ?? key)
    if (entry === undefined) return { why: 'not-shown', dn: known?.dn ?? key }
    const user = known === undefined ? userAt(entry) : undefined
    if (user !== undefined) aliases.push(user)
    else if (isFlat && (known !== undefined || isGroup(again, entry))) found.push(takeGroup(again, entry))
    return undefined
  }

  /** @param wasStranger the group named it in the first read, and it was nobody then */
  async function follow(key: string, wasStranger: boolean): Promise<Unresolved | undefined> {
    const known = before.get(key)
    const isSettled = lists.has(key) || here.has(key) || (known !== undefined && !isFlat)
    if (isSettled || (known === undefined && wasStranger && people.missing.size === 0)) return undefined
    if (!outcomes.has(key)) outcomes.set(key, await look(key, known))
    const outcome = outcomes.get(key)
    return wasStranger && known === undefined && outcome?.why === 'not-shown' ? undefined : outcome
  }

  async function followAll(group: GroupRecord): Promise<void> {
    const key = dnKey(group.dn)
    const strangers = new Set(keysIn(again, byId.get(group.ids[0]) ?? before.get(key)))
    for (const name of keysIn(again, group)) {
      const outcome = await follow(name, strangers.has(name))
      if (outcome !== undefined) unresolved.set(key, outcome)
    }
  }

  const named = isFlat && membersFrom === 'memberOf' ? [...people.memberOf.values()].flat() : []
  for (const name of new Set(named)) {
    const outcome = await follow(name, false)
    if (outcome?.why === 'too-many') for (const { dn } of losing) unresolved.set(dnKey(dn), outcome)
  }
  for (const group of losing) await followAll(group)
  // The list grows while it is gone through.
  for (const group of found) await followAll(group)
  return { found, aliases, unresolved }
}

/** What a group names that is no user: its members, and the groups that it is in. */
function keysIn({ records: { listed } }: Again, group: GroupRecord | undefined): readonly string[] {
  const members = (group?.nonUsers ?? []).map((value) => memberDn(listed ?? 'member', value))
  return [...members.filter((key) => key !== undefined), ...(group?.memberOf ?? [])]
}

/** Where users name their groups, what they name is a group. */
function isGroup({ records: { listed } }: Again, entry: LdapEntry): boolean {
  return listed === undefined || lookupIn(entry)(listed).length > 0
}

/** Finds the user of the first read that an entry is. */
function createUserFinder({ compiled, losses: { image }, records }: Again) {
  let byId: ReadonlyMap<string | undefined, UserRecord> | undefined
  return (entry: LdapEntry): UserRecord | undefined => {
    byId ??= new Map(image.users.map((user) => [user.id, user]))
    const [id] = lookupIn(entry)(compiled.users.map.id)
    const before = id === undefined ? undefined : byId.get(id)
    return before && records.userOf(entry, before.disabled)
  }
}

async function readAt(again: Again, dn: string): Promise<LdapEntry | undefined> {
  const { reading, compiled, records } = again
  const attributes = [
    ...new Set([...attributesOfGroups(again), compiled.users.map.id, ...records.userAttributes]),
  ]
  const entry = await findEntry(reading.connection, dn, attributes)
  return entry !== undefined && isPartial(entry) ? readWhole(reading.connection, dn, attributes) : entry
}
