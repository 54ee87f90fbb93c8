import { execFile } from 'node:child_process'
import { access, constants, mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { Redis } from 'ioredis'
import { Client } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { loadConfig } from '../../src/config/load.ts'
import { loadConfig as loadService } from '../../src/service/config/config.ts'
import { silentLog } from '../../src/base/log/log.ts'
import { readFixture } from '../../src/service/fixture/read.ts'
import { checkFixture } from '../../src/service/fixture/schema.ts'
import { openVault } from '../../src/service/keys/vault.ts'
import { createLdapSource } from '../../src/source/ldap/ldap-source.ts'
import { startPostgres } from '../support/postgres.ts'
import { freePort, startServer, type ServerProcess } from '../support/server-process.ts'
import { tempDir, type TempDir } from '../support/temp.ts'

/**
 * What the compose file mounts, used outside of containers: the scripts start the real servers, the files are loaded.
 */

const run = promisify(execFile)

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const at = (path: string) => join(ROOT, path)

const mounting = z.object({
  services: z.record(
    z.string(),
    z.object({ secrets: z.array(z.string()).default([]), volumes: z.array(z.string()).default([]) }),
  ),
  secrets: z.record(z.string(), z.unknown()),
})
const compose = mounting.parse(parse(await readFile(at('docker-compose.yml'), 'utf8'), { merge: true }))

let temp: TempDir

beforeAll(async () => {
  temp = await tempDir()
  await run(at('deploy/make-secrets.sh'), [join(temp.path, 'secrets')])
})
afterAll(() => temp[Symbol.asyncDispose]())

function secret(name: string): string {
  return join(temp.path, 'secrets', name)
}

/** Starts a script of the compose file; it is stopped with the stack. */
async function startScript(
  stack: AsyncDisposableStack,
  script: string,
  env: Readonly<Record<string, string>> & { readonly DATA: string },
  ready: () => Promise<unknown>,
): Promise<ServerProcess> {
  const all = { SECRETS: join(temp.path, 'secrets'), ...env }
  return stack.adopt(
    await startServer({ command: at(script), args: [], env: all, dir: env.DATA, ready }),
    (server) => server.stop(),
  )
}

/** A copy of the configuration files, with the secrets and hosts of this machine in place of a container's. */
async function deployedConfig(path: string, hosts: Readonly<Record<string, string>> = {}) {
  let config = await readFile(at(path), 'utf8')
  config = config.replaceAll('/run/secrets/', `${temp.path}/secrets/`)
  for (const [host, instead] of Object.entries(hosts)) config = config.replaceAll(host, instead)
  const copy = join(temp.path, path)
  await mkdir(dirname(copy), { recursive: true })
  await writeFile(copy, config)
  return copy
}

test('deploy/make-secrets.sh makes every secret, readable in the container and not beside it', async () => {
  for (const name of Object.keys(compose.secrets)) {
    const { size, mode } = await stat(secret(name))
    expect({ name, isLong: size > 20, mode: mode & 0o777 }).toEqual({ name, isLong: true, mode: 0o644 })
  }
  expect((await stat(join(temp.path, 'secrets'))).mode & 0o777).toBe(0o700)
})

test('deploy/make-secrets.sh leaves alone what exists', async () => {
  const names = Object.keys(compose.secrets)
  const read = () => Promise.all(names.map((name) => readFile(secret(name), 'utf8')))
  const before = await read()
  await run(at('deploy/make-secrets.sh'), [join(temp.path, 'secrets')])
  expect(await read()).toEqual(before)
  expect(new Set(before).size).toBe(names.length)
})

test('deploy/dirsyncd.yaml names hosts, and secrets that its containers have', async () => {
  const config = await loadConfig({ file: await deployedConfig('deploy/dirsyncd.yaml'), env: {} })
  const [sync] = config.syncs
  const source = sync?.source.type === 'ldap' ? sync.source.options.url : ''
  const urls = [
    config.store.kind === 'postgres' ? config.store.url : '',
    config.queue.kind === 'redis' ? config.queue.url : '',
    source,
    sync?.directory.baseUrl ?? '',
  ]
  const hosts = urls.map((url) => new URL(url).hostname)
  expect(hosts).toEqual(['postgres', 'redis', 'openldap', 'access-management'])
  const written = await readFile(at('deploy/dirsyncd.yaml'), 'utf8')
  const named = [...written.matchAll(/\/run\/secrets\/([\w.-]+)/g)].map(([, name]) => name)
  for (const name of ['daemon', 'worker']) {
    expect(compose.services[name]?.secrets.toSorted()).toEqual(named.toSorted())
    expect(compose.services[name]?.volumes).toContain('./deploy/dirsyncd.yaml:/etc/dirsyncd/dirsyncd.yaml:ro')
  }
  expect(await sync?.directory.token.read()).toBe(await readFile(secret('directory-token'), 'utf8'))
})

test('deploy/access-service.yaml and its fixture fit to the daemon', async () => {
  const daemon = await loadConfig({ file: await deployedConfig('deploy/dirsyncd.yaml'), env: {} })
  const file = await deployedConfig('deploy/access-service.yaml')
  const { service } = await loadService({ file, env: {} })
  expect(service).toMatchObject({ listen: { port: 8090 }, store: { kind: 'postgres' } })
  const fixture = await deployedConfig('deploy/fixture.yaml')
  expect(service.fixture).toBe(fixture)
  const [organization] = checkFixture(await readFixture(fixture), fixture).organizations
  const directory = daemon.syncs[0]?.directory
  expect(organization).toMatchObject({
    id: directory?.organizationId,
    allowedDomains: directory?.allowedDomains,
  })
  expect(organization?.directories[0]?.id).toBe(directory?.directoryId)
  expect(openVault(service.keyFile).keyIds).toEqual(['k1'])
  const written = await readFile(at('deploy/access-service.yaml'), 'utf8')
  const named = [...`${written}${await readFile(fixture, 'utf8')}`.matchAll(/\/secrets\/([\w.-]+)/g)]
  expect(compose.services['access-management']?.secrets.toSorted()).toEqual(
    named.map(([, name]) => name).toSorted(),
  )
})

test('deploy/openldap seeds a server that the configured source can read', async () => {
  await using stack = new AsyncDisposableStack()
  const dir = stack.use(await tempDir()).path
  const port = await freePort()
  const file = await deployedConfig('deploy/dirsyncd.yaml', { 'openldap:1636': `localhost:${port}` })
  const [sync] = (await loadConfig({ file, env: {} })).syncs
  if (sync?.source.type !== 'ldap') throw new Error('not LDAP')
  const source = createLdapSource(sync.source.options, silentLog())
  const { signal } = new AbortController()
  const env = { SEED: at('deploy/openldap'), DATA: dir, RUN: dir, LISTEN: `ldaps://localhost:${port}` }
  const start = () => startScript(stack, 'deploy/openldap/start.sh', env, () => source.probe(signal))

  const first = await start()
  const { users, groups, notices } = await source.read(signal)
  expect([users.size, groups.size, notices.length]).toEqual([200, 24, 0])
  expect([...users.values()].map(({ name }) => name)).toContain("Giulia D'Angelo")
  await first.stop()

  // A second start finds its people, and adds nobody.
  await start()
  expect((await source.read(signal)).users).toEqual(users)
})

test('deploy/redis starts a Redis that loses no job and asks for the password', async () => {
  await using stack = new AsyncDisposableStack()
  const dir = stack.use(await tempDir()).path
  const port = await freePort()
  const password = await readFile(secret('redis-password'), 'utf8')
  const once = { port, lazyConnect: true, retryStrategy: () => null, maxRetriesPerRequest: 0 }
  const redis = stack.adopt(new Redis({ ...once, password }), (client) => client.disconnect())
  redis.on('error', () => undefined)
  const env = { CONFIG: at('deploy/redis'), DATA: dir, RUN: dir, PORT: `${port}` }
  await startScript(stack, 'deploy/redis/start.sh', env, () => redis.connect())

  expect(await redis.config('GET', 'appendonly')).toEqual(['appendonly', 'yes'])
  expect(await redis.config('GET', 'maxmemory-policy')).toEqual(['maxmemory-policy', 'noeviction'])
  await expect(redis.call('AUTH', 'wrong')).rejects.toThrow('WRONGPASS')
})

test('deploy/postgres makes a database and an owner for each', async () => {
  await using stack = new AsyncDisposableStack()
  const server = stack.adopt(await startPostgres(), (started) => started.close())
  const connect = async (user: string, database: string) => {
    const client = new Client({ host: '127.0.0.1', port: server.port, user, database })
    await client.connect()
    return stack.adopt(client, (connected) => connected.end())
  }
  const env = {
    ...process.env,
    SECRETS: join(temp.path, 'secrets'),
    PGHOST: '127.0.0.1',
    PGPORT: `${server.port}`,
  }
  await run(at('deploy/postgres/databases.sh'), { env })

  for (const name of ['dirsyncd', 'service']) await (await connect(name, name)).query('create schema own')
  const admin = await connect('postgres', 'postgres')
  const { rows } = await admin.query(
    "select rolname from pg_authid where rolpassword like 'SCRAM-SHA-256$%' and not rolsuper order by rolname",
  )
  expect(rows).toEqual([{ rolname: 'dirsyncd' }, { rolname: 'service' }])
})

test.each([
  'deploy/make-secrets.sh',
  'deploy/openldap/start.sh',
  'deploy/redis/start.sh',
  'deploy/postgres/databases.sh',
])('%s can be run', async (path) => {
  await access(at(path), constants.X_OK)
})
