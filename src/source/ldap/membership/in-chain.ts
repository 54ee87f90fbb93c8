import { ExtensibleFilter, type Filter } from 'ldapts'
import type { GroupPlace, UserPlace } from '../compile.ts'
import { dnKey } from '../dn.ts'
import { lookupIn } from '../entry.ts'
import { anyOf, bothOf } from '../filter.ts'
import { type Reading, readPlace } from '../read-place.ts'
import { valueBytes } from '../values.ts'
import type { PrimaryGroupRule } from './primary-group.ts'

/** LDAP_MATCHING_RULE_IN_CHAIN: Active Directory follows links through nested groups. */
const IN_CHAIN = '1.2.840.113556.1.4.1941'

export interface Chain {
  readonly ids: readonly string[]
  /** What users call the primary groups within the group: the chain does not contain users that no group lists. */
  readonly primaryNames: readonly string[]
}

/** `names` are what users call their primary groups, each once. Rejects like `readPlace`. */
export async function createChain(
  reading: Reading,
  users: UserPlace,
  groups: GroupPlace,
  rule: PrimaryGroupRule,
  names: readonly string[],
): Promise<(group: string) => Promise<Chain>> {
  const around = await primaryInChain(reading, groups, rule, names)
  return async (group) => {
    const ids = await usersInChain(reading, users, group)
    return { ids, primaryNames: around.get(dnKey(group)) ?? [] }
  }
}

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
 * The primary groups within each group. A search for each primary group finds the groups around it. Only primary groups
 * below the bases of the groups count, like all nested groups.
 * @returns a group's normal DN → what users call the primary groups within it
 */
async function primaryInChain(
  reading: Reading,
  groups: GroupPlace,
  rule: PrimaryGroupRule,
  wanted: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const around = new Map<string, string[]>()
  for (const { dn, names } of await primaryGroups(reading, groups, rule, wanted)) {
    const filterText = `for the groups around "${dn}"`
    const where = { ...groups, filter: bothOf(groups.filter, chain('member', dn)), filterText }
    await readPlace(reading, where, [groups.map.id], (entry) => {
      const key = dnKey(entry.dn)
      around.set(key, [...(around.get(key) ?? []), ...names])
    })
  }
  return around
}

async function primaryGroups(
  reading: Reading,
  groups: GroupPlace,
  rule: PrimaryGroupRule,
  wanted: readonly string[],
): Promise<{ readonly dn: string; readonly names: readonly string[] }[]> {
  const [attribute] = rule.groupAttributes
  const values = attribute === undefined ? [] : wanted.flatMap((name) => valueBytes(attribute, name))
  if (attribute === undefined || values.length === 0) return []
  const found: { dn: string; names: readonly string[] }[] = []
  const where = { ...groups, filter: anyOf(attribute, values), filterText: 'for the primary groups of users' }
  await readPlace(reading, where, [attribute], (entry) => {
    found.push({ dn: entry.dn, names: rule.namesOf(lookupIn(entry)) })
  })
  return found
}

function chain(matchType: 'member' | 'memberOf', value: string): Filter {
  return new ExtensibleFilter({ matchType, rule: IN_CHAIN, value })
}
