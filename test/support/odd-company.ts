import { inLong } from './long.ts'

/**
 * A person of a company with unusual data, the same in every run. The data is independent of a server:
 * `odd-company-ldif.ts` writes it as LDIF for each one.
 */
export interface OddPerson {
  readonly uid: string
  readonly givenName: string
  readonly sn: string
  readonly displayName: string
  readonly cn: string
  readonly mails: readonly string[]
  readonly employeeNumber: string
  /** The RDN has both `cn` and `uid`, where the server allows that. */
  readonly multiValued: boolean
  readonly disabled: boolean
}

/** An item in a group's list of members. */
export type OddMember =
  | { readonly person: number; readonly spelling: Spelling }
  | { readonly group: number }
  /** An entry that does not exist. */
  | { readonly nobody: string }
  /** An existing entry that is not a person of the company. */
  | { readonly foreign: number }

/** How a DN is written in a list of members: unchanged, in capitals, with blanks, or with hexadecimal escapes. */
export type Spelling = 'plain' | 'capitals' | 'blanks' | 'hex'

export interface OddGroup {
  readonly cn: string
  readonly members: readonly OddMember[]
}

export interface OddCompany {
  readonly people: readonly OddPerson[]
  readonly groups: readonly OddGroup[]
}

export const PEOPLE = inLong(600, 5000)
export const GROUPS = inLong(100, 300)
export const BIG_GROUP = inLong(400, 3000)
/** The index of the first person in the special groups. */
const SPECIAL_PEOPLE = PEOPLE - 500

const SEED = 20_260_101
/** The length of the chain of nested groups. */
const DEPTH = 30
/** The first groups are the special ones; see `membersAt`. */
const SPECIAL = 50

/** Names that break naive programs. */
const ODD_NAMES = [
  'Smith, John',
  'Ann "Nan" Lee',
  '#1 Helper',
  'Plus + Minus',
  ' leading blank',
  'trailing blank ',
  '  both  ',
  'Zoë 🦊 Fox',
  '👩‍👩‍👧 Family',
  'Line\nBreak',
  '__proto__',
  'constructor',
  'Back\\slash',
  'a=b;c<d>e',
  "O'Brien",
  'Ångström',
  'A\u030angstro\u0308m decomposed',
  '明 王',
  'tab\there',
  '100% *(sure)*',
  'Ümlaut-ß-ẞ',
  'İstanbul',
  'null',
  '../admin',
] as const

export function oddCompany(): OddCompany {
  const random = randomOf(SEED)
  const people = Array.from({ length: PEOPLE }, (_, index) => personAt(index))
  return { people, groups: Array.from({ length: GROUPS }, (_, index) => groupAt(index, random)) }
}

/** Only the special groups, with at most 50 members each, and the people in them: quick to load. */
export function smallCompany(): OddCompany {
  const { people, groups } = oddCompany()
  const newIndexes = new Map<number, number>()
  const small = groups.slice(0, SPECIAL).map(({ cn, members }) => ({
    cn,
    members: members.slice(0, 50).flatMap((member): OddMember[] => {
      if ('group' in member) return member.group < SPECIAL ? [member] : []
      if (!('person' in member)) return [member]
      const index = newIndexes.get(member.person) ?? newIndexes.size
      newIndexes.set(member.person, index)
      return [{ ...member, person: index }]
    }),
  }))
  return { people: [...newIndexes.keys()].flatMap((index) => people[index] ?? []), groups: small }
}

function personAt(index: number): OddPerson {
  const uid = `u${String(index).padStart(6, '0')}`
  const odd = index % 7 === 0 ? ODD_NAMES[(index / 7) % ODD_NAMES.length] : undefined
  const givenName = odd ?? `Given${index % 113}`
  const sn = `Name${index}`
  // Each odd name occurs once unchanged; later people get it with their index appended.
  const displayName = odd === undefined ? `${givenName} ${sn}` : numbered(odd, index, ODD_NAMES.length * 7)
  return {
    uid,
    givenName,
    sn,
    displayName,
    cn: displayName,
    mails: mailsAt(index, uid),
    employeeNumber: employeeNumberAt(index),
    multiValued: index % 14 === 0,
    disabled: index % 41 === 7,
  }
}

function numbered(name: string, index: number, plainBelow: number): string {
  return index < plainBelow ? name : name.replace(/\s*$/, (end) => ` ${index}${end}`)
}

function mailsAt(index: number, uid: string): string[] {
  // Three addresses, each used by three people in different upper and lower case.
  if (index < 9) {
    const box = `shared${Math.floor(index / 3)}`
    return [
      [`${box}@example.org`, `${box.toUpperCase()}@Example.ORG`, `Shared${box.at(-1)}@EXAMPLE.org`][
        index % 3
      ] ?? '',
    ]
  }
  switch (index % 97) {
    case 10:
      return [`${uid.toUpperCase()}@Example.ORG`]
    case 11:
      return [` ${uid}@example.org `]
    case 12:
      return Array.from({ length: 12 }, (_, each) => `${(each * 7 + 5) % 12}.${uid}@example.org`)
    case 13:
      return []
    case 14:
      return [`${uid}@elsewhere.test`]
    case 15:
      return [`o'${uid}+tag@example.org`]
    case 16:
      return [`alias0.${uid}@elsewhere.test`, `${uid}@Example.org`, `z.${uid}@example.org`]
    default:
      return [`${uid}@example.org`]
  }
}

/** Pairs such as `000123` and `123` are different people; some values break naive URLs or object keys. */
function employeeNumberAt(index: number): string {
  const odd = ['__proto__', 'a/b c?d#e', 'ü%41+&=', 'constructor', '...'][index - 200]
  if (odd !== undefined) return odd
  if (index < 200) return index % 2 === 0 ? String(100 + index) : String(100 + index - 1).padStart(6, '0')
  return String(100_000 + index)
}

function groupAt(index: number, random: (below: number) => number): OddGroup {
  const odd = index % 5 === 0 ? ODD_NAMES[(index / 5) % ODD_NAMES.length]?.trim() : undefined
  const cn = odd === undefined ? `Group ${index}` : numbered(odd, index, ODD_NAMES.length * 5)
  return { cn, members: membersAt(index, random) }
}

/** The first groups are special; the others contain random people, and some of them two groups. */
function membersAt(index: number, random: (below: number) => number): OddMember[] {
  if (index === 0) return somePeople(BIG_GROUP, (each) => each)
  if (index <= DEPTH) {
    // A chain: each group contains the next group and two people; the last group contains only people.
    const next: OddMember[] = index < DEPTH ? [{ group: index + 1 }] : []
    return [...next, ...somePeople(2, (each) => SPECIAL_PEOPLE + index * 2 + each)]
  }
  // Two cycles of three groups, and a group that contains itself.
  if (index <= 36) {
    const first = index <= 33 ? 31 : 34
    return [
      { group: first + ((index - first + 1) % 3) },
      ...somePeople(2, (each) => SPECIAL_PEOPLE + 100 + index * 2 + each),
    ]
  }
  if (index === 37) return [{ group: 37 }, ...somePeople(1, () => SPECIAL_PEOPLE + 200)]
  if (index <= 40) return []
  if (index <= 45)
    return [
      { nobody: `gone${index}` },
      { foreign: index },
      ...somePeople(3, (each) => SPECIAL_PEOPLE + 300 + each),
    ]
  // The same people are members over several paths.
  if (index === 46) return [{ group: 47 }, { group: 48 }]
  if (index === 47 || index === 48)
    return [{ group: 49 }, ...somePeople(4, (each) => SPECIAL_PEOPLE + 400 + each)]
  const spellings: Spelling[] = ['plain', 'capitals', 'blanks', 'hex']
  const members: OddMember[] = Array.from({ length: 3 + random(40) }, (_, each) => ({
    person: random(PEOPLE),
    spelling: spellings[(index + each) % 4] ?? 'plain',
  }))
  const nested = index % 10 === 9 ? [{ group: 50 + random(GROUPS - 50) }, { group: 1 + random(45) }] : []
  return [...unique(members), ...nested]
}

function somePeople(count: number, indexOf: (each: number) => number): OddMember[] {
  return Array.from({ length: count }, (_, each) => ({ person: indexOf(each), spelling: 'plain' }))
}

/** Servers reject the same DN twice in one list. */
function unique(members: readonly OddMember[]): OddMember[] {
  return [...new Map(members.map((member) => ['person' in member ? member.person : member, member])).values()]
}

/** A pseudo-random generator (mulberry32) of integers from 0 to below a bound. */
function randomOf(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }
}
