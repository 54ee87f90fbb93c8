import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeCertificates } from '../support/certificates.ts'
import { freePort } from '../support/server-process.ts'
import { FIXTURE } from '../support/fixture.ts'
import { openSite, type ServiceSite, startServiceSite } from '../support/site.ts'
import { directorySection, databaseConfig, embeddedConfig, NO_GUARDS } from '../support/sync-config.ts'
import { type Slapd, startSlapd } from '../support/slapd.ts'

/**
 * What an administrator gets wrong on the first evening: one clear sentence, the right exit code, no stack trace and no
 * secret. Each scenario breaks one thing of a configuration that works.
 */
let stack: AsyncDisposableStack
let service: ServiceSite
let slapd: Slapd
let deadPort: number

beforeAll(async () => {
  stack = new AsyncDisposableStack()
  service = stack.use(await startServiceSite())
  slapd = stack.use(await startSlapd({ people: 20, groups: 2 }))
  deadPort = await freePort()
})

afterAll(() => stack.disposeAsync())

const SECRET = 'hunter2-planted-secret'

function ldapSource(more: object = {}): object {
  return {
    type: 'ldap',
    url: slapd.ldapsUrl,
    tls: { ca: './ca.pem' },
    bind: { dn: slapd.readers.reader.dn, password: { file: './ldap-password' } },
    users: {
      base: slapd.base,
      filter: '(objectClass=inetOrgPerson)',
      map: { external_id: 'entryUUID', email: 'mail', name: 'cn' },
    },
    ...more,
  }
}

function sync(more: object = {}): object {
  return { name: 'corp', source: ldapSource(), directory: directorySection(service), ...more }
}

async function run(config: object, ...args: readonly string[]) {
  await using site = await openSite({ env: { WRONG_TOKEN: SECRET } })
  await site.write('ca.pem', slapd.ca)
  await site.write('ldap-password', `${slapd.readers.reader.password}\n`)
  await site.configure(config)
  return await site.run(...(args.length === 0 ? ['sync', 'corp'] : args))
}

function expectOneSentence(
  ended: Awaited<ReturnType<typeof run>>,
  expected: { code: number; says: readonly (string | RegExp)[] },
): void {
  const said = `${ended.stdout}${ended.stderr}`
  for (const words of expected.says) expect(said).toMatch(words)
  expect(ended.code).toBe(expected.code)
  expect(said).not.toMatch(/\n\s+at /)
  expect(said).not.toContain(SECRET)
  expect(said).not.toContain(slapd.readers.reader.password)
  expect(said).not.toContain(FIXTURE.token)
}

test('the configuration that the other tests break works', async () => {
  expectOneSentence(await run(databaseConfig([sync()])), { code: 0, says: ['20 creations of users'] })
})

const ofUsers = (map: object) =>
  sync({ source: ldapSource({ users: { base: slapd.base, filter: '(uid=*)', map } }), guards: NO_GUARDS })
const ofDirectory = (more: object) => sync({ directory: directorySection(service, more) })

test.each<[string, number, () => object, readonly (string | RegExp)[]]>([
  [
    'an unknown key',
    78,
    () => databaseConfig([sync({ polcy: 'mirror' })]),
    [/dirsyncd\.yaml:\d+:\d+/, 'polcy', 'policy'],
  ],
  [
    'a missing file of a secret',
    1,
    () => databaseConfig([ofDirectory({ token: { file: './no-such-token' } })]),
    ['no-such-token'],
  ],
  [
    'an LDAP server that is down',
    1,
    () => databaseConfig([sync({ source: ldapSource({ url: `ldaps://localhost:${deadPort}` }) })]),
    [/ldaps:\/\/localhost:\d+/, /refused/],
  ],
  [
    'an id that no entry has',
    1,
    () => databaseConfig([ofUsers({ external_id: 'entryUUIDD' })]),
    [
      'none of the 20 users has an id (external_id is "entryUUIDD"); check users.map.external_id and the read permission',
    ],
  ],
  ['a wrong token', 1, () => databaseConfig([ofDirectory({ token: { env: 'WRONG_TOKEN' } })]), [/token/]],
  [
    'a read-only token',
    1,
    () => {
      const directory = directorySection(service, { token: { command: ['echo', FIXTURE.readOnlyToken] } })
      return databaseConfig([{ ...ofUsers({ external_id: 'entryUUID', name: 'uid' }), directory }])
    },
    ['scope', 'ORG'],
  ],
  ['an unknown directory', 1, () => databaseConfig([ofDirectory({ directoryId: 4711 })]), ['4711']],
  [
    'an API that is down',
    1,
    () =>
      databaseConfig([sync({ directory: directorySection({ baseUrl: `http://127.0.0.1:${deadPort}` }) })]),
    [/127\.0\.0\.1:\d+/],
  ],
  [
    'a Redis that is down',
    1,
    () => databaseConfig([sync()], { queue: `redis://127.0.0.1:${deadPort}` }),
    [/Redis.*:\d+/],
  ],
  [
    'a PostgreSQL that is down',
    1,
    () => databaseConfig([sync()], { store: `postgres://dirsyncd@127.0.0.1:${deadPort}/dirsyncd` }),
    [/PostgreSQL.*:\d+/],
  ],
  [
    'a data directory that cannot be written',
    1,
    () => embeddedConfig([sync()], { dataDir: '/proc/dirsyncd' }),
    ['/proc/dirsyncd'],
  ],
])('a sync with %s ends with code %i and one sentence', async (_, code, config, says) => {
  expectOneSentence(await run(config()), { code, says })
})

test('a certificate of another CA ends a sync with one sentence', async () => {
  await using site = await openSite()
  const other = await makeCertificates(site.dir, 'localhost')
  await site.write('ca.pem', await readFile(other.caFile, 'utf8'))
  await site.write('ldap-password', slapd.readers.reader.password)
  await site.configure(databaseConfig([sync()]))
  expectOneSentence(await site.run('sync'), { code: 1, says: ['certificate'] })
})

test('a second daemon on one data directory names the process that has it', async () => {
  await using site = await openSite()
  await site.write('users.csv', 'id\na\n')
  const source = { type: 'csv', users: { path: './users.csv', map: { external_id: 'id' } } }
  await site.configure(databaseConfig([sync({ source })]))
  await using first = site.start('start')
  await first.waitForOutput(/daemon started/)
  const second = await site.run('start')
  expectOneSentence(second, { code: 1, says: [String(first.pid)] })
})

test('an unknown sync, an unknown run and an unknown command are each named', async () => {
  expectOneSentence(await run(databaseConfig([sync()]), 'sync', 'nobody'), {
    code: 64,
    says: ['nobody', 'corp'],
  })
  expectOneSentence(await run(databaseConfig([sync()]), 'approve', '12'), { code: 1, says: ['12'] })
  expectOneSentence(await run(databaseConfig([sync()]), 'snyc'), { code: 64, says: ['snyc'] })
})

test('check names each fault on a line, and shows what works', async () => {
  const directory = directorySection(service, { token: { command: ['echo', FIXTURE.readOnlyToken] } })
  const ended = await run(databaseConfig([sync({ directory })]), 'check', '--writes')
  expectOneSentence(ended, {
    code: 1,
    says: [/corp: directory\n.*\n +ok +users .*can be read/, /FAIL.*writing.*ORG/],
  })
})
