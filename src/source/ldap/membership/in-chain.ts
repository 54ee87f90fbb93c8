import { ExtensibleFilter, type Filter } from 'ldapts'
import type { GroupPlace, UserPlace } from '../compile.ts'
import { normalizeDn } from '../dn.ts'
import { anyOf, bothOf } from '../filter.ts'
import type { PrimaryGroups } from './primary-group.ts'
import { type Reading, readPlace } from '../read-place.ts'
import { lookupIn, valueBytes } from '../values.ts'

/** LDAP_MATCHING_RULE_IN_CHAIN: Active Directory follows links through every group within a group. */
const IN_CHAIN = '1.2.840.113556.1.4.1941'

/**
 * Tells the ids of the users who are in the group with this DN or in any group within it, by asking the server. Rejects
 * like `readPlace`.
 */
export async function createChain(
  reading: Reading,
  users: UserPlace,
  groups: GroupPlace,
  primary: PrimaryGroups,
): Promise<(group: string) => Promise<readonly string[]>> {
  const around = await primaryInChain(reading, groups, primary)
  return async (group) => {
    const listed = await usersInChain(reading, users, group)
    return [...listed, ...(around.get(normalizeDn(group) ?? group) ?? [])]
  }
}

/** The users of the sync's filter who are listed. */
async function usersInChain(reading: Reading, users: UserPlace, group: string): Promise<string[]> {
  const ids: string[] = []
  const filterText = `for the members of "${group}" and of the groups within it`
  const where = { ...users, filter: bothOf(users.filter, chain('memberOf', group)), filterText }
  await readPlace(reading, where, [users.map.id], (entry) => {
    ids.push(...lookupIn(entry)(users.map.id))
  })
  return ids
}

/**
 * The users whose primary group is within a group: no chain leads to them, because their primary group does not list them.
 * A search for each primary group finds the groups around it. Primary groups count that are below the bases of the groups,
 * as all groups within groups do.
 *
 * @returns a group's DN in its normal form → ids
 */
async function primaryInChain(
  reading: Reading,
  groups: GroupPlace,
  primary: PrimaryGroups,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const around = new Map<string, string[]>()
  for (const { dn, users } of await primaryGroups(reading, groups, primary)) {
    const filterText = `for the groups around "${dn}"`
    const where = { ...groups, filter: bothOf(groups.filter, chain('member', dn)), filterText }
    await readPlace(reading, where, [groups.map.id], (entry) => {
      const key = normalizeDn(entry.dn) ?? entry.dn
      around.set(key, [...(around.get(key) ?? []), ...users])
    })
  }
  return around
}

async function primaryGroups(
  reading: Reading,
  groups: GroupPlace,
  primary: PrimaryGroups,
): Promise<{ readonly dn: string; readonly users: readonly string[] }[]> {
  const [attribute] = primary.groupAttributes
  const values = attribute === undefined ? [] : primary.keys().flatMap((key) => valueBytes(attribute, key))
  if (attribute === undefined || values.length === 0) return []
  const found: { dn: string; users: readonly string[] }[] = []
  const where = { ...groups, filter: anyOf(attribute, values), filterText: 'for the primary groups of users' }
  await readPlace(reading, where, [attribute], (entry) => {
    found.push({ dn: entry.dn, users: primary.usersOf(lookupIn(entry)) })
  })
  return found
}

function chain(matchType: 'member' | 'memberOf', value: string): Filter {
  return new ExtensibleFilter({ matchType, rule: IN_CHAIN, value })
}
