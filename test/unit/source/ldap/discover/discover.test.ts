import { describe, expect, test } from 'vitest'
import type { LdapEntry } from '../../../../../src/source/ldap/entry.ts'
import {
  emailProposals,
  employeeIdProposals,
  idProposals,
  nameProposals,
  USER_ATTRIBUTES,
} from '../../../../../src/source/ldap/discover/propose.ts'
import { Tally } from '../../../../../src/source/ldap/discover/tally.ts'

function entry(dn: string, values: Readonly<Record<string, string>> = {}): LdapEntry {
  const attributes = Object.entries(values).map(([name, value]) => [name.toLowerCase(), [value]] as const)
  return { dn, attributes: new Map(attributes) }
}

function tallyOf(...entries: readonly LdapEntry[]): Tally {
  const tally = new Tally(USER_ATTRIBUTES)
  for (const each of entries) tally.add(each)
  return tally
}

const ANA = { entryUUID: '1', uid: 'ana', mail: 'ana@x.org', cn: 'Ana A', givenName: 'Ana', sn: 'A' }

describe('where entries are', () => {
  test('the smallest place that holds all comes first, then the fullest', () => {
    const people = Array.from({ length: 9 }, (_, at) => entry(`uid=p${at},ou=Staff,ou=People,dc=x,dc=org`))
    const guest = entry('uid=guest,ou=Guests,ou=People,dc=x,dc=org')
    expect(tallyOf(...people, guest).places(8)).toEqual([
      { dn: 'ou=People,dc=x,dc=org', entries: 10 },
      { dn: 'ou=Staff,ou=People,dc=x,dc=org', entries: 9 },
      { dn: 'ou=Guests,ou=People,dc=x,dc=org', entries: 1 },
    ])
  })

  test('a comma in a name is no end of it, and spellings of one place are one place', () => {
    const places = tallyOf(
      entry('cn=A\\, B,ou=Sales\\, EU,dc=x'),
      entry('cn="C, D",OU=sales\\2C EU,dc=x'),
    ).places(8)
    expect(places).toEqual([{ dn: 'ou=Sales\\, EU,dc=x', entries: 2 }])
  })

  test('a place with less than one in a hundred is left out', () => {
    const many = Array.from({ length: 300 }, (_, at) => entry(`uid=p${at},ou=a,dc=x`))
    expect(
      tallyOf(...many, entry('uid=x,ou=b,dc=x'))
        .places(8)
        .map(({ dn }) => dn),
    ).toEqual(['dc=x', 'ou=a,dc=x'])
  })
})

describe('what is proposed', () => {
  test('mail where anybody has it, and with the other address only where that adds somebody', () => {
    const upn = { userPrincipalName: 'x@corp.local' }
    expect(emailProposals(tallyOf(entry('a', { ...ANA, ...upn })))).toEqual([
      { expression: 'mail', entries: 1 },
      { expression: 'userPrincipalName', entries: 1 },
    ])
    expect(emailProposals(tallyOf(entry('a', ANA), entry('b', upn)))[1]).toEqual({
      expression: ['mail', 'userPrincipalName'],
      entries: 2,
    })
  })

  test('an attribute without an @ is no address', () => {
    expect(emailProposals(tallyOf(entry('a', { mail: 'n/a' })))).toEqual([])
  })

  test('the name that most have', () => {
    const only = { cn: 'B' }
    expect(nameProposals(tallyOf(entry('a', { ...ANA, displayName: 'Ana' })))[0]?.expression).toBe(
      'displayName',
    )
    expect(nameProposals(tallyOf(entry('a', ANA)))[0]?.expression).toBe('{givenName} {sn}')
    expect(nameProposals(tallyOf(entry('a', ANA), entry('b', only)))[0]).toEqual({
      expression: ['{givenName} {sn}', 'cn'],
      entries: 2,
    })
  })

  test('no employee id where nobody has one', () => {
    expect(employeeIdProposals(tallyOf(entry('a', ANA)))).toEqual([])
  })

  test('the permanent id of the vendor alone, and changeable ones only where there is no other', () => {
    expect(idProposals(tallyOf(entry('a', ANA)), 'entryUUID')).toEqual([
      { name: 'entryUUID', isPermanent: true },
    ])
    expect(idProposals(tallyOf(entry('a', ANA), entry('b', { uid: 'b' })), undefined)).toEqual([
      { name: 'uid', isPermanent: false },
    ])
  })
})
