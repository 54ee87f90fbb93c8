import { chmod } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { emptyDirectoriesFixture, FIXTURE } from '../support/fixture.ts'
import type { Program } from '../support/program.ts'
import { readService } from '../support/read-service.ts'
import { type RedisServer, startRedis } from '../support/redis.ts'
import { freePort } from '../support/server-process.ts'
import { openSite, type ServiceSite, type Site, startServiceSite } from '../support/site.ts'
import { databaseConfig, directorySection, embeddedConfig } from '../support/sync-config.ts'

const FIRST_DIRECTORY = 100

let stack: AsyncDisposableStack
let service: ServiceSite
let site: Site
let redis: RedisServer

beforeAll(async () => {
  redis = await startRedis()
})
afterAll(() => redis?.close())

beforeEach(async () => {
  await redis.flush()
  stack = new AsyncDisposableStack()
  const fixture = emptyDirectoriesFixture(FIRST_DIRECTORY, 5)
  service = stack.use(await startServiceSite({ fixture, faults: 'latency=1:10ms' }))
  site = stack.use(await openSite())
})

const EVERY_USER = expect.stringMatching(
  /^The configuration file \S+ must not be used: every user may write \S+; run chmod o-w \S+\n$/,
)

afterEach(() => stack.disposeAsync())

function redisConfig(syncs: readonly object[], more: object = {}): object {
  return databaseConfig(syncs, { queue: redis.url, ...more })
}

/** A sync of its own file to its own directory. */
function syncOf(name: string, directory: number, more: object = {}): object {
  return {
    name,
    source: {
      type: 'csv',
      users: { path: `./${name}.csv`, map: { external_id: 'id', name: 'name' } },
    },
    directory: directorySection(service, { directoryId: FIRST_DIRECTORY + directory }),
    ...more,
  }
}

async function writePeople(name: string, count: number, prefix = name): Promise<void> {
  let rows = 'id,name\n'
  for (let index = 0; index < count; index++) rows += `${prefix}${index},Person ${index}\n`
  await site.write(`${name}.csv`, rows)
}

async function idsIn(directory: number): Promise<readonly string[]> {
  const place = { ...FIXTURE, baseUrl: service.baseUrl, directoryId: FIRST_DIRECTORY + directory }
  return [...(await readService(place)).users.keys()]
}

async function writesTo(directory: number): Promise<number> {
  const path = `/admin/directories/${FIRST_DIRECTORY + directory}/`
  return (await service.requests()).filter(({ method, url }) => method !== 'GET' && url.includes(path)).length
}

async function untilWritten(directory: number, count: number): Promise<void> {
  await expect.poll(() => writesTo(directory)).toBeGreaterThanOrEqual(count)
}

async function startDaemon(): Promise<Program> {
  const daemon = stack.use(site.start('start'))
  await daemon.waitForOutput(/daemon started/)
  return daemon
}

/** The newest first, also of a sync that is not configured any more. */
async function runsOf(name: string): Promise<readonly any[]> {
  const { lines } = await site.json('runs')
  return lines.flat().filter(({ sync }) => sync === name)
}

const NIGHTLY = { schedule: '0 3 * * *' }

const STORES = [
  ['an embedded store', embeddedConfig],
  ['PostgreSQL', databaseConfig],
  ['PostgreSQL and Redis', redisConfig],
] as const

/** What `npm test` runs. */
export function reloadTests(): void {
  test('a wrong file keeps the old configuration, and is said by the command and in the log', async () => {
    await writePeople('corp', 3)
    await site.configure(embeddedConfig([syncOf('corp', 0)]))
    const daemon = await startDaemon()
    await site.configure(embeddedConfig([syncOf('corp', 0), syncOf('other', 0)]))
    const wrong = await site.run('reload')
    expect(wrong).toMatchObject({ code: 78, stdout: '' })
    expect(wrong.stderr).toMatch(
      /^\S+: syncs\[1\]\.directory: is the directory of the sync "corp" too; [^\n]+\n$/,
    )
    daemon.kill('SIGHUP')
    await daemon.waitForOutput(/the configuration could not be changed/)
    await site.configure(embeddedConfig([syncOf('corp', 0)]))
    expect(await site.run('sync', 'corp')).toMatchObject({ code: 0 })
    expect(await idsIn(0)).toHaveLength(3)
    expect(await site.run('reload')).toMatchObject({ code: 0, stdout: 'nothing was changed\n' })
    await site.configure(embeddedConfig([syncOf('corp', 0), syncOf('other', 1)]))
    daemon.kill('SIGHUP')
    await daemon.waitForOutput(/"added":\["other"\].*configuration read again/)
    // Everybody could have the daemon run a program.
    await chmod(join(site.dir, 'dirsyncd.yaml'), 0o666)
    expect(await site.run('reload')).toMatchObject({ code: 78, stdout: '', stderr: EVERY_USER })
    daemon.kill('SIGHUP')
    await daemon.waitForOutput(/every user may write.*the configuration could not be changed/)
  })

  test('what cannot change while the daemon runs is named, and the rest is applied', async () => {
    await writePeople('corp', 1)
    await writePeople('extra', 1)
    await site.configure(embeddedConfig([syncOf('corp', 0)]))
    await startDaemon()
    await site.configure(embeddedConfig([{ ...syncOf('corp', 0), schedule: '1h' }, syncOf('extra', 1)]))
    expect(await site.run('plan', 'corp')).toMatchObject({
      stderr: expect.stringMatching(
        /^The daemon has not read what was changed in \S+: corp \(schedule\); extra \(new\)\. dirsyncd reload has it read that; until then it works as before\.\n$/,
      ),
    })
    await site.configure(embeddedConfig([syncOf('extra', 1)]))
    expect(await site.run('pause', 'corp')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^corp has been paused since/),
      stderr: expect.stringMatching(/: extra \(new\); corp \(removed\)\. dirsyncd reload/),
    })
    expect(await site.run('resume', 'corp', '--yes', '--no-plan')).toMatchObject({ code: 0 })
    expect((await site.run('pause', 'crop')).stderr).toMatch(/There is no sync crop; there are extra/)
    const listen = `127.0.0.1:${await freePort()}`
    const retention = { time: '30d' }
    await site.configure(
      embeddedConfig([syncOf('corp', 0), syncOf('extra', 1)], { admin: { listen }, retention }),
    )
    const lines = ['added extra', 'changed retention.time', 'not applied before a restart: admin.listen']
    expect(await site.run('reload')).toMatchObject({ code: 0, stdout: `${lines.join('\n')}\n` })
    await expect(fetch(`http://${listen}/healthz`)).rejects.toThrow('fetch failed')
    expect(await site.run('reload')).toMatchObject({ code: 0, stdout: `${lines[2]}\n` })
    expect(await site.run('sync', 'extra')).toMatchObject({ code: 0 })
  })

  describe.each(STORES.slice(0, 1))('reload on %s', (_store, configOf) => {
    test('a sync is added and runs, is changed to fewer people, and is removed', async () => {
      await writePeople('corp', 3)
      await writePeople('extra', 4)
      await site.configure(configOf([syncOf('corp', 0)]))
      const daemon = await startDaemon()

      await site.configure(configOf([syncOf('corp', 0), syncOf('extra', 1, NIGHTLY)]))
      expect(await site.run('reload')).toEqual({ code: 0, stdout: 'added extra\n', stderr: '' })
      await daemon.waitForOutput(/extra: run 1, done/)
      expect(await idsIn(1)).toHaveLength(4)

      const entries = { users: { exclude: ['extra1'] } }
      await site.configure(configOf([syncOf('corp', 0), syncOf('extra', 1, { ...NIGHTLY, entries })]))
      expect(await site.run('reload')).toMatchObject({ code: 0, stdout: 'changed extra (entries)\n' })
      await writePeople('extra', 6)
      const synced = await site.run('sync', 'extra')
      expect(synced).toMatchObject({ code: 0 })
      expect(synced.stdout).toContain('The configuration was changed since run 1: entries')
      expect(synced.stdout).toContain('2 creations of users')

      await site.configure(configOf([syncOf('corp', 0)]))
      expect(await site.run('reload')).toMatchObject({ code: 0, stdout: 'removed extra\n' })
      expect((await site.run('sync', 'extra')).stderr).toMatch(/^There is no sync extra/)
      expect(await site.run('sync', 'corp')).toMatchObject({ code: 0 })
    })

    test('nothing of a plan for one directory is sent to another that replaces it meanwhile', async () => {
      await writePeople('corp', 600, 'old')
      await site.configure(configOf([syncOf('corp', 0, NIGHTLY)]))
      const daemon = await startDaemon()
      await untilWritten(0, 60)
      await writePeople('corp', 5, 'new')
      await site.configure(configOf([syncOf('corp', 1, NIGHTLY)]))
      expect(await site.run('reload')).toMatchObject({
        code: 0,
        stdout: 'changed corp (directory.directoryId)\n',
      })
      const before = await writesTo(0)
      expect(before).toBeLessThan(600)
      await daemon.waitForOutput(/corp: run 2, done/)
      expect((await idsIn(1)).toSorted()).toEqual(['new0', 'new1', 'new2', 'new3', 'new4'])
      expect(await writesTo(1)).toBe(5)
      expect(await writesTo(0)).toBe(before)
      const [, left] = await runsOf('corp')
      expect(left).toMatchObject({ run: 1, state: 'failed' })
      expect(left.error).toMatch(/the configuration of the sync was changed; a new run goes on/)
      expect(left.counts.outcomes).toEqual({ applied: before, dropped: 600 - before })
    })
  })
}

/** What only `npm run test:long` runs. */
export function reloadLongTests(): void {
  describe.each(STORES)('reload on %s', (_store, configOf) => {
    test('many reloads lose no change of another sync, whose run goes on', async () => {
      const people = 2000
      await writePeople('big', people)
      await writePeople('small', 2)
      const small = (more: object) => syncOf('small', 1, { ...NIGHTLY, ...more })
      await site.configure(configOf([syncOf('big', 0, NIGHTLY), small({})]))
      const daemon = await startDaemon()
      await untilWritten(0, 100)
      for (let round = 1; round <= 10; round++) {
        const entries = { users: { protected: [`nobody-${round}`] } }
        await site.configure(configOf([syncOf('big', 0, NIGHTLY), small({ entries })]))
        const { stdout } = await site.run('reload')
        expect(stdout).toBe(`changed small (entries${round === 1 ? '' : '.users.protected'})\n`)
      }
      expect(await writesTo(0)).toBeLessThan(people)
      await daemon.waitForOutput(/big: run \d+, done/)
      expect(await runsOf('big')).toMatchObject([
        { state: 'done', counts: { outcomes: { applied: people } } },
      ])
      expect(await idsIn(0)).toHaveLength(people)
      expect(await writesTo(0)).toBe(people)
    })

    test('a run of a sync that is removed meanwhile is left, and those that wait end too', async () => {
      await writePeople('corp', 600)
      await writePeople('other', 1)
      await site.configure(configOf([syncOf('corp', 0, NIGHTLY), syncOf('other', 1)]))
      await startDaemon()
      await untilWritten(0, 60)
      const waiting = site.run('sync', 'corp')
      await expect.poll(async () => (await runsOf('corp')).length).toBe(2)
      await site.configure(configOf([syncOf('other', 1)]))
      expect(await site.run('reload')).toMatchObject({ code: 0, stdout: 'removed corp\n' })
      const before = await writesTo(0)
      expect((await runsOf('corp')).map(({ state }) => state)).toEqual(['failed', 'failed'])
      expect(await waiting).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('the sync was removed from the configuration'),
      })
      expect(await site.run('sync', 'other')).toMatchObject({ code: 0 })
      expect(await writesTo(0)).toBe(before)
      expect(before).toBeLessThan(600)
    })
  })

  test('a schedule that a reload adds begins at once', async () => {
    await writePeople('corp', 1)
    await site.configure(embeddedConfig([syncOf('corp', 0)]))
    await startDaemon()
    expect(await runsOf('corp')).toEqual([])
    await site.configure(embeddedConfig([syncOf('corp', 0, { schedule: '1s' })]))
    expect(await site.run('reload')).toMatchObject({ code: 0, stdout: 'changed corp (schedule)\n' })
    await expect.poll(async () => (await runsOf('corp')).length).toBeGreaterThan(2)
  })

  test('a worker whose configuration is older sends nothing to the old directory, and works again after SIGHUP', async () => {
    await writePeople('corp', 3)
    await site.configure(databaseConfig([syncOf('corp', 0)]))
    const worker = stack.use(site.start('worker'))
    await worker.waitForOutput(/worker started/)
    const daemon = await startDaemon()
    await site.configure(databaseConfig([syncOf('corp', 1)]))
    expect(await site.run('reload')).toMatchObject({ code: 0 })
    await writePeople('corp', 300)
    expect(await site.run('sync', 'corp')).toMatchObject({ code: 0 })
    expect(worker.output()).toContain('the run writes to another directory than this process')
    expect([await writesTo(0), (await idsIn(1)).length]).toEqual([0, 300])

    await site.write('dirsyncd.yaml', 'syncs: [')
    worker.kill('SIGHUP')
    await worker.waitForOutput(/the configuration could not be changed/)
    await site.configure(databaseConfig([syncOf('corp', 1)]))
    worker.kill('SIGHUP')
    await worker.waitForOutput(/configuration read again/)
    daemon.kill('SIGTERM')
    await daemon.ended
    await writePeople('corp', 400)
    expect(await site.run('sync', 'corp')).toMatchObject({ code: 0 })
    expect(await writesTo(1)).toBe(400)
  })
}
