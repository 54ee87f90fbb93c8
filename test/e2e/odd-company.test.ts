import { afterAll, beforeAll, expect, test } from 'vitest'
import { BIG_GROUP, GROUPS, oddCompany, PEOPLE } from '../support/odd-company.ts'
import { openldapLdif } from '../support/odd-company-ldif.ts'
import { dumpLdif, openOddSync } from '../support/odd-sync.ts'
import { BASE, type Slapd, startSlapd } from '../support/slapd.ts'
import { type Truth, type TruthRules, truthOf, valuesOf } from '../support/truth.ts'

/** What the daemon writes about a company with odd data, against what an independent script says that it must. */
let slapd: Slapd
let ldif: string

beforeAll(async () => {
  slapd = await startSlapd({ ldifs: [openldapLdif(oddCompany(), BASE)] })
  ldif = await dumpLdif(slapd, slapd.admin, 'entryUUID')
})

afterAll(() => slapd?.close())

/** Those whose employee numbers are unusual. */
const isOddlyNumbered: TruthRules['isUser'] = (entry) => /^u000(02|20)/.test(valuesOf(entry, 'uid')[0] ?? '')
const PERSON = '(objectClass=inetOrgPerson)'
const ODDLY_NUMBERED = `(&${PERSON}(|(uid=u00002*)(uid=u00020*)))`

const RULES: TruthRules = {
  isUser: (entry) => valuesOf(entry, 'objectClass').includes('inetOrgPerson'),
  isGroup: (entry) => valuesOf(entry, 'objectClass').includes('groupOfNames'),
  id: { attribute: 'entryUUID', form: 'text' },
  name: ['displayName', 'cn'],
  groupName: 'cn',
  nested: 'flatten',
  allowedDomain: 'example.org',
}

function sourceOf(server: Slapd, externalId: string, nested: string, filter = PERSON): object {
  return {
    type: 'ldap',
    url: server.ldapsUrl,
    tls: { ca: './ca.pem' },
    bind: { dn: server.readers.reader.dn, password: { file: './password' } },
    users: {
      base: `ou=people,${BASE}`,
      filter,
      map: {
        external_id: externalId,
        email: 'mail',
        name: ['displayName', 'cn'],
        employee_id: 'employeeNumber',
      },
    },
    groups: {
      base: `ou=groups,${BASE}`,
      filter: '(objectClass=groupOfNames)',
      nested,
      map: { external_id: 'entryUUID', name: 'cn', members: 'member' },
    },
  }
}

function expectOdd(truth: Truth, nested: TruthRules['nested']): void {
  const sizes = [...truth.groups.values()].map(({ members }) => members.length)
  expect(truth.groups.size).toBe(GROUPS)
  expect(truth.users.size).toBeGreaterThan(PEOPLE * 0.98)
  expect(truth.users.size).toBeLessThan(PEOPLE)
  expect(Math.max(...sizes)).toBeGreaterThan(BIG_GROUP * 0.98)
  expect(sizes.filter((size) => size === 0)).toHaveLength(3 + (nested === 'direct' ? 1 : 0))
}

test('OpenLDAP: the directory equals the truth, stays so, and follows when groups are no longer flattened', async () => {
  const password = slapd.readers.reader.password
  await using odd = await openOddSync(sourceOf(slapd, 'entryUUID', 'flatten'), slapd.ca, password)
  const truth = truthOf(ldif, RULES)
  expectOdd(truth, 'flatten')

  expect(await odd.site.run('sync', 'odd')).toMatchObject({ code: 0, stderr: '' })
  await odd.expectEqual(truth)

  const again = await odd.site.json('sync', 'odd')
  expect(again).toMatchObject({ code: 0, stderr: '' })
  expect(again.lines[0]).toMatchObject({ state: 'done', totalChanges: 0 })

  const direct = truthOf(ldif, { ...RULES, nested: 'direct' })
  expectOdd(direct, 'direct')
  await odd.configure(sourceOf(slapd, 'entryUUID', 'direct'))
  const asking = await odd.site.json('sync', 'odd')
  expect(asking).toMatchObject({ code: 3, stderr: '' })
  expect(asking.lines[0]).toMatchObject({
    configurationChange: { keys: ['groups.nested'] },
    state: 'held',
    reasons: expect.arrayContaining([
      expect.objectContaining({ code: 'configuration-changed', isOpen: true }),
    ]),
  })
  expect(await odd.site.run('approve', String(asking.lines[0].run), '--all')).toMatchObject({
    code: 0,
    stderr: '',
  })
  await odd.expectEqual(direct)
})

test('employee numbers as ids: 000123 and 123 are two people', async () => {
  const source = sourceOf(slapd, 'employeeNumber', 'flatten', ODDLY_NUMBERED)
  await using odd = await openOddSync(source, slapd.ca, slapd.readers.reader.password)
  const id = { attribute: 'employeeNumber', form: 'text' } as const
  // Groups keep their entryUUID while their members are named by employee number.
  const truth = truthOf(ldif, { ...RULES, isUser: isOddlyNumbered, id, idOfGroup: 'entryUUID' })
  for (const each of ['000122', '122', '__proto__', 'a/b c?d#e']) expect(truth.users.has(each)).toBe(true)

  expect(await odd.site.run('sync', 'odd')).toMatchObject({ code: 0, stderr: '' })
  await odd.expectEqual(truth)
})
