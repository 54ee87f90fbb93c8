import type { Lookup } from '../mapping.ts'

const NO_VALUES: readonly string[] = []

/** An entry as it came over the wire. Names are in lower case; values are text, as `valueDecoder` makes it. */
export interface LdapEntry {
  readonly dn: string
  readonly attributes: ReadonlyMap<string, readonly string[]>
}

/** The texts of an entry's attributes. Names are compared without case; `cn;lang-de` is not `cn`. */
export function lookupIn(entry: LdapEntry): Lookup {
  return (attribute) => entry.attributes.get(attribute.toLowerCase()) ?? NO_VALUES
}
