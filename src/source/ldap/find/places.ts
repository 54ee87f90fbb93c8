import type { Filter } from 'ldapts'
import { canonicalEmail } from '../../../core/entries/normalize.ts'
import type { Kind } from '../../../core/entries/entry.ts'
import type { Standing } from '../../source.ts'
import type { CompiledOptions, GroupPlace, UserPlace } from '../compile.ts'
import { type LdapEntry, lookupIn, textIn } from '../entry.ts'
import { allOf, anyIn, anyOf, someOf } from '../filter.ts'
import { valueBytes } from '../values.ts'

/** A search for users or groups, with the attributes that operators search by. */
export interface Searched {
  readonly kind: Kind
  readonly place: UserPlace | GroupPlace
  readonly emails: readonly string[]
  readonly names: readonly string[]
  readonly attributes: readonly string[]
}

/** An entry, as the user or group that it was searched for. */
export interface Seen extends Searched {
  readonly entry: LdapEntry
}

export interface Hit extends Seen {
  readonly standing: Standing
}

const LOGINS = ['uid', 'sAMAccountName', 'userPrincipalName']
const USER_NAMES = ['cn', 'displayName', ...LOGINS]
const GROUP_NAMES = ['cn', 'displayName', 'sAMAccountName']
const PARTS_OF_NAMES = ['givenName', 'sn']

/** As far as the sync reads them. */
export function searchedOf({ users, groups }: CompiledOptions, kinds: readonly Kind[]): readonly Searched[] {
  return kinds.flatMap((kind) => {
    if (kind === 'group')
      return groups === undefined
        ? []
        : [searched(kind, groups, [], [...GROUP_NAMES, ...groups.map.name.attributes])]
    const { email, name } = users.map
    return [searched(kind, users, [...email.attributes, ...LOGINS], [...USER_NAMES, ...name.attributes])]
  })
}

function searched(
  kind: Kind,
  place: Searched['place'],
  emails: readonly string[],
  names: readonly string[],
): Searched {
  const attributes = distinct([
    ...place.map.attributes,
    ...emails,
    ...names,
    ...PARTS_OF_NAMES,
    'objectClass',
  ])
  return { kind, place, emails: distinct(emails), names: distinct(names), attributes }
}

/** Attributes are equal in upper and lower case. */
function distinct(attributes: readonly string[]): string[] {
  return [...new Map(attributes.map((name) => [name.toLowerCase(), name])).values()]
}

/** `undefined` where the text can be no value of the id attribute. */
export function byId({ place: { map } }: Searched, id: string): Filter | undefined {
  const values = valueBytes(map.id, id)
  return values.length === 0 ? undefined : anyOf(map.id, values)
}

export function byValue({ emails, names }: Searched, who: string): Filter | undefined {
  if (who.includes('@')) return emails.length === 0 ? undefined : anyIn(emails, spellingsOf(who))
  return someOf([anyIn(names, [who]), ...inParts(names, who)])
}

/** A mapping may make an e-mail of a login; Exchange writes the protocol before it. */
function spellingsOf(email: string): string[] {
  return [email, `smtp:${email}`, email.slice(0, email.lastIndexOf('@'))]
}

/** Filters for a name that is stored in parts: each word is a value, or its first and last parts are. */
function inParts(names: readonly string[], who: string): Filter[] {
  const words = who.split(/\s+/).filter((word) => word !== '')
  if (words.length < 2 || words.length > MOST_WORDS) return []
  const attributes = distinct([...names, ...PARTS_OF_NAMES])
  const inTwo = words
    .slice(1)
    .map((_, at) => [words.slice(0, at + 1).join(' '), words.slice(at + 1).join(' ')])
  const ways = words.length === 2 ? inTwo : [words, ...inTwo]
  return ways.map((parts) => allOf(parts.map((part) => anyIn(attributes, [part]))))
}

/** Longer texts are no names, and each word makes the filter longer. */
const MOST_WORDS = 8

/** Whether a login that was found for the part before the @ belongs to this e-mail. */
export function hasEmail({ emails, place: { map }, entry }: Seen, email: string): boolean {
  const wanted = new Set([canonicalEmail(email), `smtp:${canonicalEmail(email)}`])
  const lookup = textIn(entry)
  const mapped = 'email' in map ? map.email.valueOf(lookup) : undefined
  const values = [map.id, ...emails].flatMap((attribute) => lookup(attribute))
  return [...values, mapped ?? ''].some((value) => wanted.has(canonicalEmail(value)))
}

export function idsOf({ entry, place }: Seen): readonly string[] {
  return lookupIn(entry)(place.map.id)
}
