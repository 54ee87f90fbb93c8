import { readFile } from 'node:fs/promises'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { inspect } from 'node:util'
import { expect, onTestFinished, test, vi } from 'vitest'
import { AccessManagementClient } from '../../src/api/client/client.ts'
import type { ClientOptions } from '../../src/api/client/options.ts'
import { readAllPages } from '../../src/api/client/pages.ts'
import { createLog } from '../../src/base/log/log.ts'
import type { Change } from '../../src/core/plan/change.ts'
import type { Outcome } from '../../src/core/plan/outcome.ts'
import { applyChange } from '../../src/target/apply-change.ts'
import { checkAccess } from '../../src/operations/check-access.ts'
import { readDirectory } from '../../src/target/read-directory.ts'
import { tryChange } from '../../src/target/try-change.ts'
import { makeCertificates } from '../support/certificates.ts'
import { FIXTURE } from '../support/fixture.ts'
import { type RunningService, startService } from '../support/service.ts'
import { tempDir } from '../support/temp.ts'

const PARAMS = { directory_id: FIXTURE.directoryId }
const READ = { directoryId: FIXTURE.directoryId, readConcurrency: 4, membership: 'report' } as const
const never = new AbortController().signal

async function serve(
  options: Parameters<typeof startService>[0],
  work: (client: AccessManagementClient, service: RunningService) => Promise<void>,
  token: string = FIXTURE.token,
): Promise<void> {
  const service = await startService(options)
  try {
    await using client = clientOf(service.baseUrl, { token: async () => token, retries: { minDelayMs: 20 } })
    await work(client, service)
  } finally {
    await service.close()
  }
}

function clientOf(baseUrl: string, options: Partial<ClientOptions> = {}): AccessManagementClient {
  return new AccessManagementClient({
    baseUrl,
    organizationId: FIXTURE.organizationId,
    deviceId: 'integration-test',
    token: async () => FIXTURE.token,
    ...options,
  })
}

function creations(count: number): Change[] {
  return Array.from({ length: count }, (_, index) => ({
    op: 'create-user',
    id: `id/${index} ü`,
    want: { name: `Zoë O'Hara ${index}`, email: `p${index}@example.org` },
  }))
}

test('the endpoints of directories answer their typed methods', async () => {
  await serve({}, async (client) => {
    expect((await client.listDirectories()).items).toMatchObject([{ id: 7, name: 'Corporate' }])
    expect(await client.getDirectory(PARAMS)).toMatchObject({ id: 7 })
    expect(client.tokenExpiresIn).toBeGreaterThan(86_400)

    const ann = { ...PARAMS, external_id: 'a/1 ü' }
    const entries = [
      { name: 'Ann Lee', external_id: ann.external_id, employee_id: '1' },
      { email: 'bo@example.org', external_id: 'b' },
    ]
    const created = await client.createUsers(PARAMS, entries)
    expect(created).toMatchObject({
      status: 201,
      value: [{ name: 'Ann Lee', email: null }, { external_id: 'b' }],
    })
    await client.updateUser(ann, { email: 'ann@example.org' })
    expect(await client.getUser(ann)).toMatchObject({ name: 'Ann Lee', email: 'ann@example.org' })

    await client.createGroups(PARAMS, [{ name: 'All', external_id: 'g', external_member_ids: ['b'] }])
    const all = { ...PARAMS, external_id: 'g' }
    const renamed = await client.updateGroup(all, {
      name: 'Everybody',
      external_member_ids: ['b', ann.external_id],
    })
    expect(renamed.value).toMatchObject({ name: 'Everybody' })
    expect(renamed.value?.external_member_ids.toSorted()).toEqual([ann.external_id, 'b'])
    expect(await client.deleteUser({ ...PARAMS, external_id: 'b' })).toMatchObject({
      status: 204,
      value: undefined,
    })
    expect(await client.getGroup(all)).toMatchObject({ external_member_ids: [ann.external_id] })
    expect((await client.listGroups(PARAMS)).total).toBe(1)
    expect(await client.deleteGroup(all)).toMatchObject({ status: 204 })
  })
})

test('the endpoints of subscriptions, events and the organization answer their typed methods', async () => {
  await serve({}, async (client) => {
    const app = { subscription_id: FIXTURE.samlSubscriptionId }
    const page = await client.listSubscriptions({}, { perPage: 2 })
    expect(page).toMatchObject({ total: 3, perPage: 2, items: [{ id: 101 }, { id: 102 }] })
    expect(page.items[0]).not.toHaveProperty('subscriber')
    expect((await client.listSubscriptions({ all: true }, { page: 2 })).items).toHaveLength(3)
    expect(await client.getSubscription(app)).toMatchObject({ subscriber: { email: 'ada@example.org' } })
    const { value: changed } = await client.updateSubscription(app, { favorite: false, position: 7 })
    expect(changed).toMatchObject({ favorite: false, position: 7, name: 'Atlas' })

    const { value: assertion } = await client.createAssertion(app)
    expect(Buffer.from(assertion?.saml_response ?? '', 'base64').toString()).toContain('ada@example.org')
    const { value: vaultItem } = await client.readCredentials({ subscription_id: FIXTURE.vaultItemId })
    expect(vaultItem).toEqual({ 'Door code': FIXTURE.secrets[2], Note: 'two turns' })
    const { value: reset } = await client.resetPassword(app)
    expect(reset?.password_strength.score).toBeGreaterThan(0)
    const { value: after } = await client.readCredentials(app)
    expect(after?.['password']).not.toBe(FIXTURE.secrets[0])

    const types = await Array.fromAsync(client.each.listEvents({}, { perPage: 2 }), ({ type }) => type)
    expect(types).toEqual([
      'read_credentials',
      'reset_password',
      'read_credentials',
      'create_assertion',
      'update_subscription',
      'update_policy',
      'enable_contact_admin',
    ])
    const filters = { contact_id: FIXTURE.benId, time_to: '2026-01-31', ip_to: '2001:db8::ff' }
    expect((await client.listEvents({ filters })).items).toMatchObject([{ type: 'update_policy' }])
    expect((await client.listOrganizationGroups({ q: 'SALE' })).items).toMatchObject([{ name: 'Sales' }])
    expect(await client.getOrganizationGroup({ group_id: FIXTURE.groupId })).toMatchObject({
      contacts_count: 2,
    })
  })
})

test('events that are recorded while they are read neither hide nor repeat another', async () => {
  await serve({}, async (client) => {
    const app = { subscription_id: FIXTURE.samlSubscriptionId }
    for (let position = 10; position < 20; position += 1) await client.updateSubscription(app, { position })
    const before = await Array.fromAsync(client.each.listEvents(), ({ id }) => id)
    const read: number[] = []
    for await (const { id } of client.each.listEvents({}, { perPage: 1 })) {
      // One new event after each page of one: every next page is the same page again.
      if (read.length < 3) await client.updateSubscription(app, { position: read.length })
      read.push(id)
    }
    expect(read).toEqual(before)
  })
})

test('what the service refuses names the subscription and no secret', async () => {
  const lines: string[] = []
  const log = createLog('debug', { destination: { write: (line: string) => void lines.push(line) } })
  await serve({}, async (_, service) => {
    await using client = clientOf(service.baseUrl, { log })
    const locked = { subscription_id: FIXTURE.lockedSubscriptionId }
    const foreign = { subscription_id: FIXTURE.bensSubscriptionId }
    await client.readCredentials({ subscription_id: FIXTURE.samlSubscriptionId })
    const failures = await Promise.all(
      [client.readCredentials(locked), client.resetPassword(locked), client.readCredentials(foreign)].map(
        (write) => write.catch((error: unknown) => error),
      ),
    )
    expect(failures).toMatchObject([{ kind: 'forbidden' }, { kind: 'forbidden' }, { kind: 'not-found' }])
    expect(await client.createAssertion(locked).catch((error: unknown) => error)).toMatchObject({
      kind: 'conflict',
    })
    const shown = inspect(failures, { depth: 10 }) + lines.join('')
    expect(shown).toContain('/subscriptions/102/credentials')
    for (const secret of [...FIXTURE.secrets, FIXTURE.token]) expect(shown).not.toContain(secret)
  })
})

test('a directory of many pages is read whole, and item by item', async () => {
  await serve({}, async (client) => {
    const ids = Array.from({ length: 730 }, (_, index) => `u${index}`)
    for (let at = 0; at < ids.length; at += 100) {
      await client.createUsers(
        PARAMS,
        ids.slice(at, at + 100).map((id) => ({ external_id: id })),
      )
    }
    const list = { key: (user: { id: number }) => user.id }
    const { items, moved, total } = await readAllPages((options) => client.listUsers(PARAMS, options), {
      ...list,
      concurrency: 4,
    })
    expect({ moved, total }).toEqual({ moved: false, total: 730 })
    expect(items.map((user) => user.external_id)).toEqual(ids)
    const one: unknown[] = []
    for await (const { external_id: id } of client.each.listUsers(PARAMS)) one.push(id)
    expect(one).toEqual(ids)
  })
})

test('changes make the directory what they say, and again change nothing', async () => {
  await serve({}, async (client, service) => {
    const changes: Change[] = [
      ...creations(3),
      { op: 'create-group', id: 'g', want: { name: 'All' } },
      { op: 'set-members', id: 'g', name: 'All', have: [], want: ['id/0 ü', 'id/2 ü'] },
      {
        op: 'update-user',
        id: 'id/0 ü',
        have: { name: null, email: null },
        want: { email: 'new@example.org' },
      },
      { op: 'update-group', id: 'g', have: { name: 'All' }, want: { name: 'Everybody' } },
      { op: 'delete-user', id: 'id/1 ü', have: { name: null, email: null, groups: [] }, why: 'gone' },
    ]
    for (const change of changes) {
      expect(await applyChange(client, READ, change, { check: false }, never)).toMatchObject({
        result: 'applied',
      })
    }
    const before = service.requests().length
    for (const change of changes.slice(4)) {
      expect(await applyChange(client, READ, change, { check: true }, never)).toMatchObject({
        result: 'found',
      })
    }
    expect(
      service
        .requests()
        .slice(before)
        .every(({ method }) => method === 'GET'),
    ).toBe(true)
    const snapshot = await readDirectory(client, READ, never)
    expect([...snapshot.users.keys()]).toEqual(['id/0 ü', 'id/2 ü'])
    expect(snapshot.groups.get('g')).toEqual({ id: 'g', name: 'Everybody', members: ['id/0 ü', 'id/2 ü'] })
  })
})

test('with every fault and without unique ids nothing is lost and nothing is there twice', async () => {
  const faults = '500=0.1,429=0.1:1s,latency=0.1:20ms,drop-before=0.1,drop-after=0.2,seed=11'
  await serve({ faults, uniqueExternalIds: false }, async (client, service) => {
    const changes = creations(150)
    await Promise.all(changes.map((change) => untilDone(client, change)))
    // Two of five requests fail: the usual four attempts would not be enough every time.
    await using patient = clientOf(service.baseUrl, {
      retries: { attempts: 12, minDelayMs: 20, maxDelayMs: 20 },
    })
    const { users, notices } = await readDirectory(patient, READ, never)
    expect(notices).toEqual([])
    expect([...users.keys()].toSorted()).toEqual(changes.map(({ id }) => id).toSorted())
    expect(
      service.requests().filter(({ fault, method }) => fault === 'drop-after' && method === 'POST'),
    ).not.toEqual([])
  })
})

async function untilDone(client: AccessManagementClient, change: Change): Promise<void> {
  let check = false
  for (;;) {
    const tried: Outcome = await tryChange(client, READ, change, { check }, never)
    if (tried.result === 'applied' || tried.result === 'found') return
    if (tried.result !== 'rate-limited' && tried.result !== 'unavailable') throw new Error(tried.result)
    check ||= tried.result === 'unavailable'
  }
}

test('the checks say which scope is missing', async () => {
  await serve(
    {},
    async (client) => {
      const lines = await checkAccess(client, READ, { writes: true }, never)
      expect(lines.map(({ label, ok }) => [label, ok])).toEqual([
        ['directory', true],
        ['users', true],
        ['groups', true],
        ['writing', false],
        ['token', true],
      ])
      expect(lines[3]?.detail).toContain('needs the scope ORG ')
    },
    FIXTURE.readOnlyToken,
  )
  await serve({}, async (client) => {
    const lines = await checkAccess(client, READ, { writes: true }, never)
    expect(lines.every(({ ok }) => ok)).toBe(true)
  })
})

test.each([
  ['an expired token', FIXTURE.expiredToken, 7, 'token-refused'],
  ['a token without the scope', FIXTURE.writeOnlyToken, 7, 'scope-missing'],
  ['a directory of somebody else', FIXTURE.token, FIXTURE.otherDirectoryId, 'directory-unknown'],
])('reading with %s is one clear error', async (_, token, directoryId, code) => {
  await serve(
    {},
    async (client) => {
      const reading = readDirectory(client, { ...READ, directoryId }, never)
      await expect(reading).rejects.toMatchObject({ code, message: expect.not.stringContaining(token) })
    },
    token,
  )
})

test('a certificate of an own authority is trusted when it is named, and only then', async () => {
  await using directory = await tempDir()
  const { caFile, certFile, keyFile } = await makeCertificates(directory.path, 'localhost')
  const [ca, cert, key] = await Promise.all([caFile, certFile, keyFile].map((file) => readFile(file, 'utf8')))
  const json = JSON.stringify({ id: 7, name: 'x', doppler: false, target_type: 'ldap' })
  const server = createServer({ cert, key }, (_, response) => response.end(json))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  using stack = new DisposableStack()
  stack.defer(() => {
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as AddressInfo
  await using trusting = clientOf(`https://localhost:${port}`, { ca: ca ?? '' })
  expect(await trusting.getDirectory(PARAMS)).toMatchObject({ id: 7 })
  const onRequest = vi.fn<() => void>()
  vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0')
  onTestFinished(() => void vi.unstubAllEnvs())
  await using strict = clientOf(`https://localhost:${port}`)
  await expect(strict.getDirectory(PARAMS, { onRequest })).rejects.toMatchObject({
    kind: 'unreachable',
    message: expect.stringContaining('from an authority that is not trusted here'),
  })
  expect(onRequest).toHaveBeenCalledTimes(1)
  await using other = clientOf(`https://127.0.0.1:${port}`, { ca: ca ?? '' })
  await expect(other.getDirectory(PARAMS)).rejects.toThrow(
    'its certificate is for another host (it is for localhost); connect by such a name',
  )
})
