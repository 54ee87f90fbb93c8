import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type ApiProxy, startApiProxy } from '../support/api-proxy.ts'
import { FIXTURE } from '../support/fixture.ts'
import { readService } from '../support/read-service.ts'
import { openSite, type ServiceSite, type Site, startServiceSite } from '../support/site.ts'
import { databaseConfig, directorySection, NO_GUARDS } from '../support/sync-config.ts'

const PEOPLE = Array.from({ length: 30 }, (_, index) => `p${String(index).padStart(2, '0')}`)

const CLEAN = { code: 0, stderr: '' }
/** Of whoever waits for a run of another process. */
const WAIT =
  /^warn: waits for the dirsyncd process that holds the sync \(sync corp, .*process (\d+) on [^)]+\)\n/
const CLEAN_OR_WAITED = { code: 0, stderr: expect.stringMatching(new RegExp(`(${WAIT.source})?$`)) }

let stack: AsyncDisposableStack
let service: ServiceSite
let proxy: ApiProxy
let site: Site

beforeEach(async () => {
  stack = new AsyncDisposableStack()
  service = stack.use(await startServiceSite())
  proxy = stack.use(await startApiProxy(service.baseUrl))
  site = stack.use(await openSite())
  const users = { path: './users.csv', map: { external_id: 'id', email: 'mail', name: 'name' } }
  const directory = directorySection(proxy, { writeConcurrency: 2 })
  const corp = { name: 'corp', schedule: '1h', source: { type: 'csv', users }, directory, guards: NO_GUARDS }
  await site.configure(databaseConfig([corp]))
  await employ(PEOPLE)
})
afterEach(() => stack.disposeAsync())

async function employ(ids: readonly string[]): Promise<void> {
  const rows = ids.map((id) => `${id},${id}@example.org,Person ${id}\n`)
  await site.write('users.csv', `id,mail,name\n${rows.join('')}`)
}

async function inDirectory(): Promise<readonly string[]> {
  const { users } = await readService({ ...FIXTURE, baseUrl: service.baseUrl })
  return [...users.keys()].toSorted()
}

/** Has a `sync` killed when it sends its first delete, which never arrives, and counts the deletes from then on. */
async function killAtFirstDelete(): Promise<{ readonly pid: number; readonly sent: () => number }> {
  const reached = Promise.withResolvers<void>()
  const never = new Promise<undefined>(() => undefined)
  proxy.intercept = ({ method }) => {
    if (method !== 'DELETE') return undefined
    reached.resolve()
    return never
  }
  const killed = stack.use(site.start('sync'))
  await reached.promise
  killed.kill('SIGKILL')
  await killed.ended
  let sent = 0
  proxy.intercept = ({ method }) => {
    if (method === 'DELETE') sent += 1
    return undefined
  }
  return { pid: killed.pid, sent: () => sent }
}

test('a plan and a sync send nothing of what a killed sync had planned before them', async () => {
  expect((await site.run('sync')).code).toBe(0)
  await employ(PEOPLE.slice(10))
  const deletes = await killAtFirstDelete()
  // They are back before anybody was deleted.
  await employ(PEOPLE)
  const commands = await Promise.all([site.run('plan'), site.run('sync')])
  expect(commands).toMatchObject([CLEAN_OR_WAITED, CLEAN_OR_WAITED])
  // They may wait for each other, and for nobody who is dead.
  for (const { stderr } of commands) expect(WAIT.exec(stderr)?.[1]).not.toBe(String(deletes.pid))
  expect(deletes.sent()).toBe(0)
  expect(await inDirectory()).toEqual(PEOPLE)
})

test('commands that are given at the same time each end with their own run', async () => {
  // A run takes longer than a command needs to see that its own has ended.
  proxy.intercept = async ({ method }) => {
    if (method === 'GET') await sleep(100)
    return undefined
  }
  const commands = await Promise.all(['sync', 'sync', 'sync', 'sync'].map((command) => site.run(command)))
  for (const command of commands) expect(command).toMatchObject(CLEAN_OR_WAITED)
  expect(await inDirectory()).toEqual(PEOPLE)
  const { lines } = await site.json('runs')
  expect(lines.map(({ state, mode }) => `${mode} ${state}`)).toEqual(Array(4).fill('sync done'))
})

test('a limited sync makes its own changes, and no run of others that ended before theirs', async () => {
  expect((await site.run('sync')).code).toBe(0)
  const reading = Promise.withResolvers<void>()
  proxy.intercept = async ({ method }) => {
    if (method !== 'GET') return undefined
    reading.resolve()
    return new Promise<undefined>(() => undefined)
  }
  const first = stack.use(site.start('sync'))
  await reading.promise
  const waiting = stack.use(site.start('sync'))
  const states = async () => (await site.json('runs')).lines.map(({ run, state }) => `${run} ${state}`)
  await expect.poll(states).toContain('3 waiting')
  waiting.kill('SIGINT')
  const { stderr } = await waiting.ended
  expect(WAIT.exec(stderr)?.[1]).toBe(String(first.pid))
  expect(stderr.replace(WAIT, '')).toMatch(/^Interrupted before run 3 ended/)
  first.kill('SIGTERM')
  await first.ended
  const writes: string[] = []
  proxy.intercept = ({ method, url }) => {
    if (method !== 'GET') writes.push(`${method} ${url.split('/').at(-1)}`)
    return undefined
  }
  await employ(PEOPLE.slice(3))
  expect(await site.run('sync', '--user', 'p02')).toMatchObject(CLEAN)
  expect(writes).toEqual(['DELETE p02'])
  expect(await states()).toEqual(['4 done', '3 failed', '2 failed', '1 done'])
  expect(await site.run('sync')).toMatchObject(CLEAN)
  expect(writes.toSorted()).toEqual(['DELETE p00', 'DELETE p01', 'DELETE p02'])
  expect(await states()).toHaveLength(5)
})
