import type { Tally } from './tally.ts'

/** How a field can be made, and how many entries have it then. */
export interface Proposal {
  readonly expression: string | readonly string[]
  /** Shown instead of an expression that is hard to read. */
  readonly words?: string
  readonly entries: number
  /** How many of the names would be odd, and one of them. */
  readonly odd?: { readonly entries: number; readonly example: string }
}

/** Attributes that never change, also through renames and moves. */
const PERMANENT = ['entryUUID', 'objectGUID', 'ipaUniqueID', 'nsUniqueId', 'ibm-entryUUID']

/** Possible ids, the best first. Numbers and names of users may be changed, or given to another user. */
export const ID_ATTRIBUTES: readonly string[] = [...PERMANENT, 'employeeNumber', 'uid']

export const USER_ATTRIBUTES: readonly string[] = [
  ...ID_ATTRIBUTES,
  'mail',
  'userPrincipalName',
  'proxyAddresses',
  'displayName',
  'cn',
  'givenName',
  'sn',
  'employeeID',
]

export interface Id {
  readonly name: string
  readonly isPermanent: boolean
}

/** A way to make a field, and the sets of attributes of which an entry needs one. */
export interface Way {
  readonly expression: Proposal['expression']
  readonly needs: readonly (readonly string[])[]
}

const EMPLOYEE_IDS: readonly Way[] = [
  { expression: 'employeeNumber', needs: [['employeeNumber']] },
  { expression: 'employeeID', needs: [['employeeID']] },
]

export function employeeIdProposals(tally: Tally): readonly Proposal[] {
  return proposalsOf(tally, EMPLOYEE_IDS)
}

/** Only attributes that every entry has. A permanent one, preferably the vendor's, is the only proposal. */
export function idProposals(tally: Tally, usual: string | undefined): readonly Id[] {
  const names =
    usual === undefined ? ID_ATTRIBUTES : [usual, ...ID_ATTRIBUTES.filter((name) => name !== usual)]
  const ids = names.filter((name) => tally.having([[name]]) === tally.entries)
  const [first] = ids.map((name) => ({ name, isPermanent: name === usual || PERMANENT.includes(name) }))
  return first?.isPermanent === true ? [first] : ids.map((name) => ({ name, isPermanent: false }))
}

export function proposalsOf(tally: Tally, ways: readonly Way[]): readonly Proposal[] {
  return waysOf(tally, ways).map(({ expression, entries }) => ({ expression, entries }))
}

/** Ways that any entry has; a combination of others is left out where it adds nothing. */
export function waysOf<W extends Way>(tally: Tally, ways: readonly W[]): readonly (W & Counted)[] {
  const found: (W & Counted)[] = []
  for (const way of ways) {
    const entries = tally.having(way.needs)
    const parts = found.filter(({ needs }) => needs.length < way.needs.length && isPartOf(needs, way.needs))
    const adds = way.needs.every((need) => tally.having([need]) > 0)
    if (entries > 0 && adds && parts.every((part) => part.entries < entries)) found.push({ ...way, entries })
  }
  return found
}

interface Counted {
  readonly entries: number
}

function isPartOf(part: Way['needs'], whole: Way['needs']): boolean {
  return part.every((need) => whole.some((other) => other.join() === need.join()))
}
