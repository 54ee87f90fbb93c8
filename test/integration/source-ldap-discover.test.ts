import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createServer as createTlsServer } from 'node:tls'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { silentLog } from '../../src/base/log/log.ts'
import { discoverGroups, discoverPeople } from '../../src/source/ldap/discover/discover.ts'
import { discoverKinds } from '../../src/source/ldap/discover/kinds.ts'
import { discoverMarks } from '../../src/source/ldap/discover/marks.ts'
import { lookAtServer, type ServerOptions } from '../../src/source/ldap/discover/server.ts'
import { ldif } from '../support/people.ts'
import { BASE, type BindUser, type Slapd, startSlapd } from '../support/slapd.ts'

const PEOPLE = 700
const NEVER = new AbortController().signal
const log = silentLog()

const MORE = [
  ldif(`ou=old,${BASE}`, { objectClass: ['organizationalUnit'], ou: ['old'] }),
  ldif(`cn=unix,ou=groups,${BASE}`, {
    objectClass: ['posixGroup'],
    cn: ['unix'],
    gidNumber: ['7'],
    memberUid: ['u000001'],
  }),
  ldif(`cn=all,ou=groups,${BASE}`, {
    objectClass: ['groupOfNames'],
    cn: ['all'],
    member: [`cn=Team 0000,ou=groups,${BASE}`],
  }),
  ldif(`cn=Otto Old,ou=old,${BASE}`, { objectClass: ['person'], cn: ['Otto Old'], sn: ['Old'] }),
  ldif(`uid=ancient,ou=old,${BASE}`, {
    objectClass: ['account'],
    uid: ['ancient'],
    description: ['has left'],
  }),
]

let slapd: Slapd
let leaf: string

beforeAll(async () => {
  slapd = await startSlapd({ people: PEOPLE, groups: 4, ldifs: MORE })
  leaf = await readFile(join(slapd.directory, 'server.pem'), 'utf8')
})

afterAll(() => slapd.close())

/** An anonymous reader. */
function server(more: Partial<ServerOptions> = {}): ServerOptions {
  return {
    url: slapd.url,
    tls: { startTls: false },
    timeouts: { connectMs: 60_000, answerMs: 60_000 },
    ...more,
  }
}

function options({ dn, password }: BindUser): ServerOptions {
  return server({ bind: { dn, password: async () => password } })
}

const looking = { vendor: 'openldap', bases: [BASE] } as const

describe('a certificate of an unknown CA', () => {
  test.each([
    ['ldaps', () => ({ url: slapd.ldapsUrl, tls: { startTls: false } })],
    ['StartTLS', () => ({ url: slapd.namedUrl, tls: { startTls: true } })],
  ])('is shown, with the CA that the server sends (%s)', async (_, more) => {
    const anonymous = server(more())
    const look = await lookAtServer(anonymous, log, NEVER)
    expect(look).toMatchObject({
      untrusted: {
        subject: 'CN=localhost',
        names: ['localhost'],
        fingerprint: new X509Certificate(leaf).fingerprint256,
        anchor: { isAuthority: true, fingerprint: new X509Certificate(slapd.ca).fingerprint256 },
      },
    })
    if (!('untrusted' in look)) return
    const trusting = { ...anonymous, tls: { ...anonymous.tls, ca: look.untrusted.anchor.pem } }
    expect(await lookAtServer(trusting, log, NEVER)).toMatchObject({
      facts: { vendor: 'openldap', contexts: [BASE] },
    })
  })

  test('is shown to nobody where it is for another host: trusted, it could not be used', async () => {
    const url = slapd.ldapsUrl.replace('localhost', '127.0.0.1')
    await expect(lookAtServer(server({ url }), log, NEVER)).rejects.toThrow(
      `${url} cannot be used: its certificate is for another host (it is for localhost); connect by such a name, ` +
        'with its address in /etc/hosts where DNS does not know it',
    )
  })

  test("is the server's own where that is all that it sends", async () => {
    const key = await readFile(join(slapd.directory, 'server.key'))
    const listener = createTlsServer({ key, cert: leaf }).on('tlsClientError', () => undefined)
    await once(listener.listen(0, '127.0.0.1'), 'listening')
    const address = listener.address()
    const url = `ldaps://localhost:${typeof address === 'object' ? address?.port : 0}`
    const look = await lookAtServer(server({ url }), log, NEVER)
    listener.close()
    expect(look).toMatchObject({ untrusted: { anchor: { isAuthority: false } } })
    const pem = 'untrusted' in look ? look.untrusted.anchor.pem : ''
    expect(new X509Certificate(pem).fingerprint256).toBe(new X509Certificate(leaf).fingerprint256)
  })

  test("may be trusted itself, and no other server's certificate is then", async () => {
    const own = { ...options(slapd.readers.reader), url: slapd.ldapsUrl, tls: { ca: leaf, startTls: false } }
    expect(await lookAtServer(own, log, NEVER)).toHaveProperty('facts')
    await using other = await startSlapd({})
    await expect(lookAtServer({ ...own, url: other.ldapsUrl }, log, NEVER)).rejects.toThrow(
      'it does not come from the CA in tls.ca',
    )
  })
})

const people = { ...looking, filter: '(objectClass=inetOrgPerson)' } as const

test('users are counted by OU, and a mapping of their attributes is proposed', async () => {
  const found = await discoverPeople(options(slapd.readers.reader), people, log, NEVER)
  expect(found).toMatchObject({
    filter: '(objectClass=inetOrgPerson)',
    entries: PEOPLE,
    cut: undefined,
    severalMails: 0,
    disabled: 0,
    ids: [{ name: 'entryUUID', isPermanent: true }],
    // Those with a title behind the name, such as "Smith, Jr.".
    names: [
      { expression: '{givenName} {sn}', entries: PEOPLE, odd: { entries: 64 } },
      { expression: 'cn', odd: { entries: 64 } },
      { words: 'cn, with "Family, First" turned round', odd: { entries: 0 } },
    ],
  })
  expect(found.emails).toEqual([{ expression: 'mail', entries: PEOPLE }])
  expect(found.places).toEqual([
    { dn: `ou=people,${BASE}`, entries: PEOPLE },
    { dn: `ou=external,ou=people,${BASE}`, entries: PEOPLE / 7 },
  ])
})

test('a size limit of the bind account ends the counting and is reported', async () => {
  const found = await discoverPeople(options(slapd.readers.totallyLimited), people, log, NEVER)
  expect(found.entries).toBe(500)
  expect(found.cut).toContain('sizeLimitExceeded')
})

test('a long word is shortened, and an attribute with more than 25 words is named', async () => {
  const ldifs = Array.from({ length: 120 }, (_, number) =>
    ldif(`uid=u${number},ou=people,${BASE}`, {
      objectClass: ['inetOrgPerson'],
      uid: [`u${number}`],
      cn: [`Toni ${number}`],
      sn: ['Town'],
      l: [`Town ${number % 30}`],
      // No mark, as addresses are of one person.
      title: [`t${number % 3}@example.org`],
      employeeType: [number % 4 === 0 ? 'A' : number % 2 === 0 ? 'a' : '1'],
      ...(number < 3 && {
        description: [
          number < 2 ? `left (or not) with the company that was sold in the summer to buyer 1${number}` : '7',
        ],
      }),
    }),
  )
  await using towns = await startSlapd({ ldifs })
  expect(
    await discoverMarks({ ...options(towns.readers.reader), url: towns.url }, people, log, NEVER),
  ).toEqual({
    few: [
      {
        attribute: 'employeetype',
        values: [
          { text: 'A', entries: 60, filter: '(employeetype=A)' },
          { text: '1', entries: 60, filter: '(employeetype=1)' },
        ],
      },
      {
        attribute: 'description',
        values: [
          ...[0, 1].map((number) => ({
            text: `left (or not) with the company that was…e summer to buyer 1${number}`,
            entries: 1,
            filter: `(description=left \\28or not\\29 with the company that was sold in the summer to buyer 1${number})`,
          })),
          { text: '7', entries: 1, filter: '(description=7)' },
        ],
      },
    ],
    many: ['l'],
  })
  const filter =
    '(&(objectClass=inetOrgPerson)(description=left \\28or not\\29 with the company that was sold in the summer to buyer 11))'
  const found = await discoverPeople(
    { ...options(towns.readers.reader), url: towns.url },
    { ...people, filter },
    log,
    NEVER,
  )
  expect(found.entries).toBe(1)
})

test('every kind of groups is counted, and groups in groups are noticed', async () => {
  const both = '(|(objectClass=groupOfNames)(objectClass=posixGroup))'
  const reader = options(slapd.readers.reader)
  expect(await discoverKinds('group', reader, looking, log, NEVER)).toEqual([
    { filter: '(objectClass=groupOfNames)', entries: 5, isAll: false },
    { filter: '(objectClass=posixGroup)', entries: 1, isAll: false },
    { filter: both, entries: 6, isAll: true },
  ])
  const found = await discoverGroups(reader, { ...looking, filter: both }, log, NEVER)
  expect(found).toMatchObject({ entries: 6, members: ['member', 'memberUid'], nested: 1 })
  expect(found.places[0]).toEqual({ dn: `ou=groups,${BASE}`, entries: 6 })
})
