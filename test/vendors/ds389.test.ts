import { afterAll, beforeAll, expect, test } from 'vitest'
import { DS389_BASE, type Ds389, startDs389 } from '../support/ds389.ts'
import { silentLog } from '../../src/base/log/log.ts'
import { createLdapSource } from '../../src/source/ldap/ldap-source.ts'
import { recheckLosses } from '../../src/sync/recheck-losses.ts'
import { openExample } from '../support/example-sync.ts'
import { startLdapRecorder } from '../support/ldap-recorder.ts'
import { GROUPS, oddCompany, PEOPLE } from '../support/odd-company.ts'
import { ds389Ldif } from '../support/odd-company-ldif.ts'
import { ldif as record } from '../support/people.ts'
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

test('the example for 389-ds', async () => {
  await using example = await openExample(
    '389ds',
    {
      '[ldaps://ds1.example.org, ldaps://ds2.example.org]': server.ldapsUrl,
      '/etc/dirsyncd/ldap-ca.pem': './ca.pem',
      'uid=reader,ou=services,dc=example,dc=org': server.reader.dn,
      '/run/secrets/ldap-password': './password',
    },
    { 'ca.pem': server.ca, password: server.reader.password },
  )
  const { users, groups } = await example.syncTwice()
  expect(users.size).toBeGreaterThan(PEOPLE * 0.9)
  expect(groups.size).toBe(GROUPS)
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

const NEVER = new AbortController().signal
const EMPTY = `ou=empty,${DS389_BASE}`
const SHUT = `ou=shut,${DS389_BASE}`

const unit = (dn: string) =>
  record(dn, { changetype: ['add'], objectClass: ['organizationalUnit'], ou: [dn.slice(3, dn.indexOf(','))] })

function direct(groups: string) {
  const { reader, url } = server
  return createLdapSource(
    {
      url,
      tls: { startTls: false },
      bind: { dn: reader.dn, password: async () => reader.password },
      pageSize: 1000,
      timeouts: { connectMs: 5000, answerMs: 30_000 },
      users: { base: `ou=people,${DS389_BASE}`, scope: 'sub', map: {} },
      groups: { base: groups, scope: 'sub', map: { name: 'cn' } },
    },
    silentLog(),
  )
}

test('389-ds: a base that the reader may not see is refused, and an empty one is not', async () => {
  const nobody = `(targetattr="*")(version 3.0; acl "shut"; deny (all) userdn="ldap:///${server.reader.dn}";)`
  const hidden = record(SHUT, { changetype: ['modify'], add: ['aci'], aci: [nobody] })
  await server.modify(unit(EMPTY) + unit(SHUT) + hidden)
  expect((await direct(EMPTY).read(NEVER)).groups.size).toBe(0)
  const reading = direct(SHUT).read(NEVER)
  await expect(reading).rejects.toMatchObject({ code: 'source-refused' })
  await expect(reading).rejects.toThrow(`shows neither the entry "${SHUT}"`)
})

test('389-ds: its schema lets a group be empty, so that an empty one may be one', async () => {
  const team = `cn=team,${EMPTY}`
  await server.modify(record(team, { changetype: ['add'], objectClass: ['groupOfNames'], cn: ['team'] }))
  const source = direct(EMPTY)
  const snapshot = await source.read(NEVER)
  const [[id] = ['']] = snapshot.groups
  const [[user] = ['']] = snapshot.users
  const looks = await recheckLosses(source, snapshot, new Map([[id, [user]]]), NEVER)
  expect(looks).toEqual(new Map([[id, { stillMembers: [], provedEmpty: false }]]))
})
