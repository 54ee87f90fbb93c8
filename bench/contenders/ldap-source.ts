import { createLog } from '../../src/base/log/log.ts'
import { createLdapSource } from '../../src/source/ldap/ldap-source.ts'
import { peopleSections } from '../../test/support/slapd.ts'
import { serveContender } from '../contender.ts'
import type { LdapTask } from './bare-reading.ts'

/** Our LDAP source: it reads the entries, maps them and makes a snapshot of them, with all that proves the read. */
serveContender(async ({ url, dn, password, base, people, groups }: LdapTask) => {
  const sections = peopleSections(base)
  const source = createLdapSource(
    {
      url,
      tls: { startTls: false },
      bind: { dn, password: async () => password },
      pageSize: 1000,
      timeouts: { connectMs: 10_000, answerMs: 60_000 },
      users: { ...sections.users, scope: 'sub' },
      ...(groups > 0 && { groups: { ...sections.groups, scope: 'sub' } }),
    },
    createLog('silent'),
  )
  return {
    async run() {
      const snapshot = await source.read(new AbortController().signal)
      if (snapshot.users.size !== people || snapshot.groups.size !== groups)
        throw new Error(`${snapshot.users.size} users and ${snapshot.groups.size} groups were read`)
    },
    close: () => Promise.resolve(),
  }
})
