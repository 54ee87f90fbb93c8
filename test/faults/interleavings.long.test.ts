import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Client } from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { people, CSV_SOURCE, csvFiles, fixtureOf } from '../support/company.ts'
import { expectDirectory } from '../support/company-site.ts'
import { createDatabase, STORE_TEMPLATE } from '../support/databases.ts'
import { type Program, type ProgramResult, runCommand, startProgram } from '../support/program.ts'
import { type RedisServer, startRedis } from '../support/redis.ts'
import { openSite, type ServiceSite, type Site, startServiceSite } from '../support/site.ts'
import { directorySection, NO_GUARDS } from '../support/sync-config.ts'
import { tempDir } from '../support/temp.ts'
import { INTERLEAVED } from '../support/times.ts'
import { DaemonClient } from './daemon-client.ts'
import { Door, newTraffic, type Traffic, waitUntil } from './doors.ts'

const MAIN = fileURLToPath(new URL('interleavings-program.ts', import.meta.url))
const ODD_MACHINE = new URL('../support/odd-machine.ts', import.meta.url).href
const DAY = 86_400_000

let redis: RedisServer
let stack: AsyncDisposableStack
let service: ServiceSite
let site: Site
let store: string
let traffic: Traffic
let client: DaemonClient

beforeAll(async () => {
  redis = await startRedis()
})
afterAll(() => redis.close())
beforeEach(async () => {
  stack = new AsyncDisposableStack()
  // It takes an external id twice, so that a create that is done twice shows.
  service = stack.use(await startServiceSite({ fixture: fixtureOf(people(0)), uniqueExternalIds: false }))
  site = stack.use(await openSite({ main: MAIN }))
  store = await createDatabase(STORE_TEMPLATE)
  traffic = newTraffic()
  client = new DaemonClient(join(site.dir, 'daemon'))
})
afterEach(() => stack.disposeAsync())

/** A process of dirsyncd as on a machine of its own, and the API as it sees it. */
interface Machine {
  readonly config: string
  readonly door: Door
  start(): Program
}

interface MachineOptions {
  readonly queue: string
  readonly directory?: object
  readonly guards?: object
  readonly admin?: object
  readonly env?: Readonly<Record<string, string>>
  /** Has a long lease, which it does not lose on a busy machine. */
  readonly isPatient?: boolean
}

/** Its configuration is `NAME.yaml`, its data directory `NAME`; both machines share the store and the queue. */
async function machine(
  name: string,
  { queue, directory, guards, admin, env, isPatient }: MachineOptions,
): Promise<Machine> {
  const door = stack.use(await Door.open(service.baseUrl, traffic))
  const corp = {
    name: 'corp',
    source: CSV_SOURCE,
    directory: directorySection(service, { proxy: door.proxy, writeConcurrency: 2, ...directory }),
    guards: guards ?? NO_GUARDS,
  }
  const config = { dataDir: `./${name}`, store, queue, admin: admin ?? { listen: false }, syncs: [corp] }
  const path = await site.write(`${name}.yaml`, stringify(config))
  const command = name === 'worker' ? 'worker' : 'start'
  const start = () =>
    startProgram([command, '--config', path], {
      ...(isPatient !== true && { main: MAIN }),
      ...(env && { env }),
    })
  return { config: path, door, start: () => stack.use(start()) }
}

async function started(on: Machine): Promise<Program> {
  const program = on.start()
  await program.waitForOutput(/(daemon|worker) started/)
  return program
}

async function employ(count: number): Promise<void> {
  for (const [name, text] of Object.entries(csvFiles(people(count)))) await site.write(name, text)
}

/** Has two people created: the first changes on a directory are one chunk, and the next ones go to all processes. */
async function passVerification(): Promise<void> {
  await employ(2)
  expect(await endAfter(await client.requestRun())).toBe('done')
}

/** Every person was created by one request, and is in the directory once. */
async function expectOnce(count: number): Promise<void> {
  expect(traffic.doubled).toEqual([])
  expect(traffic.writes.toSorted()).toEqual(
    [...people(count).users.keys()].map((id) => `create ${id}`).toSorted(),
  )
  await expectDirectory(service, people(count))
}

/** Resolves with the state in which a run has ended, and why if it failed. */
async function endOf(run: number): Promise<string> {
  const end = async () => (await client.runs()).find((each) => each.run === run && each.finishedAt !== null)
  await waitUntil(async () => (await end()) !== undefined)
  const { state, error } = (await end())!
  return error === null ? state : `${state}: ${error}`
}

/**
 * As `endOf`, but where it does not matter which run does the work: on a busy machine a lease can expire while its
 * process has no turn, and then the next run goes on.
 */
async function endAfter(run: number): Promise<string> {
  const end = await endOf(run)
  return end.includes('did not reach the store for too long') ? endAfter(run + 1) : end
}

/**
 * A worker that was frozen is continued when its run has ended, and works on the next one. Whatever it had claimed of
 * the run before is not sent any more: all that arrives from it now is of the next run.
 */
async function expectOnlyNewWrites(
  worker: Program,
  daemon: Machine,
  door: Door,
  crowd: Crowd,
): Promise<void> {
  const before = door.writes.length
  worker.kill('SIGCONT')
  await employ(crowd.after)
  daemon.door.hold()
  const run = await client.requestRun()
  // The daemon holds the chunks that it has claimed, so the others are the worker's.
  await door.wrote(before + 3)
  daemon.door.letIn()
  expect(await endAfter(run)).toBe('done')
  const old = door.writes.slice(before).filter((write) => Number(write.split(' u')[1]) < crowd.before)
  expect(old).toEqual([])
  await expectOnce(crowd.after)
}

interface Crowd {
  readonly before: number
  readonly after: number
}

async function connect(): Promise<Client> {
  const database = stack.adopt(new Client({ connectionString: store }), (each) => each.end())
  await database.connect()
  return database
}

/** Resolves when so many queries of this pattern wait for a lock. */
async function waiting(like: string, count: number): Promise<void> {
  // A transaction would see the same picture again and again.
  const database = await connect()
  await waitUntil(async () => {
    const { rowCount } = await database.query(
      `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query ILIKE $1`,
      [like],
    )
    return (rowCount ?? 0) >= count
  })
}

/** Freezes a worker while it writes what came of a chunk, with the row of the run locked. */
async function freezeInTransaction(worker: Program): Promise<void> {
  const name = /"process":"([^"]+)"/.exec(worker.output())![1]
  const database = await connect()
  await database.query('BEGIN')
  await database.query('SELECT FROM dirsyncd.chunks WHERE worker = $1 FOR UPDATE', [name])
  await waiting('update "dirsyncd"."chunks"%', 1)
  worker.kill('SIGSTOP')
  await database.query('COMMIT')
}

test.each([['one by one', 1] as const, ['five with one request', 5] as const])(
  'a worker that creates %s was frozen while another daemon took its run over: it sends nothing of it any more',
  async (_how, createBatch) => {
    const options = { queue: redis.url, directory: { createBatch } }
    const first = await machine('daemon', options)
    const remote = await machine('worker', options)
    const [daemon, worker] = await Promise.all([started(first), started(remote)])
    await passVerification()
    const before = [first, remote].map(({ door }) => door.writes.length) as [number, number]
    first.door.hold()
    remote.door.hold()
    await employ(40)
    await client.requestRun()
    // More than one request has; how many entries each list has depends on the chunks.
    const several = createBatch + 1
    await Promise.all([first.door.wrote(before[0] + several), remote.door.wrote(before[1] + several)])
    await freezeInTransaction(worker)
    // What it had sent before is still on its way.
    await sleep(200)
    const sent = remote.door.writes.length
    daemon.kill('SIGKILL')
    await daemon.ended
    // What was under way reaches the service, and nobody gets its answers.
    first.door.letIn()
    remote.door.letIn()
    await started(first)
    expect(await endAfter(3)).toBe('done')
    expect(remote.door.writes).toHaveLength(sent)
    await expectOnce(40)
    await expectOnlyNewWrites(worker, first, remote.door, { before: 40, after: 80 })
  },
)

test('a worker that was frozen between two writes until its run was done sends nothing of it any more', async () => {
  const options = { queue: 'store', directory: { rateLimit: { requests: 10, per: '1s' } } }
  const first = await machine('daemon', options)
  const remote = await machine('worker', options)
  const [, worker] = await Promise.all([started(first), started(remote)])
  await passVerification()
  const before = remote.door.answered
  await employ(16)
  await client.requestRun()
  // Its next changes wait for their slots of the limit.
  await waitUntil(() => remote.door.answered > before)
  worker.kill('SIGSTOP')
  expect(await endAfter(2)).toBe('done')
  await expectOnlyNewWrites(worker, first, remote.door, { before: 16, after: 32 })
})

test('Redis is emptied while changes are under way: nobody else sends these, and the run goes on', async () => {
  const first = await machine('daemon', { queue: redis.url, isPatient: true })
  const remote = await machine('worker', { queue: redis.url, isPatient: true })
  await started(first)
  await passVerification()
  first.door.hold()
  await employ(42)
  await client.requestRun()
  await first.door.wrote(4)
  await redis.flush()
  await started(remote)
  // The daemon has claimed four of eight chunks. The hints of the others come back, and the worker takes them.
  await remote.door.wrote(20)
  await waitUntil(() => remote.door.answered === 20)
  first.door.letIn()
  expect(await endOf(2)).toBe('done')
  await expectOnce(42)
})

/** A machine whose clock can be set, and whose event loop can be blocked. */
async function oddMachine(queue: string) {
  const { path } = stack.use(await tempDir())
  const env = { ODD_MACHINE: path, NODE_OPTIONS: `--import ${ODD_MACHINE}` }
  const file = (name: string) => join(path, name)
  return {
    ...(await machine('daemon', { queue, env })),
    setClock: (ms: number) => writeFile(file('clock'), String(ms)),
    /** Resolves when the loop is blocked. */
    block: async (ms: number) => {
      await writeFile(file('block'), String(ms))
      await waitUntil(() => !existsSync(file('block')))
    },
  }
}

const AHEAD = ['a day ahead and back', DAY] as const
const BACK = ['back by a day and ahead again', -DAY] as const

test.each([AHEAD, BACK])(
  'the clock of the daemon is set %s in the middle of a run: the run goes on',
  async (_how, ms) => {
    const odd = await oddMachine(redis.url)
    await started(odd)
    await employ(60)
    await client.requestRun()
    await odd.door.wrote(10)
    await odd.setClock(ms)
    await odd.door.wrote(30)
    await odd.setClock(0)
    expect(await endOf(1)).toBe('done')
    await expectOnce(60)
  },
)

const BLOCKED = INTERLEAVED.lease.expiry * 1.3

test.each(['reading', 'applying'])(
  'the event loop of the daemon is blocked for longer than a lease lasts while it is %s: the run stays its own',
  async (state) => {
    const odd = await oddMachine('store')
    const other = await machine('standby', { queue: 'store' })
    await started(odd)
    await employ(60)
    odd.door.hold()
    other.door.hold()
    if (state === 'reading') odd.door.holdReads()
    await client.requestRun()
    await waitUntil(() => odd.door.arrivals.length > 0)
    if (state === 'applying') await odd.door.wrote(2)
    // It would take the run over as soon as the lease has expired.
    await started(other)
    await odd.block(BLOCKED)
    odd.door.letIn()
    other.door.letIn()
    expect(await endOf(1)).toBe('done')
    await expectOnce(60)
  },
)

test('the API asks for a pause of a day: the run says until when it waits, also after a restart, and goes on', async () => {
  const queue = redis.url
  const first = await machine('daemon', { queue, admin: { listen: '127.0.0.1:0' } })
  const daemon = await started(first)
  await employ(30)
  await client.requestRun()
  await first.door.wrote(5)
  first.door.refuseNext = { status: 429, headers: { 'retry-after': '86400' } }
  const waits = async () => (await client.runs())[0]?.waitsUntil ?? undefined
  await waitUntil(async () => (await waits()) !== undefined)
  const { at, why } = (await waits())!
  const ends = Date.parse(at)
  expect(why).toBe('limited')
  expect(ends - first.door.arrivals.at(-1)!).toBeLessThan(INTERLEAVED.limited.longest + 2000)
  const text = /waits for the API until \d\d:\d\d:\d\dZ \(the service asked for it with 429\)/
  expect((await runCommand(['runs', '--config', first.config])).stdout).toMatch(text)
  const page = /The admin page is at (\S+)/.exec(daemon.output())![1]!
  const token = (await readFile(join(site.dir, 'daemon/admin-token'), 'utf8')).trim()
  const shown = await fetch(page, { headers: { authorization: `Bearer ${token}` } })
  expect(await shown.text()).toMatch(text)

  daemon.kill('SIGTERM')
  await daemon.ended
  const before = first.door.arrivals.length
  await started(first)
  await waitUntil(async () => (await client.runs()).some(({ state }) => state === 'reading'))
  expect(await waits()).toEqual({ at, why })
  expect(await endOf(2)).toBe('done')
  expect(first.door.arrivals[before]).toBeGreaterThanOrEqual(ends)
  expect(first.door.arrivals[before]).toBeLessThan(ends + INTERLEAVED.limited.longest)
  await expectOnce(30)
})

/** Two processes that decide about the same sync meet at its ledger, in this order. */
async function decideAtOnce(
  run: number,
  config: string,
  commands: readonly [string, string],
): Promise<[ProgramResult, ProgramResult]> {
  const database = await connect()
  await database.query('BEGIN')
  await database.query('SELECT FROM dirsyncd.ledgers FOR UPDATE')
  const processes: Program[] = []
  for (const command of commands) {
    processes.push(stack.use(startProgram([command, String(run), '--config', config])))
    await waiting('%dirsyncd.ledgers%FOR UPDATE', processes.length)
  }
  await database.query('COMMIT')
  const [first, second] = await Promise.all(processes.map(({ ended }) => ended))
  return [first!, second!]
}

type Does = 'approve' | 'reject'
/** A rejection after an approval is heard, too. */
const ORDERS: readonly (readonly [Does, Does])[] = [
  ['approve', 'approve'],
  ['reject', 'approve'],
]

const NO_DELETES = { ...NO_GUARDS, users: { ...NO_GUARDS.users, maxDeletes: 0 } }

test.each(ORDERS)(
  'two operators decide about one run at once, %s and %s: the first one is heard, the other one told',
  async (first, second) => {
    const { config } = await machine('daemon', { queue: 'store', guards: NO_DELETES })
    const command = (...args: string[]) => runCommand([...args, '--config', config])
    const rounds = 5
    await employ(rounds + 1)
    expect(await command('sync')).toMatchObject({ code: 0, stderr: '' })
    for (let left = rounds; left > 0; left -= 1) {
      await employ(left)
      const held = await command('sync', '--json')
      expect(held.code).toBe(3)
      const { run } = JSON.parse(held.stdout)
      const view = async () => JSON.parse((await command('runs', String(run), '--json')).stdout)
      const [heard, told] = await decideAtOnce(run, config, [first, second])
      expect(heard).toMatchObject({ code: 0, stderr: '' })
      const did = first === 'approve' ? 'approved' : 'rejected'
      expect(told).toMatchObject({
        code: 1,
        stdout: '',
        stderr: expect.stringMatching(
          new RegExp(`^Run \\d+ has nothing to decide about: it was ${did} by \\S+ at .*\\n$`),
        ),
      })
      expect(await view()).toMatchObject({ questions: 0, decisions: [{ does: first }] })
      await expectDirectory(service, people(first === 'approve' ? left : left + 1))
      // What was rejected may be approved by an operator who names it.
      if (first === 'reject')
        expect(await command('approve', String(run), '--code', 'rejected')).toMatchObject({ code: 0 })
      await expectDirectory(service, people(left))
    }
  },
)
