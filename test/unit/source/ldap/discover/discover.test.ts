import { describe, expect, test } from 'vitest'
import { type LdapEntry, lookupIn } from '../../../../../src/source/ldap/entry.ts'
import {
  employeeIdProposals,
  idProposals,
  USER_ATTRIBUTES,
} from '../../../../../src/source/ldap/discover/propose.ts'
import { Expired } from '../../../../../src/source/ldap/discover/expired.ts'
import { emailProposals, MailDomains } from '../../../../../src/source/ldap/discover/emails.ts'
import { Patterns } from '../../../../../src/source/ldap/discover/patterns.ts'
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

function emailsOf(...entries: readonly LdapEntry[]) {
  const domains = new MailDomains()
  for (const each of entries) domains.add(lookupIn(each)('mail'))
  return emailProposals(tallyOf(...entries), domains)
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
    expect(emailsOf(entry('a', { ...ANA, ...upn }))).toEqual([
      { expression: 'mail', entries: 1 },
      { expression: 'userPrincipalName', entries: 1 },
    ])
    expect(emailsOf(entry('a', ANA), entry('b', upn))[1]).toEqual({
      expression: ['mail', 'userPrincipalName'],
      entries: 2,
    })
  })

  test('an attribute without an @ is no address', () => {
    expect(emailsOf(entry('a', { mail: 'n/a' }))).toEqual([])
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

function patternsOf(...people: readonly Readonly<Record<string, string>>[]) {
  const patterns = new Patterns()
  for (const values of people) patterns.add(entry('x', values))
  return patterns.marks((text) => text.replace('(', '\\28').replace(')', '\\29'))
}

describe('what tells apart who is no employee', () => {
  test('what logins begin with, and what several names end with, once', () => {
    const extern = { displayName: 'Schneider, Anke - extern', cn: 'Anke Schneider - Extern' }
    expect(
      patternsOf(
        { uid: 'svc_backup', cn: 'Backup (IT)' },
        { uid: 'SVC_scan', cn: 'Scan (it)' },
        { uid: 'test3' },
        { uid: 'testa', cn: 'Tes Ta (HR)' },
        { uid: 'admiral' },
        { uid: 'anna-lena.meier', cn: 'Anna-Lena Meier' },
        extern,
        extern,
      ),
    ).toEqual([
      {
        attribute: 'uid',
        values: [
          { text: 'svc_…', entries: 2, filter: '(uid=svc_*)' },
          {
            text: 'test0… to test9…',
            entries: 1,
            filter:
              '(|(uid=test0*)(uid=test1*)(uid=test2*)(uid=test3*)(uid=test4*)(uid=test5*)(uid=test6*)(uid=test7*)(uid=test8*)(uid=test9*))',
          },
        ],
      },
      {
        attribute: 'displayName',
        values: [{ text: '… - extern', entries: 2, filter: '(displayName=* - extern)' }],
      },
      { attribute: 'cn', values: [{ text: '… (IT)', entries: 2, filter: '(cn=* \\28IT\\29)' }] },
    ])
  })

  test('endings of which there are many are no pattern', () => {
    const names = Array.from(
      { length: 26 },
      (_, at) => `Somebody (Unit ${String.fromCodePoint(97 + (at >> 1))})`,
    )
    expect(patternsOf(...names.map((cn) => ({ cn })))).toEqual([])
  })

  test('accounts that have expired, and not those that never do, or later', () => {
    const expired = new Expired()
    const times = [
      '0',
      '9223372036854775807',
      '132223104000000000',
      '132223104000000000',
      'x',
      '9'.repeat(19),
    ]
    for (const accountExpires of times) expired.add(entry('x', { accountExpires }))
    expect(expired.marks()).toEqual([
      {
        attribute: 'accountExpires',
        values: [
          {
            text: 'in the past',
            entries: 2,
            filter: '(&(accountExpires>=1)(accountExpires<=now(filetime)))',
          },
        ],
      },
    ])
    expect(new Expired().marks()).toEqual([])
  })
})
