import { describe, expect, test } from 'vitest'
import type { LdapEntry } from '../../../../../src/source/ldap/entry.ts'
import {
  emailProposals,
  employeeIdProposals,
  idProposals,
  nameProposals,
  USER_ATTRIBUTES,
} from '../../../../../src/source/ldap/discover/propose.ts'
import { Tally, treeOf } from '../../../../../src/source/ldap/discover/tally.ts'

function entry(dn: string, values: Readonly<Record<string, string>> = {}): LdapEntry {
  const attributes = Object.entries(values).map(([name, value]) => [name.toLowerCase(), [value]] as const)
  return { dn, attributes: new Map(attributes) }
}

function tallyOf(...entries: readonly LdapEntry[]): Tally {
  const tally = new Tally(USER_ATTRIBUTES)
  for (const each of entries) tally.add(each)
  return tally
}

function peopleIn(unit: string, many: number): readonly LdapEntry[] {
  return Array.from({ length: many }, (_, at) => entry(`uid=p${at},${unit},o=x`))
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

  test('a tree has each place after the one around it, with as much of its name as differs', () => {
    const tally = tallyOf(
      ...peopleIn('ou=DE', 2),
      ...peopleIn('ou=Bremen,OU=de', 3),
      ...peopleIn('ou=Kiel,ou=DE', 1),
      ...peopleIn('ou=old', 4),
    )
    expect(treeOf(tally.places(8))).toEqual([
      { dn: 'o=x', entries: 10, depth: 0, label: 'o=x' },
      { dn: 'ou=DE,o=x', entries: 6, depth: 1, label: 'ou=DE' },
      { dn: 'ou=Bremen,OU=de,o=x', entries: 3, depth: 2, label: 'ou=Bremen,OU=de,o=x' },
      { dn: 'ou=Kiel,ou=DE,o=x', entries: 1, depth: 2, label: 'ou=Kiel' },
      { dn: 'ou=old,o=x', entries: 4, depth: 1, label: 'ou=old' },
    ])
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
