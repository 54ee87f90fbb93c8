import type { Tally } from './tally.ts'

/** How a field can be made, and how many entries have it then. */
export interface Proposal {
  readonly expression: string | readonly string[]
  readonly entries: number
}

/** Attributes by which servers know an entry for ever, through renames and moves. */
const PERMANENT = ['entryUUID', 'objectGUID', 'ipaUniqueID', 'nsUniqueId', 'ibm-entryUUID']

/** All that may be an id, the best first. Numbers and names of people may be changed, or given to somebody else. */
export const ID_ATTRIBUTES: readonly string[] = [...PERMANENT, 'employeeNumber', 'uid']

/** All that a mapping of people may be made of. */
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

/** An attribute that may be the id. */
export interface Id {
  readonly name: string
  readonly isPermanent: boolean
}

/** A way to make a field, and the sets of attributes of which an entry needs one. */
interface Way {
  readonly expression: Proposal['expression']
  readonly needs: readonly (readonly string[])[]
}

const PRIMARY_ADDRESS =
  '= lower(first(first(values(proxyAddresses).filter(p, p.startsWith("SMTP:"))).after("SMTP:"), mail))'

const EMAILS: readonly Way[] = [
  { expression: 'mail', needs: [['mail']] },
  { expression: PRIMARY_ADDRESS, needs: [['proxyAddresses'], ['mail']] },
  { expression: ['mail', 'userPrincipalName'], needs: [['mail'], ['userPrincipalName']] },
  { expression: 'userPrincipalName', needs: [['userPrincipalName']] },
]

const FULL_NAME = '{givenName} {sn}'

const NAMES: readonly Way[] = [
  { expression: 'displayName', needs: [['displayName']] },
  { expression: FULL_NAME, needs: [['givenName', 'sn']] },
  { expression: ['displayName', FULL_NAME], needs: [['displayName'], ['givenName', 'sn']] },
  { expression: [FULL_NAME, 'displayName'], needs: [['givenName', 'sn'], ['displayName']] },
  {
    expression: ['displayName', FULL_NAME, 'cn'],
    needs: [['displayName'], ['givenName', 'sn'], ['cn']],
  },
  {
    expression: [FULL_NAME, 'displayName', 'cn'],
    needs: [['givenName', 'sn'], ['displayName'], ['cn']],
  },
  { expression: ['displayName', 'cn'], needs: [['displayName'], ['cn']] },
  { expression: [FULL_NAME, 'cn'], needs: [['givenName', 'sn'], ['cn']] },
  { expression: 'cn', needs: [['cn']] },
]

const EMPLOYEE_IDS: readonly Way[] = [
  { expression: 'employeeNumber', needs: [['employeeNumber']] },
  { expression: 'employeeID', needs: [['employeeID']] },
]

/** An address of another kind may be wrong, which is worse than none: the first is `mail` where anybody has it. */
export function emailProposals(tally: Tally): readonly Proposal[] {
  return waysOf(tally, EMAILS)
}

/** What a display name has that is no part of a name, or that puts the family name first. */
const ODD_NAME = /[,()[\]]|(?:^|\s)[^\p{L}\p{N}\s](?:\s|$)/u

/** Whether services, which cut a name into a first and a last one, do so wrongly with this one. */
export function isOddName(name: string): boolean {
  return ODD_NAME.test(name)
}

/** So many odd display names are a habit of the company. */
const HABIT = 0.05

/** The first is the one that most people have; display names come last where many of them are odd. */
export function nameProposals(tally: Tally, oddDisplayNames: number): readonly Proposal[] {
  const isHabit = oddDisplayNames > tally.entries * HABIT
  const isLater = ({ expression }: Proposal) => Number(isHabit && [expression].flat()[0] === 'displayName')
  return waysOf(tally, NAMES).toSorted((a, b) => b.entries - a.entries || isLater(a) - isLater(b))
}

export function employeeIdProposals(tally: Tally): readonly Proposal[] {
  return waysOf(tally, EMPLOYEE_IDS)
}

/** Only attributes that every entry has. A permanent one, the vendor's above all, is the only proposal. */
export function idProposals(tally: Tally, usual: string | undefined): readonly Id[] {
  const names =
    usual === undefined ? ID_ATTRIBUTES : [usual, ...ID_ATTRIBUTES.filter((name) => name !== usual)]
  const ids = names.filter((name) => tally.having([[name]]) === tally.entries)
  const [first] = ids.map((name) => ({ name, isPermanent: name === usual || PERMANENT.includes(name) }))
  return first?.isPermanent === true ? [first] : ids.map((name) => ({ name, isPermanent: false }))
}

/** Those that any entry has; a way that consists of others is left out where it adds nothing. */
function waysOf(tally: Tally, ways: readonly Way[]): readonly Proposal[] {
  const found: (Proposal & Way)[] = []
  for (const way of ways) {
    const entries = tally.having(way.needs)
    const parts = found.filter(({ needs }) => needs.length < way.needs.length && isPartOf(needs, way.needs))
    const adds = way.needs.every((need) => tally.having([need]) > 0)
    if (entries > 0 && adds && parts.every((part) => part.entries < entries)) found.push({ ...way, entries })
  }
  return found.map(({ expression, entries }) => ({ expression, entries }))
}

function isPartOf(part: Way['needs'], whole: Way['needs']): boolean {
  return part.every((need) => whole.some((other) => other.join() === need.join()))
}
