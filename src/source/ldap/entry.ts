import type { Lookup } from '../mapping.ts'

const NO_VALUES: readonly string[] = []

/** Names are in lower case; values are text, as `valueDecoder` makes it. */
export interface LdapEntry {
  readonly dn: string
  readonly attributes: ReadonlyMap<string, readonly string[]>
  /** The attributes with a value that is not UTF-8, in lower case. */
  readonly bytes?: ReadonlySet<string>
  /** The entry kept changing while its values were read in parts, so attributes with many values are missing. */
  readonly isTorn?: true
}

/** Names are compared without case; `cn;lang-de` is not `cn`. */
export function lookupIn({ attributes }: LdapEntry): Lookup {
  return (attribute) => attributes.get(lowerCaseOf(attribute)) ?? NO_VALUES
}

/** As `lookupIn`, but values that are not UTF-8 become malformed text instead of hexadecimal digits. */
export function textIn(entry: LdapEntry, lookup = lookupIn(entry)): Lookup {
  const { bytes } = entry
  if (bytes === undefined) return lookup
  return (attribute) => {
    const values = lookup(attribute)
    return bytes.has(lowerCaseOf(attribute)) ? values.map((value) => HALF_CHARACTER + value) : values
  }
}

const HALF_CHARACTER = '\ud800'

/** The few names of the configuration: a new text for each of a million lookups would be hashed each time. */
const lowerCase = new Map<string, string>()

function lowerCaseOf(attribute: string): string {
  let name = lowerCase.get(attribute)
  if (name === undefined) lowerCase.set(attribute, (name = attribute.toLowerCase()))
  return name
}
