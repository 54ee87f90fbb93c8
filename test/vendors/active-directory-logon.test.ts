import { afterAll, beforeAll, expect, test } from 'vitest'
import { silentLog } from '../../src/log.ts'
import { createLdapSource } from '../../src/source/ldap/ldap-source.ts'
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
  server = stack.use(await startSamba(accounts.join('\n')))
})

afterAll(() => stack.disposeAsync())

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
