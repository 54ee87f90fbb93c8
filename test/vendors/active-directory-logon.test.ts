import { afterAll, beforeAll, expect, test } from 'vitest'
import { silentLog } from '../../src/base/log/log.ts'
import { createLdapSource } from '../../src/source/ldap/ldap-source.ts'
import { openExample } from '../support/example-sync.ts'
import { SAMBA_BASE, startSamba } from '../support/samba.ts'
import type { VendorServer } from '../support/vendor-server.ts'

/** Accounts that may not log on, although the password is right. */
const PASSWORD = 'Correct-Horse-8-Battery'
const NEVER = new AbortController().signal
const YEAR_2001 = '126227808000000000'

const stack = new AsyncDisposableStack()
let server: VendorServer

beforeAll(async () => {
  const accounts = [
    account('gone', 'userAccountControl: 514'),
    account('over', 'userAccountControl: 512', `accountExpires: ${YEAR_2001}`),
    account('fresh', 'userAccountControl: 512', 'pwdLastSet: 0'),
    account('nightly', 'userAccountControl: 512', `logonHours:: ${Buffer.alloc(21).toString('base64')}`),
  ]
  server = stack.use(await startSamba([...accounts, ...COMPANY].join('\n')))
})

afterAll(() => stack.disposeAsync())

/** For the example: people with addresses, a group within a group, a computer. */
const COMPANY = [
  account(
    'ada',
    'userAccountControl: 512',
    'mail: ada@example.org',
    'displayName: Ada King',
    'employeeID: 17',
  ),
  account(
    'bob',
    'userAccountControl: 512',
    'mail: old@example.org',
    'proxyAddresses: smtp:b@example.org',
    'proxyAddresses: SMTP:Bob@Example.org',
    'accountExpires: 9223372036854775807',
  ),
  account('left', 'userAccountControl: 514', 'mail: left@example.org'),
  account('intern', 'userAccountControl: 512', 'mail: intern@example.org', `accountExpires: ${YEAR_2001}`),
  account('postless', 'userAccountControl: 512'),
  group('inner', 'bob', 'left'),
  group('outer', 'inner', 'ada', 'intern'),
]

function group(name: string, ...members: readonly string[]): string {
  return [
    `dn: CN=${name},CN=Users,${SAMBA_BASE}`,
    'objectClass: group',
    `sAMAccountName: ${name}`,
    'groupType: -2147483646',
    ...members.map((member) => `member: CN=${member},CN=Users,${SAMBA_BASE}`),
    '',
  ].join('\n')
}

/** As LDIF; what it has besides a name and the password is in `more`. */
function account(name: string, ...more: string[]): string {
  return [
    `dn: CN=${name},CN=Users,${SAMBA_BASE}`,
    'objectClass: user',
    `sAMAccountName: ${name}`,
    `userPrincipalName: ${name}@example.test`,
    `clearTextPassword:: ${Buffer.from(PASSWORD, 'utf16le').toString('base64')}`,
    ...more,
    '',
  ].join('\n')
}

test.each([
  ['gone@example.test', PASSWORD, 'the account is disabled; have it enabled, or use another one'],
  ['over@example.test', PASSWORD, 'the account has expired; have its end moved, or use another one'],
  [
    'fresh@example.test',
    PASSWORD,
    'the password must be changed before the account can be used; set a new one',
  ],
  ['nightly@example.test', PASSWORD, 'the account may not log on at this time'],
  ['reader@EXAMPLE.TEST', 'wrong', 'wrong password or unknown bind DN'],
  ['nobody@example.test', PASSWORD, 'wrong password or unknown bind DN'],
])('%s with the password %s hears what is wrong: %s', async (dn, password, words) => {
  const source = createLdapSource(
    {
      url: server.ldapsUrl,
      tls: { startTls: false, ca: server.ca },
      bind: { dn, password: async () => password },
      pageSize: 100,
      timeouts: { connectMs: 5000, answerMs: 5000 },
      users: { base: SAMBA_BASE, scope: 'sub', map: { email: 'mail' } },
    },
    silentLog(),
  )
  const reading = source.read(NEVER)
  await expect(reading).rejects.toMatchObject({ code: 'source-refused' })
  await expect(reading).rejects.toThrow(`refused the bind as "${dn}": ${words}`)
})

test('the example for Active Directory has whoever can log on, with the main address, and groups within groups', async () => {
  await using example = await openExample(
    'active-directory',
    {
      '[ldaps://dc1.example.org, ldaps://dc2.example.org]': server.ldapsUrl,
      '/etc/dirsyncd/domain-ca.pem': './ca.pem',
      'dirsyncd@example.org': server.reader.dn,
      '/run/secrets/ad-password': './password',
      'DC=example,DC=org': SAMBA_BASE,
    },
    { 'ca.pem': server.ca, password: server.reader.password },
  )
  const { users, groups } = await example.syncTwice()
  const nameOf = (id: string) => users.get(id)?.name
  expect([...users.values()].toSorted((a, b) => (a.name! < b.name! ? -1 : 1))).toEqual([
    { name: 'Ada King', email: 'ada@example.org' },
    { name: 'bob', email: 'bob@example.org' },
  ])
  const members = [...groups.values()].map((each) => [each.name, each.members.map(nameOf).toSorted()])
  expect(Object.fromEntries(members)).toMatchObject({ inner: ['bob'], outer: ['Ada King', 'bob'] })
  expect(members).not.toContainEqual([expect.stringMatching(/Domain|Administrators/), expect.anything()])
})
