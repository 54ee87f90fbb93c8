import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { silentLog } from '../../src/base/log/log.ts'
import { createLdapSource } from '../../src/source/ldap/ldap-source.ts'
import type { LdapSourceOptions } from '../../src/source/ldap/options.ts'
import type { Found } from '../../src/source/source.ts'
import { startFakeLdap } from '../support/fake-ldap.ts'
import { ldif } from '../support/people.ts'
import { BASE, type BindUser, type Slapd, startSlapd } from '../support/slapd.ts'

const NEVER = new AbortController().signal
const BOTH = ['user', 'group'] as const

let slapd: Slapd

interface Entry {
  readonly uid: string
  readonly given: string
  readonly sn: string
  readonly mail: string
  readonly unit?: string
  readonly type?: string
}

function entry({ uid, given, sn, mail, unit = 'ou=staff', type }: Entry): string {
  return ldif(`uid=${uid.replaceAll(/[\\,]/g, String.raw`\$&`)},${unit},${BASE}`, {
    objectClass: ['inetOrgPerson'],
    uid: [uid],
    cn: [`${given} ${sn}`],
    givenName: [given],
    sn: [sn],
    mail: [mail],
    ...(type !== undefined && { employeeType: [type] }),
  })
}

const PEOPLE = [
  entry({ uid: 'ana', given: 'Ana', sn: 'Šimić', mail: 'Ana.Simic@example.org' }),
  entry({ uid: 'marie', given: 'Marie Claire', sn: 'García Márquez', mail: 'mcgm@example.org' }),
  entry({ uid: 'ana', given: 'Ana', sn: 'Other', mail: 'other@example.org', unit: 'ou=second' }),
  entry({ uid: 'twin1', given: 'Tom', sn: 'Twin', mail: 'twins@example.org' }),
  entry({ uid: 'twin2', given: 'Tim', sn: 'Twin', mail: 'TWINS@example.org' }),
  entry({ uid: 'gone', given: 'Left', sn: 'Person', mail: 'left@example.org', type: 'left' }),
  entry({ uid: 'locked', given: 'Locked', sn: 'Person', mail: 'locked@example.org', type: 'locked' }),
  entry({ uid: 'far', given: 'Far', sn: 'Away', mail: 'far@example.org', unit: 'ou=elsewhere' }),
  entry({ uid: 'odd (*)\\,x', given: 'Odd', sn: 'One', mail: 'odd@example.org' }),
]

const GROUPS = [
  ldif(`cn=Sales,ou=groups,${BASE}`, {
    objectClass: ['groupOfNames'],
    cn: ['Sales'],
    member: [`uid=ana,ou=staff,${BASE}`, `uid=nobody,${BASE}`],
  }),
]

const UNITS = ['staff', 'second', 'elsewhere'].map((ou) =>
  ldif(`ou=${ou},${BASE}`, { objectClass: ['organizationalUnit'], ou: [ou] }),
)

beforeAll(async () => {
  slapd = await startSlapd({ tls: false, ldifs: [...UNITS, ...PEOPLE, ...GROUPS] })
})
afterAll(() => slapd.close())

function options(more: Partial<LdapSourceOptions> = {}, reader?: BindUser): LdapSourceOptions {
  const { dn, password } = reader ?? slapd.readers.reader
  return {
    url: slapd.url,
    tls: { startTls: false },
    bind: { dn, password: async () => password },
    pageSize: 100,
    timeouts: { connectMs: 60_000, answerMs: 60_000 },
    users: {
      base: [`ou=staff,${BASE}`, `ou=second,${BASE}`],
      scope: 'sub',
      filter: '(&(objectClass=inetOrgPerson)(!(employeeType=left)))',
      disabled: 'delete',
      disabledWhen: '(employeeType=locked)',
      map: { external_id: 'uid', email: 'mail', name: '{givenName} {sn}' },
    },
    groups: {
      base: `ou=groups,${BASE}`,
      scope: 'sub',
      filter: '(objectClass=groupOfNames)',
      map: { external_id: 'cn', name: 'cn', members: 'member' },
    },
    ...more,
  }
}

function find(who: string, more: Partial<LdapSourceOptions> = {}): Promise<Found> {
  return createLdapSource(options(more), silentLog()).find({ who, kinds: BOTH }, NEVER)
}

const dnsOf = ({ entries }: Found): string[] => entries.map(({ from }) => from)
const staff = (uid: string) => `uid=${uid},ou=staff,${BASE}`

describe('somebody is found', () => {
  test.each<[string, string]>([
    ['by id', 'marie'],
    ['by id in other letters, as the server compares', 'MARIE'],
    ['by e-mail in other letters', 'MCGM@Example.ORG'],
    ['by the full name', 'marie claire garcía márquez'],
    ['by given names and surname in the other order', 'García Márquez Marie Claire'],
    ['by DN', staff('marie')],
    ['by a DN that is written in another way', `UID=Marie , OU=Staff,${BASE.toUpperCase()}`],
  ])('%s', async (_how, who) => {
    expect(dnsOf(await find(who))).toEqual([staff('marie')])
  })

  test('and no text is taken for a filter', async () => {
    const odd = String.raw`odd (*)\,x`
    expect((await find(odd)).entries.map(({ ids }) => ids)).toEqual([[odd]])
    for (const who of ['*', 'ana*', '(uid=*)', '', ' ', 'uid=*', `uid=*,ou=staff,${BASE}`])
      expect(dnsOf(await find(who))).toEqual([])
  })

  test('with the server that showed the entry', async () => {
    expect(await find('marie')).toMatchObject({ server: slapd.url })
  })
})

test.each<[string, string, object]>([
  ['within base and filter', 'marie', { inBase: true, inFilter: true, disabled: undefined }],
  ['outside of the filter', 'gone', { inBase: true, inFilter: false, disabled: undefined }],
  ['at another base', 'far', { inBase: false, inFilter: true, disabled: undefined }],
  ['at another base, by DN', `uid=far,ou=elsewhere,${BASE}`, { inBase: false, inFilter: true }],
  ['disabled', 'locked', { inBase: true, disabled: { rule: '(employeeType=locked)', action: 'delete' } }],
])('an entry is %s', async (_where, who, standing) => {
  const { entries } = await find(who)
  expect(entries).toMatchObject([{ standing }])
})

test.each<[string, string | undefined]>([
  [`ou=staff,${BASE}`, 'a container (objectClass organizationalUnit)'],
  [staff('gone'), undefined],
  [staff('marie'), undefined],
])('what kind of a container %s is', async (dn, container) => {
  const { entries } = await find(dn)
  expect(entries.map((found) => found.container)).toEqual([container])
})

test('what a read would leave out is not in the snapshot', async () => {
  for (const [who, has] of [
    ['marie', true],
    ['gone', false],
    ['far', false],
    ['locked', false],
  ] as const) {
    const { snapshot } = await find(who)
    expect([who, snapshot.users.has(who), snapshot.seen.user.has(who)]).toEqual([who, has, has])
  }
})

test('entries that share an id are all found, by whatever one of them is looked for', async () => {
  for (const who of ['ana', 'other@example.org', staff('ana')]) {
    const { entries, snapshot } = await find(who)
    expect(entries.map(({ from }) => from).toSorted()).toEqual(
      [staff('ana'), `uid=ana,ou=second,${BASE}`].toSorted(),
    )
    expect(snapshot.users.size).toBe(0)
    expect(new Set(snapshot.notices.map(({ code }) => code))).toEqual(new Set(['duplicate-id']))
  }
})

test('other users with the same e-mail are in the snapshot, and are not whom the person means', async () => {
  const found = await find('twin1')
  expect(dnsOf(found)).toEqual([staff('twin1')])
  expect([...found.snapshot.users.keys()].toSorted()).toEqual(['twin1', 'twin2'])
  expect(dnsOf(await find('twins@example.org'))).toEqual([staff('twin1'), staff('twin2')])
})

test('a group is found by its name, with how many members it lists', async () => {
  expect((await find('sales')).entries).toMatchObject([{ kind: 'group', ids: ['Sales'], members: 2 }])
})

test('a person whose name is what the id of groups is made of is a person, also outside of the bases', async () => {
  const map = { external_id: 'uid', email: 'mail', name: 'cn' }
  const users = { ...options().users, base: `ou=second,${BASE}`, map }
  const found = await find('Far Away', { users })
  expect(found.entries).toMatchObject([{ kind: 'user', ids: ['far'], standing: { inBase: false } }])
  const groups = { ...options().groups!, base: BASE }
  expect((await find('Far Away', { users, groups })).entries).toMatchObject([{ kind: 'user' }])
})

describe('where users and groups have one base', () => {
  const base = BASE
  const map = { external_id: 'entryUUID', email: 'mail', name: 'cn' }
  const more = (filter: string): Partial<LdapSourceOptions> => ({
    users: { ...options().users, base, filter, map },
    groups: { ...options().groups!, base, map: { external_id: 'entryUUID', name: 'cn', members: 'member' } },
  })

  test('an entry is what the filter says', async () => {
    const both = more('(objectClass=inetOrgPerson)')
    expect((await find('Sales', both)).entries).toMatchObject([{ kind: 'group' }])
    expect((await find('Marie Claire García Márquez', both)).entries).toMatchObject([{ kind: 'user' }])
  })
})

test('a server that refuses to search by a name is no reason to fail, and the answer says so', async () => {
  const root = { dn: '', attributes: { objectClass: ['OpenLDAProotDSE'], namingContexts: [BASE] } }
  await using server = await startFakeLdap(({ base, filter }) => {
    if (base === '') return { entries: [root] }
    return filter.includes('displayName') || filter.includes('cn=')
      ? { entries: [], code: 11 }
      : { entries: [] }
  })
  const source = createLdapSource(options({ url: server.url }), silentLog())
  const { entries, searched } = await source.find({ who: 'somebody', kinds: ['user'] }, NEVER)
  expect(entries).toEqual([])
  expect(searched).toContain('adminLimitExceeded')
})

test('a base that the server does not have is an error', async () => {
  const users = { ...options().users, base: `ou=missing,${BASE}` }
  await expect(find('marie', { users })).rejects.toMatchObject({ code: 'source-refused' })
})
