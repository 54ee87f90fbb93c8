import type { Lookup } from '../mapping.ts'
import type { LdapConnection } from './connection/connection.ts'
import { lookupIn } from './entry.ts'
import { findEntry } from './search.ts'

/** The readable part of `objectClasses` and `attributeTypes` (RFC 4512, 4.2). Throws like `findEntry`. */
export async function readSchema(connection: LdapConnection): Promise<Lookup | undefined> {
  const [dn] = connection.rootDse === undefined ? [] : lookupIn(connection.rootDse)('subschemaSubentry')
  if (dn === undefined) return undefined
  const entry = await findEntry(connection, dn, ['objectClasses', 'attributeTypes'])
  return entry && lookupIn(entry)
}

/** All names of the attribute with this name or OID (RFC 4512, 4.1.2). */
export function namesOfAttribute(name: string, attributeTypes: readonly string[]): ReadonlySet<string> {
  const wanted = name.toLowerCase()
  const type = attributeTypes.map(namesIn).find((names) => names.includes(wanted))
  return new Set([wanted, ...(type ?? [])])
}

export function namesIn(text: string): readonly string[] {
  const oid = /^\(\s*(\S+)/.exec(text)?.[1]?.toLowerCase()
  return [...(oid === undefined ? [] : [oid]), ...wordsBehind('NAME', text)]
}

/** The value of a keyword: one word, or several in parentheses, with `$` between them or in quotes. */
export function wordsBehind(keyword: string, text: string): readonly string[] {
  // Descriptions may hold any word, and are not needed.
  const plain = text.replace(/\bDESC\s+'[^']*'/, '')
  const match = new RegExp(`\\s${keyword}\\s+(?:\\(([^)]*)\\)|(\\S+))`).exec(plain)
  const words = (match?.[1] ?? match?.[2] ?? '').split(/[\s$]+/)
  return words.map((word) => word.replaceAll("'", '').toLowerCase()).filter((word) => word !== '')
}
