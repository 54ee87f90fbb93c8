import { hash } from 'node:crypto'
import { MAIL_DOMAIN } from './company.ts'
import type { Group } from './groups.ts'
import type { Person } from './people.ts'

const BASE = MAIL_DOMAIN.split('.')
  .map((part) => `dc=${part}`)
  .join(',')

/** How many of the demo's people the sample LDAP server has. */
const SAMPLE = 200

type Attributes = readonly (readonly [attribute: string, value: string])[]

/** The first of the demo's people, with their departments and sites, for `slapadd`. */
export function sampleLdif(people: readonly Person[], groups: readonly Group[]): string {
  const sample = people.slice(0, SAMPLE)
  const known = new Set(sample.map(({ id }) => id))
  const entries = [
    entry(BASE, [
      ['objectClass', 'dcObject'],
      ['objectClass', 'organization'],
      ['dc', MAIL_DOMAIN.split('.')[0] ?? ''],
      ['o', 'Northgate Instruments'],
    ]),
    unit('people'),
    unit('groups'),
    ...sample.map(personEntry),
    ...groups
      .filter(({ id }) => /^(dept|site)-/.test(id))
      .map((group) => ({ ...group, members: group.members.filter((id) => known.has(id)) }))
      // groupOfNames has at least one member.
      .filter(({ members }) => members.length > 0)
      .map(groupEntry),
  ]
  return entries.join('\n')
}

function unit(name: string): string {
  return entry(`ou=${name},${BASE}`, [
    ['objectClass', 'organizationalUnit'],
    ['ou', name],
  ])
}

function personEntry(person: Person): string {
  const { givenName, familyName, displayName } = person
  const fullName = displayName || `${givenName} ${familyName}`
  return entry(personDn(person.id), [
    ['objectClass', 'inetOrgPerson'],
    ['entryUUID', uuid(person.id)],
    ['uid', person.id],
    ['cn', fullName],
    ['givenName', givenName],
    // LDAP wants a family name of everybody.
    ['sn', familyName || givenName],
    ['displayName', displayName],
    ['mail', person.mail],
    ['employeeNumber', person.employeeNumber],
    ['title', person.title],
    ['departmentNumber', person.department],
    ['l', person.site],
  ])
}

function groupEntry({ id, name, members }: Group): string {
  return entry(`cn=${name},ou=groups,${BASE}`, [
    ['objectClass', 'groupOfNames'],
    ['entryUUID', uuid(id)],
    ['cn', name],
    ...members.map((member) => ['member', personDn(member)] as const),
  ])
}

function personDn(id: string): string {
  return `uid=${id},ou=people,${BASE}`
}

/** Always the same, so that a server that is seeded again has the same people. Version 8: made in a way of one's own. */
function uuid(id: string): string {
  const digits = hash('sha256', `${MAIL_DOMAIN}/${id}`)
  const at = (from: number, to: number) => digits.slice(from, to)
  return `${at(0, 8)}-${at(8, 12)}-8${at(13, 16)}-a${at(17, 20)}-${at(20, 32)}`
}

function entry(dn: string, attributes: Attributes): string {
  const lines = attributes.filter(([, value]) => value !== '').map(([name, value]) => line(name, value))
  return [line('dn', dn), ...lines, ''].join('\n')
}

/** RFC 2849: what is not plain ASCII is written in base64. */
function line(name: string, value: string): string {
  const safe = /^[!-9;=-~][ -~]*$/.test(value) && !value.endsWith(' ')
  return safe ? `${name}: ${value}` : `${name}:: ${Buffer.from(value).toString('base64')}`
}
