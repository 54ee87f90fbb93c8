import { parse, stringify } from 'yaml'
import { FIXTURE, FIXTURE_YAML } from '../support/fixture.ts'

/** In every text that organization 2 of the wide fixture has. */
export const MARKER = 'mark-of-the-others'

type Json = Record<string, any>

/**
 * The fixture of the tests with several pages of everything in organization 1, and each text of organization 2 marked.
 */
export function wideFixture(): string {
  const fixture = parse(FIXTURE_YAML) as Json
  const [own, other] = fixture['organizations'] as [Json, Json]
  const [ada] = own['contacts'] as [Json]
  const [directory] = own['directories'] as [Json]
  own['directories'].push(...many(6, (n) => ({ id: 70 + n, name: `Directory ${n}` })))
  directory['users'] = many(45, (n) => ({
    external_id: `user/${n} ä`,
    email: `user${n}@example.org`,
    name: `User Number ${n}`,
  }))
  directory['groups'] = many(25, (n) => ({ external_id: `group ${n}`, name: `Group ${n}` }))
  ada['subscriptions'].push(
    ...many(25, (n) => ({
      id: 120 + n,
      installation: 32,
      name: `Ledger ${n}`,
      position: 10 + n,
      credentials: { login: 'ada', password: `planted-password-${120 + n}` },
    })),
  )
  own['groups'].push(...many(25, (n) => ({ id: 70 + n, name: `Team ${n} Größe` })))
  own['events'].push(
    ...many(25, (n) => ({
      type: n % 2 === 0 ? 'update_policy' : 'enable_contact_admin',
      operation: 'update',
      at: `2026-02-${String((n % 28) + 1).padStart(2, '0')}T08:00:00Z`,
      description: { en: `Something happened, number ${n}.` },
      actor: n % 3 === 0 ? FIXTURE.benId : FIXTURE.contactId,
      ip: n % 2 === 0 ? '192.0.2.20' : '2001:db8::20',
    })),
  )
  return stringify({ ...fixture, organizations: [own, markTexts(other)] })
}

function many<T>(count: number, make: (n: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index + 1))
}

/** Names, texts, e-mails and external ids, but not what the fixture's own rules are about. */
function markTexts(organization: Json): Json {
  const mark = (value: any, key: string): any => {
    if (Array.isArray(value)) return value.map((item) => mark(item, key))
    if (typeof value === 'object' && value !== null) {
      return Object.fromEntries(Object.entries(value).map(([name, child]) => [name, mark(child, name)]))
    }
    if (typeof value !== 'string') return value
    if (key === 'email') return value.replace('@', `-${MARKER}@`)
    if (key === 'url') return `${value}/${MARKER}`
    return MARKED.has(key) ? `${value} ${MARKER}` : value
  }
  return mark(organization, '') as Json
}

const MARKED: ReadonlySet<string> = new Set(['name', 'slug', 'en', 'external_id', 'login', 'password'])
