import { afterAll, beforeAll, expect, test } from 'vitest'
import { DS389_BASE, type Ds389, startDs389 } from '../support/ds389.ts'
import { startLdapRecorder } from '../support/ldap-recorder.ts'
import { GROUPS, oddCompany, PEOPLE } from '../support/odd-company.ts'
import { ds389Ldif } from '../support/odd-company-ldif.ts'
import { dumpLdif, openOddSync } from '../support/odd-sync.ts'
import type { BindUser } from '../support/slapd.ts'
import { type TruthRules, truthOf, valuesOf } from '../support/truth.ts'

let server: Ds389
let ldif: string

beforeAll(async () => {
  server = await startDs389(ds389Ldif(oddCompany(), DS389_BASE))
  ldif = await dumpLdif(server, server.admin, 'nsUniqueId')
})

afterAll(() => server?.[Symbol.asyncDispose]())

const RULES: TruthRules = {
  isUser: (entry) => valuesOf(entry, 'objectClass').includes('inetOrgPerson'),
  isGroup: (entry) => valuesOf(entry, 'objectClass').includes('groupOfNames'),
  id: { attribute: 'nsUniqueId', form: 'text' },
  name: ['displayName', 'cn'],
  groupName: 'cn',
  nested: 'flatten',
  allowedDomain: 'example.org',
}

/** Ids, filters and the members' attribute are the vendor's. */
function sourceOf(url: string, reader: BindUser): object {
  return {
    type: 'ldap',
    url,
    ...(url.startsWith('ldaps:') && { tls: { ca: './ca.pem' } }),
    bind: { dn: reader.dn, password: { file: './password' } },
    users: { base: `ou=people,${DS389_BASE}`, map: { email: 'mail', name: ['displayName', 'cn'] } },
    groups: { base: `ou=groups,${DS389_BASE}`, nested: 'flatten', map: { name: 'cn' } },
  }
}

test('389-ds: the directory equals the truth, and stays so', async () => {
  const { ldapsUrl, reader, ca } = server
  await using odd = await openOddSync(sourceOf(ldapsUrl, reader), ca, reader.password)
  const truth = truthOf(ldif, RULES)
  expect(truth.groups.size).toBe(GROUPS)
  expect(truth.users.size).toBeGreaterThan(PEOPLE * 0.98)

  expect(await odd.site.run('sync', 'odd')).toMatchObject({ code: 0, stderr: '' })
  await odd.expectEqual(truth)

  const again = await odd.site.json('sync', 'odd')
  expect(again).toMatchObject({ code: 0, stderr: '' })
  expect(again.lines[0]).toMatchObject({ state: 'done', totalChanges: 0 })
})

test('389-ds: an ordinary bind user is stopped by result 11 in the middle, and nothing is planned', async () => {
  await using recorder = await startLdapRecorder(server)
  const source = sourceOf(recorder.url, server.limited)
  await using odd = await openOddSync(source, server.ca, server.limited.password)

  const { code, stderr } = await odd.site.run('plan', 'odd')
  expect(code).toBe(1)
  expect(stderr).toMatch(/could not read all of .*result 11/)
  expect(recorder.binds).toEqual([server.limited.dn])
  expect(recorder.searches.filter(({ result }) => result === 11)).toHaveLength(1)
  await odd.expectEqual({ users: new Map(), groups: new Map() })
})
