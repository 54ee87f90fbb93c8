import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Cleaner, type CleanerParts } from '../../../src/operations/bundle/clean.ts'
import { plainForm, programWords } from '../../../src/operations/bundle/words.ts'

const words = await programWords()
const shown = [
  'ldaps://ldap.corp.test:636',
  'ou=people,dc=corp,dc=test',
  '{givenName} {sn}',
  '/data/users.csv',
]

function cleaner(more: Partial<CleanerParts> = {}): Cleaner {
  return new Cleaner({ salt: 'a salt', words, shown, known: new Map(), ...more })
}

describe('a sentence keeps what support needs', () => {
  test.each([
    '12 of 1,204 users would be removed, limit 50',
    'the service answered 422 Unprocessable Entity',
    'ldaps://ldap.corp.test:636 cannot be reached (connecting): connection refused',
    'could not read all of "ou=people,dc=corp,dc=test": the connection was reset',
    'users.csv, row 5: column "sn": a quote is opened and never closed',
    'waits for the API until 2026-11-21 07:29:03Z',
    'the store at 10.0.0.1 does not answer (ECONNREFUSED)',
  ])('%s', (sentence) => {
    expect(cleaner().sentence(sentence)).toBe(sentence)
  })
})

describe('a sentence loses who it is about', () => {
  test.each([
    ['an e-mail address', 'the e-mail zvonka.peric@corp.test is used'],
    ['an e-mail address that is encoded', 'GET /users?email=Zvonka.Peric%40corp.test failed'],
    ['an id in a path of the API', 'DELETE /api/v2/directories/7/users/zvonka-peric at http://x failed: 500'],
    ['a short id in a path of the API', 'DELETE /api/v2/directories/7/users/731 failed'],
    ['a name that the service repeats', 'the service answered 422: Zvonka Perić is a contractor'],
    ['a name in another case', 'the service answered 422: ZVONKA PERIĆ and zvonka perić'],
    ['a name that is escaped', String.raw`the service answered 422: {"name":"Zvonka Peri\u0107"}`],
    ['a DN', 'could not read uid=zvonka,ou=people,dc=corp,dc=test'],
    [
      'a DN with a comma in its value',
      String.raw`cn=Peric\, Zvonka,ou=people,dc=corp,dc=test is not readable`,
    ],
    ['an answer of Active Directory', '80090308: LdapErr: DSID-0C090439, comment: zvonka, data 52e, v4563'],
    ['a value in quotes', 'the id "zvonka" is also used by users.csv, row 12, "Perić, Zvonka"'],
    ['a personal number', 'row 12: the number 48213077123 occurs twice, and 0912-731-731 too'],
  ])('%s', (_what, sentence) => {
    const cleaned = cleaner().sentence(sentence)
    expect(cleaned).toContain('[hidden ')
    expect(cleaned).not.toMatch(/zvonka|peri[cć]|731|0C090439|48213077123/i)
  })

  test('a name that is made of words of the program, where the store knows it', () => {
    const known = new Map([['mark page', { kind: 'user', id: 'mp' } as const]])
    expect(cleaner({ known }).sentence('the service answered 422: Mark PAGE may not')).toMatch(
      /^the service answered 422: \[user [0-9a-f]{12}\] may not$/,
    )
  })

  test('somebody whose id is a word of the configuration', () => {
    const known = new Map([['corp', { kind: 'user', id: 'corp' } as const]])
    expect(cleaner().sentence('corp is skipped')).toBe('corp is skipped')
    expect(cleaner({ known }).sentence('corp is skipped')).toMatch(/^\[user \w+\] is skipped$/)
  })
})

describe('the parameters of a fact', () => {
  const group = { group: 'groups', list: 'cn=groups,dc=corp,dc=test' }

  test.each<[string, object]>([
    ['counts, limits and codes', { kind: 'users', deletes: 1_204, of: 20_000, limit: 50, how: 'no-members' }],
    ['times', { since: '2026-11-21T07:29:03.000Z', until: '2026-11-22T07:29:03.000Z', needsApproval: false }],
    ['a sentence of the program', { from: 'users.csv, row 5', fault: 'column "sn": there is no id' }],
    ['texts of the configuration', { container: 'ou=people,dc=corp,dc=test', keys: ['users.filter'] }],
  ])('keep %s', (_what, params) => {
    expect(cleaner().params(params)).toEqual(params)
  })

  test.each<[string, object]>([
    ['an id that is a short number', { email: 'x', owner: '731', how: 'held' }],
    ['the ids of members', { examples: ['731', '732'], total: 2 }],
    ['a name of program words', { how: 'no-members', group: 'groups', had: 31 }],
    ['a nested name', { reason: { code: 'unresolved', params: { ...group, member: 'groups' } } }],
    ["the service's own ids", { ownIds: [731, 7_311], ownId: 731 }],
    ['an e-mail address', { now: { name: null, email: '731@groups.test' } }],
    ['the operator', { by: 'groups', run: 7 }],
  ])('lose %s', (_what, params) => {
    expect(JSON.stringify(cleaner().params(params))).not.toMatch(/731|groups/)
  })
})

test('one person has one hash in a bundle, and another one in another bundle', () => {
  const known = new Map([['ana kovač', { kind: 'user', id: 'ana' } as const]])
  const one = cleaner({ known })
  const hash = one.id({ kind: 'user', id: 'ana' })
  expect(one.sentence('the id "ANA"')).toContain(hash.slice(6, -1))
  expect(one.sentence('Ana Kovač is skipped')).toBe(`${hash} is skipped`)
  expect(cleaner({ salt: 'another' }).id({ kind: 'user', id: 'ana' })).not.toBe(hash)
})

const FIRST_NAMES =
  'Ada Adam Adrian Alan Alexander Alice Ana Andrea Anna Antonio Barbara Benjamin Carlos Charlotte Christian Daniel David Elena Emma Eva George Hans Helen Ivan Jack James Jan Jean John Jose Julia Kevin Laura Lisa Lucas Luka Maria Marko Martin Mary Michael Mohammed Nina Olga Omar Patrick Paul Peter Petra Robert Rosa Sarah Sofia Thomas Victor Wei'.split(
    ' ',
  )

test('the words of the program are no first names', () => {
  expect(FIRST_NAMES.filter((name) => words.has(name) || words.has(name.toLowerCase()))).toEqual([])
})

describe('whatever the name', () => {
  const letters = fc.constantFrom(...'abdeiklmnorstuvzčćđšžäöüßéñøłабвгдежзклмнопрстαβγδελμνπρσ'.split(''))
  const word = fc.array(letters, { minLength: 5, maxLength: 12 }).map((some) => some.join(''))
  const capital = word.map((text) => text.charAt(0).toUpperCase() + text.slice(1))
  const person = fc.record({ first: capital, last: capital, id: word, host: word })
  const TEMPLATES: readonly ((values: { name: string; email: string; id: string }) => string)[] = [
    ({ name }) => `the service answered 409 Conflict: ${name} exists`,
    ({ name, email }) => `the directory shows the e-mail ${email} with ${name} too`,
    ({ id, email }) => `users.csv, row 7: ${id};${email} cannot be read`,
    ({ id, name }) => `uid=${id},ou=people,dc=corp,dc=test: cn=${name}`,
    ({ id }) => `PUT /api/v2/organizations/1/admin/directories/7/groups/${encodeURIComponent(id)} failed`,
    ({ name, id }) => JSON.stringify({ error: `${name.toUpperCase()} <${id}>` }),
  ]

  test('nothing of it is in a cleaned sentence', () => {
    fc.assert(
      fc.property(person, fc.constantFrom(...TEMPLATES), ({ first, last, id, host }, template) => {
        const secrets = [first, last, id, host].filter(
          (text) => !words.has(text) && !words.has(text.toLowerCase()),
        )
        const text = template({ name: `${first} ${last}`, email: `${first}.${last}@${host}.test`, id })
        const cleaned = cleaner().sentence(text).toLowerCase()
        for (const secret of secrets) {
          expect(cleaned).not.toContain(secret.normalize('NFC').toLowerCase())
          expect(cleaned).not.toContain(encodeURIComponent(secret).toLowerCase())
        }
      }),
      { numRuns: 500 },
    )
  })

  test('names of program words vanish where the store knows them', () => {
    const some = [...words].filter((each) => /^[a-z]{4,}$/.test(each))
    const name = fc
      .array(fc.constantFrom(...some), { minLength: 2, maxLength: 4 })
      .map((parts) => parts.join(' '))
    fc.assert(
      fc.property(name, fc.boolean(), (full, isUpper) => {
        const known = new Map([[plainForm(full), { kind: 'user', id: 'u' } as const]])
        const cleaned = cleaner({ known }).sentence(`422: ${isUpper ? full.toUpperCase() : full}; stop`)
        expect(plainForm(cleaned)).not.toContain(plainForm(full))
      }),
    )
  })
})
