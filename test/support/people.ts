import { createHash } from 'node:crypto'

/** Given names that break naive programs. `person` and `personGroup` return the same data in every run. */
const GIVEN_NAMES = [
  'Anna',
  'José',
  'Zoë',
  'Łukasz',
  'Søren',
  'Marie-Claire',
  'Nguyễn',
  'Aylin',
  'Oğuz',
  'Chloé',
  '明',
  'Ann Lee',
]
const SURNAMES = [
  "O'Brien",
  'Müller',
  'Smith, Jr.',
  'García Márquez',
  'van der Berg',
  'Nowak',
  'Ångström',
  'Kim',
  "D'Angelo",
  'Šimić',
  'Çelik',
]

export interface Person {
  readonly dn: string
  readonly entryUuid: string
  readonly uid: string
  readonly givenName: string
  readonly sn: string
  readonly cn: string
  readonly mail: string
  readonly employeeNumber: string
}

export interface PersonGroup {
  readonly dn: string
  readonly entryUuid: string
  readonly cn: string
  /** Indexes of people. */
  readonly members: readonly number[]
}

/** Every 7th person is in ou=external; every 50th has an RDN of cn and uid with escaped commas. */
export function person(index: number, base: string): Person {
  const uid = `u${String(index).padStart(6, '0')}`
  const givenName = pick(GIVEN_NAMES, index)
  const sn = pick(SURNAMES, index * 7 + Math.floor(index / GIVEN_NAMES.length))
  const cn = `${sn} ${givenName}`
  const parent = index % 7 === 3 ? `ou=external,ou=people,${base}` : `ou=people,${base}`
  const rdn = index % 50 === 10 ? `cn=${cn.replaceAll(',', '\\,')}+uid=${uid}` : `uid=${uid}`
  return {
    dn: `${rdn},${parent}`,
    entryUuid: uuidOf(`person ${index}`),
    uid,
    givenName,
    sn,
    cn,
    mail: `${uid}@example.org`,
    employeeNumber: String(100_000 + index),
  }
}

export function personGroup(index: number, base: string, people: number): PersonGroup {
  const cn = `Team ${String(index).padStart(4, '0')}`
  const size = Math.min(people, 5 + (index % 40))
  const members = Array.from({ length: size }, (_, each) => (index * 31 + each * 13) % people)
  return {
    dn: `cn=${cn},ou=groups,${base}`,
    entryUuid: uuidOf(`group ${index}`),
    cn,
    members: [...new Set(members)],
  }
}

export function personLdif(each: Person): string {
  return ldif(each.dn, {
    objectClass: ['inetOrgPerson'],
    entryUUID: [each.entryUuid],
    uid: [each.uid],
    givenName: [each.givenName],
    sn: [each.sn],
    cn: [each.cn],
    mail: [each.mail],
    employeeNumber: [each.employeeNumber],
  })
}

export function groupLdif(group: PersonGroup, base: string): string {
  const member = group.members.map((index) => person(index, base).dn)
  return ldif(group.dn, {
    objectClass: ['groupOfNames'],
    entryUUID: [group.entryUuid],
    cn: [group.cn],
    member,
  })
}

/** One LDIF record, with base64 for values that need it. */
export function ldif(dn: string, attributes: Readonly<Record<string, readonly string[]>>): string {
  const lines = [ldifLine('dn', dn)]
  for (const [name, values] of Object.entries(attributes)) {
    for (const value of values) lines.push(ldifLine(name, value))
  }
  return `${lines.join('\n')}\n\n`
}

function ldifLine(name: string, value: string): string {
  const safe = /^(?![ :<])[\x20-\x7e]*(?<! )$/.test(value)
  return safe ? `${name}: ${value}` : `${name}:: ${Buffer.from(value).toString('base64')}`
}

function pick(values: readonly string[], index: number): string {
  return values[index % values.length] ?? ''
}

function uuidOf(seed: string): string {
  const hex = createHash('sha256').update(seed).digest('hex')
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `4${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-')
}
