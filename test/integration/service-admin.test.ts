import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Client } from 'pg'
import { describe, expect, test } from 'vitest'
import { newKeyLine } from '../../src/service/keys/vault.ts'
import { createDatabase, SERVICE_TEMPLATE } from '../support/databases.ts'
import { FIXTURE, FIXTURE_YAML } from '../support/fixture.ts'
import type { Program } from '../support/program.ts'
import { freePort } from '../support/server-process.ts'
import { operatorOf } from '../support/operator.ts'
import { startService } from '../support/service.ts'
import { openSite, type Site } from '../support/site.ts'
import { scaleToLoad } from '../support/machine-load.ts'
import { putEmptyStore } from '../support/empty-store.ts'
import { inLong, isLong, longTest } from '../support/long.ts'

/** The administrator's commands as real processes, beside a real service or without one. */

interface AdminSite extends Site {
  readonly baseUrl: string
  /** Starts the service, and resolves when it listens. */
  serve(): Promise<Program>
}

/** A folder with a key file and the configuration of a service, with the fixture of the tests or empty. */
async function openAdminSite(
  stack: AsyncDisposableStack,
  options: { readonly store?: string; readonly fixture?: boolean } = {},
): Promise<AdminSite> {
  const site = stack.use(await openSite())
  const port = await freePort()
  await site.write('keys', newKeyLine('k1'))
  await site.write('fixture.yaml', FIXTURE_YAML)
  const { store = await createDatabase(SERVICE_TEMPLATE), fixture = true } = options
  if (store === 'embedded') await putEmptyStore(join(site.dataDir, 'service'))
  await site.configure({
    dataDir: './data',
    service: {
      listen: `127.0.0.1:${port}`,
      keyFile: './keys',
      store,
      ...(fixture && { fixture: './fixture.yaml' }),
    },
  })
  return {
    ...site,
    baseUrl: `http://127.0.0.1:${port}`,
    async serve() {
      const program = stack.use(site.start('service'))
      await program.waitForOutput(/listens on/)
      return program
    },
  }
}

async function ask(site: AdminSite, token: string, path: string, method = 'GET') {
  const answer = await fetch(`${site.baseUrl}/api/v2/organizations/${path}`, {
    method,
    headers: { authorization: `token ${token}`, 'x-device-id': 'test' },
  })
  return { status: answer.status, body: (await answer.json()) as any }
}

async function one(site: Site, ...args: readonly string[]): Promise<any> {
  const { code, lines, stderr } = await site.json('service', ...args)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return lines[0]
}

const WHILE = { running: true, when: 'while the service runs' }
const BEFORE = { running: false, when: 'before the service runs' }
const BOTH = [WHILE, BEFORE]

const STORES = [
  { name: 'this machine', storeOf: () => Promise.resolve('embedded'), times: inLong([BEFORE], BOTH) },
  { name: 'PostgreSQL', storeOf: () => createDatabase(), times: inLong([], BOTH) },
]

describe.each(STORES)('a store on $name', ({ name, storeOf, times }) => {
  test.each(times)('from an empty service to a request, $when', async ({ running }) => {
    await using stack = new AsyncDisposableStack()
    const site = await openAdminSite(stack, { store: await storeOf(), fixture: false })
    if (running) await site.serve()
    const organization = await one(
      site,
      'organization',
      'create',
      '--name',
      'Labs',
      '--domain',
      'Labs.Example',
    )
    expect(organization).toMatchObject({ id: 1, name: 'Labs', allowedDomains: ['labs.example'] })
    const person = ['--name', 'Ada', '--email', 'ada@labs.example']
    const contact = await one(site, 'contact', 'create', '--organization', '1', ...person)
    const directory = await one(site, 'directory', 'create', '--organization', '1', '--name', 'People')
    expect([contact.id, directory]).toMatchObject([1, { id: 1, target_type: 'ldap', users: 0 }])
    const scopes = ['--scope', 'ORG_READ', '--scope', 'ORG', '--expires', '30d']
    const token = await one(site, 'token', 'create', '--contact', '1', ...scopes)
    expect(token.token).toMatch(/^am_[\w-]{43}$/)
    if (!running) await site.serve()

    expect(await ask(site, token.token, '1/admin/directories')).toMatchObject({
      status: 200,
      body: [{ id: 1, name: 'People', target_type: 'ldap', doppler: false }],
    })
    const listed = await site.json('service', 'token', 'list')
    expect(listed.lines).toMatchObject([
      { id: token.id, contactId: 1, scopes: ['ORG_READ', 'ORG'], expired: false },
    ])
    expect(JSON.stringify(listed.lines)).not.toContain(token.token)
    await one(site, 'token', 'revoke', token.id)
    expect((await ask(site, token.token, '1/admin/directories')).status).toBe(401)
  })

  // What a rotation does on PostgreSQL is tested without processes as well.
  const isOnlyLong = name === 'PostgreSQL' && !isLong()
  test.skipIf(isOnlyLong)('key rotate seals everything again, and says which key may go', async () => {
    await using stack = new AsyncDisposableStack()
    const store = await storeOf()
    const site = await openAdminSite(stack, { store })
    const first = await site.serve()
    const created = await site.json('service', 'key', 'create', join(site.dir, 'keys'))
    const { keyId, olderKeyIds } = created.lines[0]
    expect(olderKeyIds).toEqual(['k1'])
    const rotation = await one(site, 'key', 'rotate')
    expect(rotation).toEqual({ keyId, sealed: 5, removable: ['k1'] })
    expect(await one(site, 'key', 'rotate')).toMatchObject({ sealed: 0 })

    const credentials = async () => {
      const path = `1/subscriptions/${FIXTURE.samlSubscriptionId}`
      return (await ask(site, FIXTURE.userToken, `${path}/credentials`, 'POST')).body.password
    }
    expect(await credentials()).toBe(FIXTURE.secrets[0])
    // What the process seals from now on needs the old key no more.
    const reset = `1/subscriptions/${FIXTURE.samlSubscriptionId}/password/reset`
    expect((await ask(site, FIXTURE.userToken, reset, 'POST')).status).toBe(200)
    const password = await credentials()
    first.kill('SIGTERM')
    expect((await first.ended).code).toBe(0)

    const [newest = ''] = (await readFile(join(site.dir, 'keys'), 'utf8')).split('\n')
    await site.write('keys', `${newest}\n`)
    await site.serve()
    expect(await credentials()).toBe(password)
  })
})

test('a broken key file rotates nothing, and the service goes on with the keys that it has', async () => {
  await using stack = new AsyncDisposableStack()
  const site = await openAdminSite(stack)
  await site.serve()
  await site.write('keys', 'k2 nonsense\n')
  const { code, stderr } = await site.run('service', 'key', 'rotate')
  expect(code).toBe(78)
  expect(stderr).toMatch(/^Line 1 of the key file .* is no key/)
  const path = `1/subscriptions/${FIXTURE.samlSubscriptionId}/credentials`
  expect((await ask(site, FIXTURE.userToken, path, 'POST')).body.password).toBe(FIXTURE.secrets[0])
})

test('with other keys than those of the store, no command writes, and a running service goes on with its own', async () => {
  await using stack = new AsyncDisposableStack()
  const site = await openAdminSite(stack)
  const service = await site.serve()
  const good = await readFile(join(site.dir, 'keys'), 'utf8')
  const path = `1/subscriptions/${FIXTURE.samlSubscriptionId}/credentials`
  for (const [keys, sentence] of [
    [newKeyLine('k1'), 'The key k1 of the key file does not decrypt'],
    [newKeyLine('k2'), 'encrypted with the key k1, which is not in the key file'],
  ] as const) {
    await site.write('keys', keys)
    await site.write('secrets', '{ login: a, password: b }')
    const create = ['subscription', 'create', '--contact', '11', '--installation', '31', '--name', 'S']
    for (const args of [
      [...create, '--credentials', join(site.dir, 'secrets')],
      ['saml', 'key', 'create', '--organization', '1'],
      ['key', 'rotate'],
    ]) {
      const { code, stderr } = await site.run('service', ...args)
      expect([code, stderr]).toEqual([78, expect.stringContaining(sentence)])
    }
    expect((await ask(site, FIXTURE.userToken, path, 'POST')).body.password).toBe(FIXTURE.secrets[0])
  }
  await site.write('keys', good)
  service.kill('SIGTERM')
  await service.ended
  await site.serve()
  expect((await ask(site, FIXTURE.userToken, path, 'POST')).body.password).toBe(FIXTURE.secrets[0])
})

longTest('the socket is for this user only, also that of a service within the daemon', async () => {
  await using stack = new AsyncDisposableStack()
  const site = stack.use(await openSite())
  await site.write('keys', newKeyLine('k1'))
  await site.configure({
    dataDir: './data',
    admin: { listen: false },
    service: {
      listen: `127.0.0.1:${await freePort()}`,
      dataDir: './data',
      keyFile: './keys',
      withDaemon: true,
    },
  })
  const daemon = stack.use(site.start('start'))
  await daemon.waitForOutput(/daemon started/)
  expect((await stat(join(site.dataDir, 'service.sock'))).mode & 0o777).toBe(0o600)
  expect(await one(site, 'organization', 'create', '--name', 'Labs', '--domain', 'a.org')).toMatchObject({
    id: 1,
  })
  daemon.kill('SIGTERM')
  expect((await daemon.ended).code).toBe(0)
  expect(await one(site, 'organization', 'list')).toMatchObject({ id: 1, name: 'Labs' })
})

test('what is not there, or not allowed, is one sentence', async () => {
  await using stack = new AsyncDisposableStack()
  const site = await openAdminSite(stack)
  await site.serve()
  const refused = async (...args: readonly string[]) => {
    const { code, stdout, stderr } = await site.run('service', ...args)
    expect(stdout).toBe('')
    return [code, stderr.trimEnd()]
  }
  const contact = ['contact', 'create', '--name', 'X']
  expect(await refused(...contact, '--organization', '99', '--email', 'x@a.org')).toEqual([
    1,
    'There is no organization 99; dirsyncd service organization list shows those that exist.',
  ])
  expect(await refused(...contact, '--organization', '1', '--email', 'nobody')).toEqual([
    64,
    '--email must be an e-mail address.',
  ])
  expect(await refused('token', 'create', '--contact', '11', '--scope', 'ALL')).toEqual([
    64,
    'The scope must be one of ORG_READ, ORG, USER_READ, USER.',
  ])
  const past = ['--expires', '2020-01-01T00:00:00Z']
  expect(await refused('token', 'create', '--contact', '11', '--scope', 'ORG', ...past)).toEqual([
    64,
    'The token would expire at 2020-01-01T00:00:00.000Z, which is in the past.',
  ])
  const unitless = ['--expires', '365']
  expect(await refused('token', 'create', '--contact', '11', '--scope', 'ORG', ...unitless)).toEqual([
    64,
    expect.stringContaining('It must be a duration such as 30d'),
  ])
  expect(await refused('token', 'revoke', '0123456789ab')).toEqual([
    1,
    'There is no token 0123456789ab; dirsyncd service token list shows those that exist.',
  ])
  for (const args of [
    [...contact, '--organization', '99999999999', '--email', 'x@a.org'],
    ['contact', 'list', '--organization', '99999999999'],
    ['saml', 'key', 'list', '--organization', '0'],
  ]) {
    expect(await refused(...args)).toEqual([
      64,
      `Option '--organization <number>' argument '${args[args.indexOf('--organization') + 1]}' is invalid. It must be ` +
        'a whole number from 1 to 2147483647; see dirsyncd --help.',
    ])
  }
  for (const wrong of ['0', '-1', '2147483648', 'x']) {
    expect(await refused('user', 'remove', '1', wrong)).toEqual([
      64,
      `Command-argument value '${wrong}' is invalid for argument 'ids'. It must be a whole number from 1 to 2147483647; ` +
        'see dirsyncd --help.',
    ])
  }
  expect(await refused('user', 'list', '--directory', '99')).toEqual([
    1,
    'There is no directory 99; dirsyncd service directory list shows those that exist.',
  ])
  expect(await refused('token', 'list', '--contact', '999')).toEqual([
    1,
    'There is no contact 999; dirsyncd service contact list shows those that exist.',
  ])
  await site.write('secrets', '{ "__proto__": hidden-secret, login: a, password: b }')
  const subscription = ['subscription', 'change', '101', '--credentials', join(site.dir, 'secrets')]
  expect(await refused(...subscription)).toEqual([
    64,
    `${join(site.dir, 'secrets')} must not use the name "__proto__"; give the secret another name.`,
  ])
  expect(await refused('organization', 'create', '--name', ' ', '--domain', '@a')).toEqual([
    64,
    '--name must not be empty. --domain must be a domain such as example.org, without @.',
  ])
})

test('a token is not revoked by the beginning of an id that another one has, too', async () => {
  await using stack = new AsyncDisposableStack()
  const service = stack.adopt(await startService(), (running) => running.close())
  const perform = operatorOf(service)
  const expiresAt = new Date(Date.now() + 3_600_000).toISOString()
  for (const hash of [`abcdef${'0'.repeat(58)}`, `abcdef${'1'.repeat(58)}`]) {
    await perform('addToken', { contactId: FIXTURE.contactId, hash, scopes: ['ORG'], expiresAt })
  }
  const count = async () => (await perform('listTokens', {})).length
  const before = await count()
  await expect(perform('revokeToken', { id: 'abcdef' })).rejects.toThrow(
    'Several tokens have an id that begins',
  )
  expect(await count()).toBe(before)
  expect(await perform('revokeToken', { id: 'abcdef0' })).toMatchObject({ id: 'abcdef000000' })
  expect(await count()).toBe(before - 1)
})

test('many at once on PostgreSQL get ids of their own', async () => {
  await using stack = new AsyncDisposableStack()
  const store = await createDatabase()
  const site = await openAdminSite(stack, { store, fixture: false })
  const create = (name: string) => one(site, 'organization', 'create', '--name', name, '--domain', 'a.org')
  expect(await create('first')).toMatchObject({ id: 1 })
  const other = new Client({ connectionString: store })
  await other.connect()
  stack.defer(() => other.end())
  // Nobody begins before all are there.
  await other.query('begin; lock table access_management.organizations')
  const creating = Promise.all(['a', 'b', 'c', 'd'].map(create))
  const waiting =
    'select 1 from pg_locks join pg_database d on d.oid = database where datname = current_database() and not granted'
  await expect.poll(async () => (await other.query(waiting)).rowCount).toBe(4)
  await other.query('commit')
  expect((await creating).map(({ id }) => id).toSorted()).toEqual([2, 3, 4, 5])
})

longTest('two services begin one empty PostgreSQL database together', async () => {
  await using stack = new AsyncDisposableStack()
  const store = await createDatabase()
  const sites = [await openAdminSite(stack, { store }), await openAdminSite(stack, { store })]
  const keys = await readFile(join(sites[0]!.dir, 'keys'), 'utf8')
  await sites[1]!.write('keys', keys)
  await Promise.all(sites.map((site) => site.serve()))
  for (const site of sites) expect((await ask(site, FIXTURE.token, '1/admin/directories')).status).toBe(200)
})

longTest('a query that never ends does not keep the service from stopping', async () => {
  await using stack = new AsyncDisposableStack()
  const store = await createDatabase()
  const site = await openAdminSite(stack, { store })
  const service = await site.serve()
  const other = new Client({ connectionString: store })
  await other.connect()
  stack.defer(() => other.end())
  await other.query('begin; lock table access_management.directories')
  const stuck = ask(site, FIXTURE.token, '1/admin/directories').then(
    () => 'answered',
    () => 'cut',
  )
  const waiting =
    "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
  while ((await other.query(waiting)).rowCount === 0);
  const begin = performance.now()
  service.kill('SIGTERM')
  expect((await service.ended).code).toBe(0)
  expect(performance.now() - begin).toBeLessThan(scaleToLoad(10_000))
  expect(await stuck).toBe('cut')
})
