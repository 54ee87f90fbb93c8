import { describe, expect, test } from 'vitest'
import { emailProposals, MailDomains } from '../../../../../src/source/ldap/discover/emails.ts'
import { isOddName, nameProposals, NameTally } from '../../../../../src/source/ldap/discover/names.ts'
import type { Proposal } from '../../../../../src/source/ldap/discover/propose.ts'
import { Tally } from '../../../../../src/source/ldap/discover/tally.ts'
import { type LdapEntry, lookupIn } from '../../../../../src/source/ldap/entry.ts'
import { compileUserMap } from '../../../../../src/source/mapping.ts'

type Values = Readonly<Record<string, string | readonly string[]>>

function entryOf(values: Values): LdapEntry {
  const attributes = Object.entries(values).map(
    ([name, value]) => [name.toLowerCase(), [value].flat()] as const,
  )
  return { dn: 'uid=a,o=x', attributes: new Map(attributes) }
}

function found(people: readonly Values[]): { names: readonly Proposal[]; emails: readonly Proposal[] } {
  const tally = new Tally(['mail', 'displayName', 'givenName', 'sn', 'cn'])
  const [names, domains] = [new NameTally(), new MailDomains()]
  for (const person of people) {
    const entry = entryOf(person)
    tally.add(entry)
    names.add(lookupIn(entry))
    domains.add(lookupIn(entry)('mail'))
  }
  return { names: nameProposals(tally, names), emails: emailProposals(tally, domains) }
}

/** What a mapping with this proposal writes. */
function written(field: 'email' | 'name', { expression }: Proposal, people: readonly Values[]) {
  const map = { external_id: 'uid', [field]: expression as string | string[] }
  const mapping = compileUserMap(map, 'users.map', () => undefined)
  return people.map((person) => mapping[field].valueOf(lookupIn(entryOf(person))))
}

const ANA = { displayName: 'Ana Horvat', givenName: 'Ana', sn: 'Horvat', cn: 'ahorvat' }

describe('names', () => {
  test.each([
    ['Kaya, Hans', true],
    ['Hans Kaya (people)', true],
    ['Hans Kaya - extern', true],
    ['Hans-Jürgen O’Neill van der Kaya', false],
  ])('%s is odd: %s', (name, isOdd) => {
    expect(isOddName(name)).toBe(isOdd)
  })

  test('those that most have come first', () => {
    expect(found([ANA]).names[0]?.expression).toBe('displayName')
    expect(found([{ ...ANA, displayName: '' }, { cn: 'B' }]).names[0]).toMatchObject({
      expression: ['{givenName} {sn}', 'cn'],
      entries: 2,
    })
  })

  const many = Array.from({ length: 200 }, () => ANA)
  test.each([
    { odd: 2, first: 'displayName' },
    { odd: 3, first: '{givenName} {sn}' },
  ])('$odd of 200 odd names let $first come first', ({ odd, first }) => {
    const people = many.map((person, at) => (at < odd ? { ...person, displayName: 'Horvat, Ana' } : person))
    const { names } = found(people)
    expect(names[0]?.expression).toBe(first)
    expect(names.find(({ expression }) => expression === 'displayName')?.odd).toEqual({
      entries: odd,
      example: 'Horvat, Ana',
    })
  })

  test('names with the family name first can be turned round, and all that is said of them is so', () => {
    const people: readonly Values[] = [
      { displayName: 'De Clercq, Jan', cn: ['zz', ' De Clercq'], sn: 'De Clercq' },
      { displayName: 'Roth,Björn', givenName: 'Björn', sn: 'Roth', cn: 'Roth, Björn' },
      { displayName: 'Roth, Ida (extern)', cn: 'Ida Roth' },
      { cn: 'Müller, geb. Kurz, Eva' },
      { cn: '$1, $2' },
      ANA,
    ]
    const { names } = found(people)
    const [plain, turned] = names.filter(({ expression }) =>
      [expression].flat().join().includes('displayName'),
    )
    expect([plain!.words, turned!.words]).toEqual([
      undefined,
      expect.stringContaining('with "Family, First" turned round'),
    ])
    for (const proposal of names) {
      const values = written('name', proposal, people)
      expect(values.filter((value) => value !== undefined)).toHaveLength(proposal.entries)
      const odd = values.filter((value) => isOddName(value ?? ''))
      expect(proposal.odd).toEqual({ entries: odd.length, example: odd[0] ?? '' })
    }
    const wanted = names.find(({ words }) => words?.startsWith('displayName, else cn,'))!
    expect(written('name', wanted, people)).toEqual([
      'Jan De Clercq',
      'Björn Roth',
      'Ida (extern) Roth',
      'Müller, geb. Kurz, Eva',
      '$2 $1',
      'Ana Horvat',
    ])
  })
})

describe('addresses of several domains', () => {
  const people: readonly Values[] = [
    { mail: ['aa@logistik.example', 'AA@Nord.example'] },
    { mail: ['bb@nord.example', 'b@logistik.example', 'b@pl.example'] },
    { mail: ['c2@nord.example', 'c1@nord.example'] },
    { mail: 'd@logistik.example' },
    { cn: 'E' },
  ]

  test('each domain can be the one that counts', () => {
    const { emails } = found(people)
    expect(emails.map(({ words, entries }) => [words, entries])).toEqual([
      [undefined, 4],
      ['mail, of several the one at logistik.example', 4],
      ['mail, of several the one at nord.example', 4],
      ['mail, of several the one at pl.example', 4],
    ])
    const wanted = emails.find(({ words }) => words?.endsWith('nord.example') === true)!
    expect(written('email', wanted, people)).toEqual([
      'AA@Nord.example',
      'bb@nord.example',
      'c1@nord.example',
      'd@logistik.example',
      undefined,
    ])
  })

  test('one domain alone, and what is no plain domain, is no choice', () => {
    expect(found(people.slice(2)).emails).toHaveLength(1)
    const odd = [{ mail: ['a@x.example', 'a@b"c.example', 'nobody', ''] }]
    expect(found(odd).emails.map(({ words }) => words)).toEqual([
      undefined,
      'mail, of several the one at x.example',
    ])
  })
})
