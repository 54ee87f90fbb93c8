import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeCertificates } from '../support/certificates.ts'
import { freePort } from '../support/server-process.ts'
import { FIXTURE } from '../support/fixture.ts'
import { openSite, type ServiceSite, startServiceSite } from '../support/site.ts'
import { createDatabase, SERVICE_TEMPLATE } from '../support/databases.ts'
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
  await site.write('wrong-password', SECRET)
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

test('it works before anything is broken', async () => {
  expectOneSentence(await run(databaseConfig([sync()])), { code: 0, says: ['20 users to create'] })
})

test('the configuration file is missing', async () => {
  await using site = await openSite()
  expectOneSentence(await site.run('sync'), {
    code: 78,
    says: ['There is no configuration file', 'dirsyncd.yaml'],
  })
})

test('an unknown key names the nearest one', async () => {
  const ended = await run(databaseConfig([sync({ polcy: 'mirror' })]))
  expectOneSentence(ended, { code: 78, says: [/dirsyncd\.yaml:\d+:\d+/, 'polcy', 'policy'] })
})

test('a cron expression that is none', async () => {
  const ended = await run(databaseConfig([sync({ schedule: '61 * * * *' })]))
  expectOneSentence(ended, { code: 78, says: [/dirsyncd\.yaml:\d+:\d+/, 'schedule'] })
})

test('two syncs write to one directory', async () => {
  const ended = await run(databaseConfig([sync(), sync({ name: 'twin' })]))
  expectOneSentence(ended, { code: 78, says: [/syncs\[1\]/, 'the sync "corp"'] })
})

test('a secret is written down', async () => {
  const directory = directorySection(service, { token: SECRET })
  expectOneSentence(await run(databaseConfig([sync({ directory })])), { code: 78, says: ['token', 'env'] })
})

test('the file of a secret is missing', async () => {
  const directory = directorySection(service, { token: { file: './no-such-token' } })
  expectOneSentence(await run(databaseConfig([sync({ directory })])), { code: 1, says: ['no-such-token'] })
})

test('nothing listens at the LDAP server', async () => {
  const source = ldapSource({ url: `ldaps://localhost:${deadPort}` })
  const ended = await run(databaseConfig([sync({ source })]))
  expectOneSentence(ended, { code: 1, says: [`ldaps://localhost:${deadPort}`, /refused/] })
})

test('the LDAP password is wrong', async () => {
  const source = ldapSource({ bind: { dn: slapd.readers.reader.dn, password: { file: './wrong-password' } } })
  expectOneSentence(await run(databaseConfig([sync({ source })])), {
    code: 1,
    says: [slapd.readers.reader.dn],
  })
})

test('the CA is another one', async () => {
  await using site = await openSite()
  const other = await makeCertificates(site.dir, 'localhost')
  await site.write('ca.pem', await readFile(other.caFile, 'utf8'))
  await site.write('ldap-password', slapd.readers.reader.password)
  await site.configure(databaseConfig([sync()]))
  expectOneSentence(await site.run('sync'), { code: 1, says: ['certificate'] })
})

test('the CA file is missing', async () => {
  const source = ldapSource({ tls: { ca: './no-such-ca.pem' } })
  expectOneSentence(await run(databaseConfig([sync({ source })])), { code: 78, says: ['no-such-ca.pem'] })
})

test('the base of the users does not exist', async () => {
  const users = { base: 'ou=nowhere,dc=example,dc=org', filter: '(uid=*)', map: { external_id: 'entryUUID' } }
  const ended = await run(databaseConfig([sync({ source: ldapSource({ users }) })]))
  expectOneSentence(ended, { code: 1, says: ['ou=nowhere,dc=example,dc=org'] })
})

test('a filter that is none', async () => {
  const users = { base: slapd.base, filter: '(&(uid=*)', map: { external_id: 'entryUUID' } }
  const ended = await run(databaseConfig([sync({ source: ldapSource({ users }) })]))
  expectOneSentence(ended, { code: 78, says: ['filter'] })
})

test('an expression of the mapping that is none', async () => {
  const map = { external_id: 'entryUUID', email: '= lwoer(mail)' }
  const users = { base: slapd.base, filter: '(uid=*)', map }
  const ended = await run(databaseConfig([sync({ source: ldapSource({ users }) })]))
  expectOneSentence(ended, {
    code: 78,
    says: [
      /dirsyncd\.yaml:\d+:\d+: syncs\[0\]\.source\.users\.map\.email: column 3: there is no function "lwoer"/,
    ],
  })
})

test('an id that no entry has', async () => {
  const users = { base: slapd.base, filter: '(uid=*)', map: { external_id: 'entryUUIDD' } }
  expectOneSentence(await run(databaseConfig([sync({ source: ldapSource({ users }) })])), {
    code: 1,
    says: [
      'none of the 20 users has an id (external_id is "entryUUIDD"); check users.map.external_id and the read permission',
    ],
  })
})

test('the token is wrong', async () => {
  const directory = directorySection(service, { token: { env: 'WRONG_TOKEN' } })
  expectOneSentence(await run(databaseConfig([sync({ directory })])), { code: 1, says: [/token/] })
})

test('the token may read and not write', async () => {
  const directory = directorySection(service, { token: { command: ['echo', FIXTURE.readOnlyToken] } })
  const users = { base: slapd.base, filter: '(uid=*)', map: { external_id: 'entryUUID', name: 'uid' } }
  const ended = await run(
    databaseConfig([sync({ directory, source: ldapSource({ users }), guards: NO_GUARDS })]),
  )
  expectOneSentence(ended, { code: 1, says: ['scope', 'ORG'] })
})

test('the directory is unknown', async () => {
  const directory = directorySection(service, { directoryId: 4711 })
  expectOneSentence(await run(databaseConfig([sync({ directory })])), { code: 1, says: ['4711'] })
})

test('the API is down', async () => {
  const directory = directorySection({ baseUrl: `http://127.0.0.1:${deadPort}` })
  expectOneSentence(await run(databaseConfig([sync({ directory })])), {
    code: 1,
    says: [`127.0.0.1:${deadPort}`],
  })
})

test('Redis is down', async () => {
  const ended = await run(databaseConfig([sync()], { queue: `redis://127.0.0.1:${deadPort}` }))
  expectOneSentence(ended, { code: 1, says: ['Redis', String(deadPort)] })
})

test('PostgreSQL is down', async () => {
  const ended = await run(
    databaseConfig([sync()], { store: `postgres://dirsyncd@127.0.0.1:${deadPort}/dirsyncd` }),
  )
  expectOneSentence(ended, { code: 1, says: ['PostgreSQL', String(deadPort)] })
})

test('the data directory cannot be written', async () => {
  expectOneSentence(await run(embeddedConfig([sync()], { dataDir: '/proc/dirsyncd' })), {
    code: 1,
    says: ['/proc/dirsyncd'],
  })
})

test('a second daemon on one data directory is told who has it', async () => {
  await using site = await openSite()
  await site.write('users.csv', 'id\na\n')
  const source = { type: 'csv', users: { path: './users.csv', map: { external_id: 'id' } } }
  await site.configure(databaseConfig([sync({ source })]))
  await using first = site.start('start')
  await first.waitForOutput(/daemon started/)
  const second = await site.run('start')
  expectOneSentence(second, { code: 1, says: [String(first.pid)] })
})

test('a worker cannot share an embedded store', async () => {
  expectOneSentence(await run(embeddedConfig([sync()]), 'worker'), { code: 78, says: ['store', 'postgres'] })
})

test('an unknown sync, an unknown run, an unknown command', async () => {
  expectOneSentence(await run(databaseConfig([sync()]), 'sync', 'nobody'), {
    code: 64,
    says: ['nobody', 'corp'],
  })
  expectOneSentence(await run(databaseConfig([sync()]), 'approve', '12'), { code: 1, says: ['12'] })
  expectOneSentence(await run(databaseConfig([sync()]), 'snyc'), { code: 64, says: ['snyc'] })
})

test('the service has no key file', async () => {
  await using site = await openSite()
  await site.configure({
    dataDir: './data',
    service: { store: await createDatabase(SERVICE_TEMPLATE), keyFile: './no-such-keys' },
  })
  expectOneSentence(await site.run('service'), {
    code: 78,
    says: [/There is no key file .*no-such-keys/, /dirsyncd service key create/],
  })
})

test('the service has a key file with a bad line', async () => {
  await using site = await openSite()
  await site.write('keys', `# our keys\nk1 ${SECRET}\n`)
  await site.configure({
    dataDir: './data',
    service: { store: await createDatabase(SERVICE_TEMPLATE), keyFile: './keys' },
  })
  expectOneSentence(await site.run('service'), { code: 78, says: [/Line 2 of the key file .*keys/] })
})

test('the service is not told where its keys are', async () => {
  await using site = await openSite()
  await site.configure({ dataDir: './data', service: {} })
  expectOneSentence(await site.run('service'), {
    code: 78,
    says: [/service\.keyFile: is missing/, /dirsyncd service key create FILE/],
  })
})

test('a service command without a service', async () => {
  expectOneSentence(await run(databaseConfig([sync()]), 'service', 'token', 'list'), {
    code: 78,
    says: ['service', 'config/example.yaml'],
  })
})

test('check names everything that is wrong, line by line, and still shows the rest', async () => {
  const directory = directorySection(service, { token: { command: ['echo', FIXTURE.readOnlyToken] } })
  const ended = await run(databaseConfig([sync({ directory })]), 'check', '--writes')
  expectOneSentence(ended, {
    code: 1,
    says: [/corp: directory\n.*\n +ok +users .*can be read/, /FAIL.*writing.*ORG/],
  })
})
