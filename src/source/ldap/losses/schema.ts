import type { CompiledOptions, GroupPlace } from '../compile.ts'
import type { LdapConnection } from '../connection/connection.ts'
import { lookupIn } from '../entry.ts'
import { findEntry } from '../search.ts'
import type { List } from './again.ts'

/**
 * Tells for the classes of an entry the attribute of members, where the server's schema demands it of such an entry: a
 * group that shows none is then unreadable and not empty. Reads the schema only when there are such groups; Active
 * Directory demands members of no group. Throws like `searchAll`.
 */
export async function membersDemanded(
  connection: LdapConnection,
  { groups, profile }: Pick<CompiledOptions, 'profile'> & { readonly groups: GroupPlace },
  emptied: readonly List[],
): Promise<(classes: readonly string[]) => string | undefined> {
  const { members } = groups.map
  const [dn] = connection.rootDse === undefined ? [] : lookupIn(connection.rootDse)('subschemaSubentry')
  const isAsked = emptied.length > 0 && profile.vendor !== 'active-directory'
  if (members === undefined || dn === undefined || !isAsked) return () => undefined
  const entry = await findEntry(connection, dn, ['objectClasses', 'attributeTypes'])
  if (entry === undefined) return () => undefined
  const lookup = lookupIn(entry)
  const demands = demandsIn(lookup('objectClasses'))
  const names = namesOfAttribute(members, lookup('attributeTypes'))
  return (classes) =>
    withAbove(classes, demands).some(({ must }) => must.some((name) => names.has(name))) ? members : undefined
}

/** What a class demands, and the classes above it; names and OIDs in lower case. */
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

/** All names of the attribute with this name or OID (RFC 4512, 4.1.2). */
export function namesOfAttribute(name: string, attributeTypes: readonly string[]): ReadonlySet<string> {
  const wanted = name.toLowerCase()
  const type = attributeTypes.map(namesIn).find((names) => names.includes(wanted))
  return new Set([wanted, ...(type ?? [])])
}

function withAbove(
  classes: readonly string[],
  demands: ReadonlyMap<string, ClassDemands>,
): readonly ClassDemands[] {
  const names = new Set(classes.map((name) => name.toLowerCase()))
  // A set hands out what is added to it while it is gone through, and never anything twice.
  for (const name of names) for (const above of demands.get(name)?.above ?? []) names.add(above)
  return [...names].flatMap((name) => demands.get(name) ?? [])
}

/** The OID and the names of a description. */
function namesIn(text: string): readonly string[] {
  const oid = /^\(\s*(\S+)/.exec(text)?.[1]?.toLowerCase()
  return [...(oid === undefined ? [] : [oid]), ...wordsBehind('NAME', text)]
}

/** What stands behind a keyword: one word, or several in parentheses, with `$` between them or in quotes. */
function wordsBehind(keyword: string, text: string): readonly string[] {
  // Descriptions may hold any word, and are not needed.
  const plain = text.replace(/\bDESC\s+'[^']*'/, '')
  const match = new RegExp(`\\s${keyword}\\s+(?:\\(([^)]*)\\)|(\\S+))`).exec(plain)
  const words = (match?.[1] ?? match?.[2] ?? '').split(/[\s$]+/)
  return words.map((word) => word.replaceAll("'", '').toLowerCase()).filter((word) => word !== '')
}
