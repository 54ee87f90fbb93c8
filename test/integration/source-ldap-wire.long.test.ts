import { expect, test } from 'vitest'
import { silentLog } from '../../src/base/log/log.ts'
import { createLdapSource } from '../../src/source/ldap/ldap-source.ts'
import { startFakeLdap } from '../support/fake-ldap.ts'
import { BASE } from '../support/slapd.ts'

test('a search may be answered with 130,000 entries at once', async () => {
  const people = Array.from({ length: 130_000 }, (_, index) => ({
    dn: `uid=u${index},${BASE}`,
    attributes: { uid: [`u${index}`] },
  }))
  await using server = await startFakeLdap(({ base }) => ({ entries: base === '' ? [] : people }))
  const source = createLdapSource(
    {
      url: server.url,
      tls: { startTls: false },
      vendor: 'lldap',
      pageSize: 50,
      timeouts: { connectMs: 60_000, answerMs: 60_000 },
      users: { base: BASE, scope: 'sub', map: { external_id: 'uid' } },
    },
    silentLog(),
  )
  expect((await source.read(new AbortController().signal)).users.size).toBe(130_000)
})
