import type { Lookup } from '../mapping.ts'

const NO_VALUES: readonly string[] = []

/** An entry as it came over the wire. Names are in lower case; values are text, as `valueDecoder` makes it. */
export interface LdapEntry {
  readonly dn: string
  readonly attributes: ReadonlyMap<string, readonly string[]>
  /** It kept changing while its values were read in parts, so attributes with many values are missing. */
  readonly isTorn?: true
}

/** The texts of an entry's attributes. Names are compared without case; `cn;lang-de` is not `cn`. */
export function lookupIn({ attributes }: LdapEntry): Lookup {
  return (attribute) => attributes.get(lowerCaseOf(attribute)) ?? NO_VALUES
}

/** The few names of the configuration: a new text for each of a million lookups would be hashed each time. */
const lowerCase = new Map<string, string>()

function lowerCaseOf(attribute: string): string {
  let name = lowerCase.get(attribute)
  if (name === undefined) lowerCase.set(attribute, (name = attribute.toLowerCase()))
  return name
}
