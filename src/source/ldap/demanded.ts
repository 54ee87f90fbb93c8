import type { CompiledOptions, GroupPlace } from './compile.ts'
import type { LdapConnection } from './connection/connection.ts'
import { namesIn, namesOfAttribute, readSchema, wordsBehind } from './schema.ts'

/** A group that shows no value of some attributes with members. */
export interface SilentGroup {
  readonly silent: readonly string[]
  readonly classes: readonly string[]
}

/**
 * The attribute of members that the server's schema requires of a group and the group does not show: it is then
 * unreadable and not empty. Reads the schema only when there are such groups; Active Directory requires members of no
 * group. Throws like `searchAll`.
 */
export async function membersDemanded(
  connection: LdapConnection,
  { groups, profile }: Pick<CompiledOptions, 'profile'> & { readonly groups: GroupPlace },
  emptied: readonly SilentGroup[],
): Promise<(group: SilentGroup) => string | undefined> {
  const { members } = groups.map
  const isAsked = emptied.length > 0 && members.length > 0 && profile.vendor !== 'active-directory'
  const lookup = isAsked ? await readSchema(connection) : undefined
  if (lookup === undefined) return () => undefined
  const demands = demandsIn(lookup('objectClasses'))
  const types = lookup('attributeTypes')
  const names = new Map(members.map((attribute) => [attribute, namesOfAttribute(attribute, types)]))
  return ({ classes, silent }) => {
    const must = new Set(withAbove(classes, demands).flatMap((each) => each.must))
    return silent.find((attribute) => names.get(attribute)?.isDisjointFrom(must) === false)
  }
}

/** Names and OIDs in lower case. */
export interface ClassDemands {
  readonly must: readonly string[]
  readonly above: readonly string[]
}

/** From the values of `objectClasses` (RFC 4512, 4.1.1), by each name of a class. */
export function demandsIn(objectClasses: readonly string[]): ReadonlyMap<string, ClassDemands> {
  const classes = new Map<string, ClassDemands>()
  for (const text of objectClasses) {
    const demands = { must: wordsBehind('MUST', text), above: wordsBehind('SUP', text) }
    for (const name of namesIn(text)) classes.set(name, demands)
  }
  return classes
}

function withAbove(
  classes: readonly string[],
  demands: ReadonlyMap<string, ClassDemands>,
): readonly ClassDemands[] {
  const names = new Set(classes.map((name) => name.toLowerCase()))
  // A set iterates over values that are added during the loop, and never twice.
  for (const name of names) for (const above of demands.get(name)?.above ?? []) names.add(above)
  return [...names].flatMap((name) => demands.get(name) ?? [])
}
