import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { type CheckItem, runCheck } from '../../src/operations/check.ts'
import { loadConfig } from '../../src/config/load.ts'
import { silentLog } from '../../src/base/log/log.ts'
import { createDatabase, STORE_TEMPLATE } from '../support/databases.ts'
import { ldif } from '../support/people.ts'
import { BASE, type Slapd, startSlapd } from '../support/slapd.ts'
import { tempDir } from '../support/temp.ts'

/** What `dirsyncd check` finds out about sources that have faults. The directory refuses every token. */
let stack: AsyncDisposableStack
let slapd: Slapd
let dir: string
let baseUrl: string
let store: string

beforeAll(async () => {
  stack = new AsyncDisposableStack()
  const people = ['a', 'b', 'c', 'd'].map((uid, index) =>
    ldif(`uid=${uid},ou=people,${BASE}`, {
      objectClass: ['inetOrgPerson'],
      uid: [uid],
      cn: [`Person ${uid}`],
      sn: [uid],
      // One has none, and two share one.
      ...(index > 0 && { mail: [index === 1 ? 'one@example.org' : 'TWO@example.org'] }),
    }),
  )
  const group = ldif(`cn=team,ou=groups,${BASE}`, {
    objectClass: ['groupOfNames'],
    cn: ['team'],
    member: [`uid=a,ou=people,${BASE}`, 'cn=stranger,dc=elsewhere'],
  })
  slapd = stack.use(await startSlapd({ ldifs: [...people, group] }))
  dir = stack.use(await tempDir()).path
  baseUrl = await refuseTokens()
  store = await createDatabase(STORE_TEMPLATE)
  await mkdir(join(dir, 'data'))
  await writeFile(join(dir, 'ca.pem'), slapd.ca)
  await writeFile(join(dir, 'password'), slapd.readers.reader.password)
})

async function refuseTokens(): Promise<string> {
  const server = createServer((_, response) => response.writeHead(401).end()).listen(0, '127.0.0.1')
  stack.defer(() => void server.close())
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

afterAll(() => stack.disposeAsync())

const DOMAINS = { allowedDomains: ['example.org', 'x'] }

async function check(source: object, samples = true, domains: object = DOMAINS): Promise<CheckItem[]> {
  const file = join(dir, 'dirsyncd.yaml')
  const directory = {
    baseUrl,
    organizationId: 1,
    directoryId: 7,
    token: { command: ['echo', 'token'] },
    ...domains,
  }
  const syncs = [{ name: 'corp', source, directory }]
  const config = { dataDir: './data', store, admin: { listen: false }, syncs }
  await writeFile(file, stringify(config))
  const loaded = await loadConfig({ file, env: {} })
  const signal = AbortSignal.timeout(60_000)
  return Array.fromAsync(runCheck(loaded, silentLog(), { writes: false, samples }, signal))
}

function ldapSource(more: object = {}, users: object = {}): object {
  return {
    type: 'ldap',
    url: slapd.ldapsUrl,
    tls: { ca: './ca.pem' },
    bind: { dn: slapd.readers.reader.dn, password: { file: './password' } },
    users: {
      base: `ou=people,${BASE}`,
      filter: '(objectClass=inetOrgPerson)',
      map: { external_id: 'uid', email: 'mail', name: 'cn', employee_id: 'employeeNumber' },
      ...users,
    },
    groups: {
      base: `ou=groups,${BASE}`,
      filter: '(objectClass=groupOfNames)',
      map: { external_id: 'cn', name: 'cn', members: 'member' },
    },
    ...more,
  }
}

function linesOf(items: readonly CheckItem[], level: string): string[] {
  return items.flatMap((item) =>
    item.type === 'line' && item.part === 'source' && item.level === level
      ? [`${item.label}: ${item.detail}`]
      : [],
  )
}

test('an LDAP server: facts, counts, what is odd, samples and how one of them came about', async () => {
  const items = await check(ldapSource())
  expect(linesOf(items, 'fail')).toEqual([])
  expect(linesOf(items, 'warn')).toEqual([
    // The certificates of the tests are valid for two days.
    expect.stringMatching(/^tls: TLSv1\.3, TLS_\w+, certificate of localhost, .* in 1 day$/),
    'users: no entry has employeeNumber, or the reader may not see it',
  ])
  expect(items.find(({ type }) => type === 'counts')).toEqual({
    type: 'counts',
    sync: 'corp',
    users: 4,
    groups: 1,
    memberships: 1,
    usersWithEmail: 3,
    usersWithName: 4,
    usersWithEmployeeId: 0,
    groupsWithoutMembers: 0,
  })
  const findings = items.flatMap((item) =>
    item.type === 'finding' ? [[item.code, item.count, item.examples]] : [],
  )
  expect(findings).toEqual([
    ['no-email', 1, ['a']],
    ['duplicate-email', 1, ['two@example.org']],
    ['unknown-members', 1, [expect.stringContaining('cn=stranger,dc=elsewhere')]],
  ])
  const samples = items.find((item) => item.type === 'samples')
  expect(samples?.users.map(({ id }) => id).toSorted()).toEqual(['a', 'b', 'c', 'd'])
  expect(samples?.groups).toEqual([{ id: 'team', name: 'team', members: 1 }])
  const trace = items.find((item) => item.type === 'trace')
  expect(trace).toMatchObject({ sync: 'corp', kind: 'user', id: samples?.users[0]?.id })
  expect(items.filter((item) => item.type === 'line' && item.level === 'fail')).toMatchObject([
    { part: 'directory' },
  ])
})

test('CSV files are shown at once, however long a run waits for them to settle', async () => {
  await writeFile(join(dir, 'settling.csv'), 'id,mail\n1,a@example.org\n')
  const users = { path: './settling.csv', map: { external_id: 'id', email: 'mail' } }
  const items = await check({ type: 'csv', settle: '2h', users })
  expect(items.find(({ type }) => type === 'counts')).toMatchObject({ users: 1 })
})

test('whose e-mail is in a domain that is not allowed is counted', async () => {
  await writeFile(join(dir, 'elsewhere.csv'), 'id,mail\n1,a@x\n2,b@elsewhere.test\n3,\n4,none\n')
  const users = { path: './elsewhere.csv', map: { external_id: 'id', email: 'mail' } }
  expect(await check({ type: 'csv', users })).toContainEqual({
    type: 'finding',
    sync: 'corp',
    level: 'warn',
    code: 'email-not-allowed',
    count: 2,
    sentence:
      '2 users have an e-mail that is no address, or outside allowedDomains; nothing is written for them',
    examples: ['b@elsewhere.test', 'none'],
  })
})

function addressLines(items: readonly CheckItem[]): readonly CheckItem[] {
  return items.filter((item) => item.type === 'line' && ['e-mail', 'domains'].includes(item.label))
}

test('where no domains are named, those that there are are told, and what is no address', async () => {
  const rows = ['1,a@example.org', '2,b@Example.org', '3,c@elsewhere.test', '4,kein', '5,mailto:x@', '6,']
  rows.push('7,D ‹d@example.org>', `8,${'e'.repeat(65)}@example.org`)
  await writeFile(join(dir, 'mixed.csv'), `id,mail\n${rows.join('\n')}\n`)
  const users = { path: './mixed.csv', map: { external_id: 'id', email: 'mail' } }
  const base = { type: 'line', sync: 'corp', part: 'source' }
  const refused = (named: string) => ({
    ...base,
    label: 'e-mail',
    level: 'warn',
    detail: `4 e-mails are no addresses${named}; a service may refuse these users, whom directory.dropBadEmails: true writes without it`,
  })
  const domains = {
    ...base,
    label: 'domains',
    level: 'info',
    detail:
      'example.org (2), elsewhere.test (1); where the service takes only some, name them in directory.allowedDomains: people with others are left out then, or written without it with directory.dropBadEmails: true',
  }
  const source = { type: 'csv', users }
  expect(addressLines(await check(source, true, {}))).toEqual([
    refused(', such as "kein", "mailto:x@", "D ‹d@example.org>"'),
    domains,
  ])
  expect(addressLines(await check(source, false, {}))).toEqual([refused(''), domains])
})

test('without samples nobody is named', async () => {
  const items = await check(ldapSource(), false)
  const text = JSON.stringify(items)
  for (const personal of ['Person ', 'one@example.org', 'stranger', 'uid=a'])
    expect(text).not.toContain(personal)
  expect(items.filter(({ type }) => type === 'finding')).toHaveLength(3)
  expect(items.some(({ type }) => type === 'samples' || type === 'trace')).toBe(false)
})

test('an anonymous reader over plain text is warned of twice', async () => {
  const { bind: _, tls: __, ...bare } = ldapSource({ url: slapd.url }) as Record<string, unknown>
  expect(linesOf(await check(bare), 'warn').slice(0, 2)).toEqual([
    'tls: none: everything crosses the network in plain text',
    'reader: anonymous: such a reader may be shown less than there is, without being told',
  ])
})

test('an attribute that the reader may not see is named, and everybody who lacks it is counted', async () => {
  const { dn, password } = slapd.readers.noMail
  await writeFile(join(dir, 'password-2'), password)
  const items = await check(ldapSource({ bind: { dn, password: { file: './password-2' } } }))
  expect(linesOf(items, 'warn').slice(1)).toEqual([
    'users: no entry has mail, employeeNumber, or the reader may not see it',
  ])
  expect(items).toContainEqual(
    expect.objectContaining({
      code: 'no-email',
      sentence: 'no e-mail: 100 % (4 of 4 users); check the mapping and the read permission',
    }),
  )
})

test('what cannot be read is one line, behind the facts that could be found', async () => {
  const users = { base: `ou=nowhere,${BASE}` }
  const failed = linesOf(await check(ldapSource({}, users)), 'fail')
  expect(failed).toEqual([expect.stringMatching(/^source: ldaps:.*has no entry "ou=nowhere/)])
  const wrong = { dn: slapd.readers.reader.dn, password: { command: ['echo', 'wrong'] } }
  expect(linesOf(await check(ldapSource({ bind: wrong })), 'fail')).toEqual([
    expect.stringMatching(/^source: .*bind/),
  ])
})

test('CSV files with twins, strangers and a bad row', async () => {
  await writeFile(join(dir, 'users.csv'), 'id,mail,number\n1,a@x,\n2,A@X,\n3,,\n3,,\nbad\n')
  await writeFile(join(dir, 'groups.csv'), 'id,title\ng,G\n')
  await writeFile(join(dir, 'members.csv'), 'group,user\ng,1\ng,9\n')
  const items = await check({
    type: 'csv',
    users: { path: './users.csv', map: { external_id: 'id', email: 'mail', employee_id: 'number' } },
    groups: { path: './groups.csv', map: { external_id: 'id', name: 'title' } },
    members: { path: './members.csv', map: { group: 'group', user: 'user' } },
  })
  expect(linesOf(items, 'warn')).toEqual(['users: mapped and empty in every row: number'])
  const findings = items.flatMap((item) => (item.type === 'finding' ? [item.code] : []))
  expect(findings).toEqual(['unreadable', 'duplicate-id', 'duplicate-email', 'unknown-members'])
  expect(items.find((item) => item.type === 'trace')).toMatchObject({ id: '1', from: 'users.csv, row 2' })
})

test('a source without users fails', async () => {
  await writeFile(join(dir, 'nobody.csv'), 'id\n')
  const items = await check({ type: 'csv', users: { path: './nobody.csv', map: { external_id: 'id' } } })
  expect(items).toContainEqual(expect.objectContaining({ type: 'finding', code: 'nobody', level: 'fail' }))
})

test('a program', async () => {
  await writeFile(
    join(dir, 'output'),
    '{"user": {"id": "1", "mail": "a@x"}}\n{"complete": true, "users": 1}\n',
  )
  const items = await check({
    type: 'command',
    command: ['cat', 'output'],
    env: ['PATH'],
    users: { map: { external_id: 'id', email: 'mail' } },
  })
  expect(linesOf(items, 'fail')).toMatchObject([
    expect.stringContaining('the environment variable PATH is not set'),
  ])
})
