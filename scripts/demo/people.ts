import { DEPARTMENTS, MAIL_DOMAIN, PEOPLE, SITES, type Site } from './company.ts'
import { CULTURES, type Culture } from './names.ts'
import { pick, shuffled, type Random } from './random.ts'

export interface Person {
  readonly id: string
  readonly givenName: string
  readonly familyName: string
  /** Only where it is not simply the given and the family name. */
  readonly displayName: string
  /** Empty where the person has none. */
  readonly mail: string
  readonly employeeNumber: string
  readonly title: string
  readonly department: string
  readonly site: string
}

interface Special {
  readonly given: string
  readonly family: string
  readonly display?: string
  readonly mail?: string
}

/** People of whom the demo must have one. Two of them are Anna Kowalska, and both are real. */
const SPECIAL: readonly Special[] = [
  { given: 'Seán', family: "O'Neill", mail: `sean.o'neill@${MAIL_DOMAIN}` },
  { given: 'Giulia', family: "D'Angelo" },
  { given: 'Łukasz', family: 'Wójcik' },
  { given: 'Thị Hương', family: 'Nguyễn', display: 'Nguyễn Thị Hương' },
  { given: 'Lucía', family: 'García-Márquez' },
  { given: 'Ayşe', family: 'Çelik' },
  { given: 'Anna', family: 'Kowalska' },
  { given: 'Anna', family: 'Kowalska' },
  { given: 'Robert', family: "O'Brien", display: 'Robert "Bob" O\'Brien' },
  { given: 'Fang', family: 'Wang', display: 'Wang Fang (王芳)' },
  { given: 'Siobhán', family: 'Ní Dhomhnaill' },
  { given: 'Pádraig', family: 'Ó Súilleabháin' },
  // One name is all that he has.
  { given: 'Sukarni', family: '', display: 'Sukarni' },
  { given: 'Олена', family: 'Коваленко', mail: `olena.kovalenko@${MAIL_DOMAIN}` },
  { given: 'Karl-Theodor', family: 'von und zu Hohenlohe-Langenburg-Weikersheim' },
  // Typed by hand into the personnel system, with capitals, in the domain of a company that was bought.
  { given: 'Zoë', family: 'Brontë', mail: 'Zoe.Bronte@Northgate-Labs.example' },
  // Freelancers: their addresses are outside the organization's domains, so that they are skipped and reported.
  { given: 'Maja', family: 'Lindqvist', mail: 'maja@studio-lindqvist.example' },
  { given: 'Tobias', family: 'Grünwald', mail: 'tobias.gruenwald@gruenwald-partner.example' },
  { given: 'Priya', family: "D'Souza", mail: 'priya.dsouza@mail.example' },
]

/** Every so many people in production one without an address: they share the terminals of the shop floor. */
const WITHOUT_MAIL_EVERY = 40

/** Every so many people one of the special ones, until there are no more. */
const SPECIAL_EVERY = 7

const FIRST_NUMBER = 100_001

/** The same people every time. */
export function makePeople(random: Random): Person[] {
  const departments = shuffled(
    DEPARTMENTS.flatMap((department) => Array.from({ length: department.size }, () => department)),
    random,
  )
  const sites = shares(SITES)
  const names = new Set(SPECIAL.map(({ given, family }) => `${given} ${family}`))
  const mails = new Map<string, number>()
  const people: Person[] = []
  let production = 0
  for (const [index, department] of departments.entries()) {
    const site = pick(sites, random)
    const special = index % SPECIAL_EVERY === 3 ? SPECIAL[Math.floor(index / SPECIAL_EVERY)] : undefined
    const { given, family, display, mail } = special ?? makeName(site, names, random)
    const withoutMail =
      special === undefined && department.id === 'production' && ++production % WITHOUT_MAIL_EVERY === 0
    people.push({
      id: `p${FIRST_NUMBER + index}`,
      givenName: given,
      familyName: family,
      displayName: display ?? '',
      mail: withoutMail ? '' : (mail ?? makeMail(given, family, mails)),
      employeeNumber: `N-${String(2041 + index * 3).padStart(5, '0')}`,
      title: pick(department.titles, random),
      department: department.id,
      site: site.id,
    })
  }
  return checked(people)
}

/** Every site as often as its share. */
function shares(sites: readonly Site[]): readonly Site[] {
  return sites.flatMap((site) => Array.from({ length: site.share }, () => site))
}

/** A name that nobody has yet; the cultures that a site names first have most of its people. */
function makeName(site: Site, taken: Set<string>, random: Random): Special {
  for (;;) {
    const at = Math.floor(random() ** 2 * site.cultures.length)
    const culture: Culture = CULTURES[site.cultures[at] ?? 'english']
    const given = pick(culture.given, random)
    const family = pick(culture.family, random)
    const key = `${given} ${family}`
    if (taken.has(key)) continue
    taken.add(key)
    return culture.order === 'family-first'
      ? { given, family, display: `${family} ${given}` }
      : { given, family }
  }
}

/** `given.family`, in letters that every mail server takes, with a number for the second of one name. */
function makeMail(given: string, family: string, mails: Map<string, number>): string {
  const local = [given, family].map(plain).filter(Boolean).join('.')
  const used = (mails.get(local) ?? 0) + 1
  mails.set(local, used)
  return `${local}${used === 1 ? '' : used}@${MAIL_DOMAIN}`
}

const LETTERS: Readonly<Record<string, string>> = {
  ä: 'ae',
  ö: 'oe',
  ü: 'ue',
  ß: 'ss',
  æ: 'ae',
  ø: 'oe',
  å: 'aa',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ı: 'i',
}

function plain(name: string): string {
  return name
    .normalize('NFC')
    .toLowerCase()
    .replace(/[äöüßæøåłđðþı]/g, (letter) => LETTERS[letter] ?? letter)
    .normalize('NFD')
    .replace(/[^a-z -]/g, '')
    .replace(/[ -]+/g, '-')
}

function checked(people: Person[]): Person[] {
  const mails = new Set(people.map(({ mail }) => mail).filter(Boolean))
  const withMail = people.filter(({ mail }) => mail !== '').length
  if (people.length !== PEOPLE) throw new Error(`The departments have ${people.length} people, not ${PEOPLE}`)
  if (mails.size !== withMail) throw new Error('Two people have one e-mail address')
  return people
}
