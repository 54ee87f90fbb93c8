import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { once } from 'node:events'
import { syncBuiltinESMExports } from 'node:module'
import { type AddressInfo, createServer } from 'node:net'
import os from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type ApiProxy, startApiProxy } from '../support/api-proxy.ts'
import { FIXTURE } from '../support/fixture.ts'
import { startPostgres } from '../support/postgres.ts'
import { startRedis } from '../support/redis.ts'
import { openSite, type ServiceSite, type Site, startServiceSite } from '../support/site.ts'
import { embeddedConfig, directorySection } from '../support/sync-config.ts'

let stack: AsyncDisposableStack
let service: ServiceSite
let api: ApiProxy
let site: Site

const HEAD = 'id,mail,name\n'
const PEOPLE =
  'zvonka-731,zvonka@example.org,Zvonka Perić\nbozidar,bozidar@elsewhere.example,Božidar Perić\nq9131x,mark@example.org,Mark Page\n'
const HASH = expect.stringMatching(/^\[hidden [0-9a-f]{12}\]$/)
const SECRETS = /zvonka|peri[cć]|bo[zž]idar|q9131x|mark|s3cret|reader-of-all/i

function corp(): object {
  const users = { path: './users.csv', map: { external_id: 'id', email: 'mail', name: 'name' } }
  const allowedDomains = ['example.org', 'elsewhere.example']
  return {
    name: 'corp',
    schedule: '1h',
    source: { type: 'csv', users },
    directory: directorySection({ baseUrl: api.baseUrl }, { allowedDomains }),
    entries: { users: { protected: [{ id: 'zvonka-731' }] } },
  }
}

/** A sync that is never run, with every kind of secret. */
function ldap(): object {
  return {
    name: 'people',
    source: {
      type: 'ldap',
      url: 'ldaps://ldap.example.org',
      bind: { dn: 'cn=reader-of-all,dc=example,dc=org', password: { file: './ldap-password' } },
      users: { base: 'ou=people,dc=example,dc=org', filter: '(|(uid=zvonka)(mail=mark@example.org))' },
    },
    directory: { ...directorySection({ baseUrl: api.baseUrl }), directoryId: 9, token: { env: 's3cret' } },
  }
}

beforeEach(async () => {
  stack = new AsyncDisposableStack()
  service = stack.use(await startServiceSite())
  api = stack.use(await startApiProxy(service.baseUrl))
  site = stack.use(await openSite({ env: { s3cret: 's3cret' } }))
})
afterEach(async () => {
  vi.restoreAllMocks()
  syncBuiltinESMExports()
  await stack.disposeAsync()
})

const failing = () => {
  throw new Error('it cannot be read')
}

async function bundle(...args: readonly string[]): Promise<any> {
  const written = await site.run('bundle', ...args, '-')
  expect(written).toMatchObject({ code: 0, stderr: '' })
  return JSON.parse(written.stdout)
}

async function saysStoreIsAway(why: string): Promise<void> {
  const path = join(site.dir, `${why}.json`)
  const { stdout } = await site.run('bundle', path)
  const sentence = `The store does not answer: ${why}. Make another bundle when it does.`
  expect(stdout.split('\n').slice(1)).toEqual([`It lacks a part: ${sentence}`, ''])
  const written = JSON.parse(await readFile(path, 'utf8'))
  expect(written).toMatchObject({
    missing: [{ part: 'store', code: 'store-unavailable' }],
    daemon: { dirsyncd: '0.1.0' },
    config: { options: {} },
  })
}

/** What `npm test` runs. */
export function bundleTests(): void {
  hasTroubles('with a daemon')

  describe('a bundle is made as well', () => {
    test('when the store is down', async () => {
      await site.configure({ ...embeddedConfig([corp()]), store: 'postgres://s3cret@127.0.0.1:1/none' })
      const written = await bundle()
      expect(written.missing).toEqual([
        { part: 'store', code: 'store-unavailable', system: 'ECONNREFUSED', text: HASH },
      ])
      expect((await bundle('--with-texts')).missing).toEqual([
        expect.objectContaining({
          text: expect.stringMatching(/PostgreSQL at 127\.0\.0\.1:1, .*nothing listens there/),
        }),
      ])
      expect(written.config.options.syncs).toHaveLength(1)
      expect(JSON.stringify(written)).not.toMatch(SECRETS)
    })

    test('when the store breaks the connection', async () => {
      await using server = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1')
      await once(server, 'listening')
      const { port } = server.address() as AddressInfo
      await site.configure({ ...embeddedConfig([corp()]), store: `postgres://s3cret@127.0.0.1:${port}/none` })
      expect((await bundle('--with-texts')).missing).toEqual([
        expect.objectContaining({
          text: expect.stringMatching(/PostgreSQL at .*: the connection was lost or not made in time\.$/),
        }),
      ])
    })

    test('when the store of a daemon hangs or is down, with one sentence about it', async () => {
      const postgres = await startPostgres()
      stack.defer(() => postgres.close())
      await site.configure({ ...embeddedConfig([corp()]), store: postgres.url })
      await stack.use(site.start('start')).waitForOutput(/daemon started/)
      await postgres.freeze()
      const began = performance.now()
      try {
        await saysStoreIsAway('no answer within 8 s')
        expect(performance.now() - began).toBeLessThan(15_000)
      } finally {
        await postgres.resume()
      }
      await postgres.stop()
      await saysStoreIsAway('connection refused')
    })

    test('when the system does not say how it is, with the code of the error', async () => {
      await site.configure(embeddedConfig([corp()]))
      await site.write('users.csv', HEAD)
      await site.run('plan', 'corp')
      vi.spyOn(os, 'uptime').mockImplementation(failing)
      syncBuiltinESMExports()
      const written = await bundle()
      expect(written.missing).toEqual([{ part: 'command', code: 'internal', text: HASH }])
      expect(written).toMatchObject({ command: null, config: { options: {} }, runs: [{ mode: 'plan' }] })
      expect(JSON.stringify(written)).not.toMatch(SECRETS)
    })

    test('when the configuration is missing or no YAML', async () => {
      expect((await bundle('--config', join(site.dir, 'none.yaml'))).missing).toEqual([
        { part: 'config', code: 'config-invalid', text: HASH },
      ])
      await site.write('dirsyncd.yaml', 'syncs: [s3cret: {')
      const written = await bundle()
      expect(written).toMatchObject({ config: null, command: { dirsyncd: '0.1.0' } })
      expect(JSON.stringify(written)).not.toMatch(SECRETS)
    })
  })

  test('a bundle is a new file that only its owner may read', async () => {
    await site.configure(embeddedConfig([corp()]))
    const path = join(site.dir, 'for-support.json')
    const written = await site.run('bundle', path)
    expect(written).toMatchObject({ code: 0, stderr: '' })
    expect(written.stdout).toMatch(
      /^Wrote \S+for-support\.json \(\d+ kilobytes\)\. Read it before you send it\.\n$/,
    )
    expect((await stat(path)).mode & 0o777).toBe(0o600)
    await writeFile(path, 'mine')
    expect(await site.run('bundle', path)).toEqual({
      code: 64,
      stdout: '',
      stderr: `The bundle cannot be written into ${path}: it exists; remove it or name another one.\n`,
    })
    expect(await readFile(path, 'utf8')).toBe('mine')
    expect(await site.run('bundle', join(site.dir, 'none', 'x.json'))).toEqual({
      code: 64,
      stdout: '',
      stderr: `The bundle cannot be written into ${site.dir}/none/x.json: its folder does not exist; name another one.\n`,
    })
  })
}

/** What only `npm run test:long` runs. */
export function bundleLongTests(): void {
  hasTroubles('without a daemon')

  describe('a bundle is made as well', () => {
    test('when the configuration is wrong, with the data of the daemon', async () => {
      await site.configure(embeddedConfig([corp()]))
      await site.write('users.csv', HEAD)
      await stack.use(site.start('start')).waitForOutput(/daemon started/)
      await site.configure(embeddedConfig([corp()], { storePasword: 's3cret', store: 'mysql://s3cret@x/y' }))
      const written = await bundle()
      expect(written.missing).toEqual([{ part: 'config', code: 'config-invalid', text: HASH }])
      expect((await bundle('--with-texts')).missing[0].text).toMatch(
        /dirsyncd\.yaml:\d+:\d+: store: must be embedded or a URL/,
      )
      expect(written.daemon).toMatchObject({ dirsyncd: '0.1.0' })
      expect(written.leases).toMatchObject([{ sync: 'corp' }])
      expect(JSON.stringify(written)).not.toMatch(SECRETS)
    })

    test('when the configuration is wrong and no daemon runs, with the data of the embedded store', async () => {
      await site.configure(embeddedConfig([corp()]))
      await site.write('users.csv', HEAD)
      await site.run('plan', 'corp')
      await site.configure(embeddedConfig([corp()], { storePasword: 's3cret' }))
      const written = await bundle()
      expect(written.missing).toEqual([{ part: 'config', code: 'config-invalid', text: HASH }])
      expect(written.runs).toMatchObject([{ sync: 'corp', mode: 'plan' }])
      expect(JSON.stringify(written)).not.toMatch(SECRETS)
    })
  })

  test('a bundle has the version of Redis, with a daemon and without one', async () => {
    const redis = await startRedis()
    stack.defer(() => redis.close())
    await site.configure({ ...embeddedConfig([corp()]), queue: redis.url })
    const queue = {
      kind: 'redis',
      version: expect.stringMatching(/^\d+\.\d+/),
      maxmemoryPolicy: 'noeviction',
    }
    expect(await bundle()).toMatchObject({ daemon: null, queue })
    await stack.use(site.start('start')).waitForOutput(/daemon started/)
    expect(await bundle()).toMatchObject({ daemon: { node: process.versions.node }, queue })
  })

  test('without a name the file is in the current folder and has the time in its name', async () => {
    await using elsewhere = await openSite({ cwd: site.dir })
    await elsewhere.configure(embeddedConfig([]))
    await elsewhere.start('bundle').ended
    expect((await readdir(site.dir)).join()).toMatch(/dirsyncd-bundle-\d{8}-\d{6}\.json/)
  })
}

function hasTroubles(how: 'with a daemon' | 'without a daemon'): void {
  test(`a bundle ${how} has the troubles of the last runs, and no people and no secrets`, async () => {
    await site.configure(embeddedConfig([corp(), ldap()]))
    api.intercept = ({ method, body }) => {
      if (method !== 'POST') return undefined
      const name = new URLSearchParams(body).get('users[][name]') ?? ''
      return { status: 422, answer: { title: 'Refused', detail: `${name} (${name.toUpperCase()}) exists` } }
    }
    await site.write('ldap-password', 's3cret')
    await site.write('users.csv', HEAD + PEOPLE)
    expect(await site.run('sync', 'corp')).toMatchObject({ code: 4, stderr: '' })
    await site.write('users.csv', `${HEAD}zvonka-731,"zvonka\n`)
    expect((await site.run('sync', 'corp')).code).toBe(1)
    if (how === 'with a daemon') await stack.use(site.start('start')).waitForOutput(/daemon started/)
    const text = JSON.stringify(await bundle())
    expect(text).not.toMatch(SECRETS)
    expect(text).not.toContain(FIXTURE.token)
    const written = JSON.parse(text)
    const url = 'ldaps://ldap.example.org'
    expect(written).toMatchObject({
      missing: [],
      command: { dirsyncd: '0.1.0', node: process.versions.node },
      daemon: how === 'with a daemon' ? { dirsyncd: '0.1.0' } : null,
      config: { options: { syncs: [{ name: 'corp' }, { source: { url } }] } },
      store: [{ version: expect.stringContaining('PostgreSQL') }],
      tables: expect.arrayContaining([
        { table: 'dirsyncd.runs', rows: expect.any(Number), bytes: expect.any(Number) },
      ]),
      tokens: [{ longest_seconds: expect.any(Number) }],
    })
    const ofCorp = (part: string) => written[part].filter(({ sync }: { sync: string }) => sync === 'corp')
    const [failed, refused] = ofCorp('runs')
    expect(failed).toMatchObject({ state: 'failed', error_code: 'source-incomplete', error: HASH })
    expect(written.troubles).toMatchObject([
      { run: refused.run, op: 'create-user', state: 'quarantined', status: 422, count: 3, detail: HASH },
    ])
    const quarantined = ofCorp('quarantine')
    for (const entry of quarantined)
      expect(entry).toMatchObject({ op: 'create-user', code: 'quarantine', status: 422, count: 3 })
    const entries = quarantined.map(({ entry_id: entry }: { entry_id: string }) => entry)
    expect(new Set(entries).size).toBe(3)
    expect(entries).toContain(written.troubles[0].entry_id)
    await showsTextsWhenAsked()
  })
}

async function showsTextsWhenAsked(): Promise<void> {
  const path = join(site.dir, 'with-texts.json')
  const { stdout } = await site.run('bundle', '--with-texts', path)
  expect(stdout).toMatch(/It may have names and e-mail addresses of users: read it before you send it\.\n$/)
  const { bundle: head, runs, troubles, config } = JSON.parse(await readFile(path, 'utf8'))
  expect(head.about).toContain('--with-texts')
  expect(runs[0].error).toContain('users.csv, row 2')
  expect(troubles[0].detail).toMatch(/422 .* exists$/)
  expect(JSON.stringify(config)).not.toMatch(SECRETS)
}
