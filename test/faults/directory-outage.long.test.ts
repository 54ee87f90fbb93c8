import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Company, CSV_SOURCE, csvFiles, people } from '../support/company.ts'
import { readService } from '../support/read-service.ts'
import { FIXTURE } from '../support/fixture.ts'
import {
  openSite,
  type ServiceSite,
  type Site,
  startServiceProcess,
  startServiceSite,
  type ServiceProcess,
} from '../support/site.ts'
import { directorySection, databaseConfig, NO_GUARDS } from '../support/sync-config.ts'
import { eventually } from '../support/eventually.ts'

const PEOPLE = 400
const DEAD_MS = 20_000

let stack: AsyncDisposableStack
let site: Site

beforeEach(async () => {
  stack = new AsyncDisposableStack()
  site = stack.use(await openSite())
})
afterEach(() => stack.disposeAsync())

const OUTAGE = /the directory does not answer \(.*connection refused.*\); next try at \d\d:\d\d:\d\dZ/

/** The same people, each with a new name: as many changes as there are people. */
function renamed(version: string): Company {
  const { users, groups } = people(PEOPLE)
  return {
    users: new Map([...users].map(([id, user]) => [id, { ...user, name: `${version} ${id}` }])),
    groups,
  }
}

async function writeFiles(company: Company): Promise<void> {
  for (const [name, text] of Object.entries(csvFiles(company))) await site.write(name, text)
}

async function expectEqual(service: ServiceSite, company: Company): Promise<void> {
  const seen = await readService({ ...FIXTURE, baseUrl: service.baseUrl })
  expect(seen).toEqual({ ...company, duplicates: [] })
}

async function writesOf(service: ServiceSite): Promise<number> {
  return (await service.requests()).filter(({ method, done }) => method !== 'GET' && done).length
}

async function untilWritten(service: ServiceSite, count: number): Promise<void> {
  await eventually(async () => expect(await writesOf(service)).toBeGreaterThanOrEqual(count))
}

interface RunLine {
  readonly state: string
  readonly requestedAt: string
  readonly finishedAt: string
  readonly error: string | null
  readonly counts: { readonly outcomes: object; readonly notices: object }
}

async function sync(name: string): Promise<{ code: number | null; seconds: number; run: RunLine }> {
  const { code, lines } = await site.json('sync', name)
  const run = lines.at(-1) as RunLine
  return { code, seconds: (Date.parse(run.finishedAt) - Date.parse(run.requestedAt)) / 1000, run }
}

describe('two syncs in one daemon, and the API of one is down', () => {
  let well: ServiceSite
  let ill: ServiceProcess
  let alone: number

  beforeEach(async () => {
    ;[well, ill] = await Promise.all([startServiceSite(), startServiceProcess()])
    stack.use(well)
    stack.use(ill)
    await site.configure(
      databaseConfig([
        { name: 'well', source: CSV_SOURCE, directory: directorySection(well), guards: NO_GUARDS },
        { name: 'ill', source: CSV_SOURCE, directory: directorySection(ill), guards: NO_GUARDS },
      ]),
    )
    await stack.use(site.start('start')).waitForOutput(/daemon started/)
    await writeFiles(people(PEOPLE))
    for (const name of ['well', 'ill']) expect(await sync(name)).toMatchObject({ code: 0 })
    await writeFiles(renamed('First'))
    const first = await sync('well')
    expect(first).toMatchObject({ code: 0, run: { counts: { outcomes: { applied: PEOPLE } } } })
    alone = first.seconds
    await writeFiles(renamed('Second'))
  })

  function expectUsualTime(what: string, { code, seconds, run }: Awaited<ReturnType<typeof sync>>): void {
    console.log(`${what}: ${seconds} s, alone ${alone} s`)
    expect(code).toBe(0)
    expect(run.counts.outcomes).toEqual({ applied: PEOPLE })
    expect(seconds).toBeLessThan(3 * alone + 3)
  }

  test('before the runs begin: the other finishes in its usual time, and this one says why it failed', async () => {
    await ill.stop()
    const failing = sync('ill')
    expectUsualTime('beside one that is down', await sync('well'))
    const { code, run } = await failing
    expect(code).toBe(1)
    expect(run.error).toMatch(/Check baseUrl and whether the service is up/)
    await expectEqual(well, renamed('Second'))
    await ill.start()
    expect(await sync('ill')).toMatchObject({ code: 0 })
    await expectEqual(ill, renamed('Second'))
  })

  test('from the middle of its run: the other finishes in its usual time, and this one goes on later', async () => {
    const before = await writesOf(ill)
    const going = sync('ill')
    await untilWritten(ill, before + PEOPLE * 0.4)
    await ill.stop('SIGKILL')
    expectUsualTime('beside one that went down', await sync('well'))
    await expectEqual(well, renamed('Second'))
    await ill.start()
    const { code, run } = await going
    expect(code).toBe(0)
    expect(run).toMatchObject({ state: 'done', counts: { notices: { 'read-back': 1 } } })
    await expectEqual(ill, renamed('Second'))
  })
})

async function configure(service: ServiceSite): Promise<void> {
  await site.configure(
    databaseConfig([{ name: 'corp', source: CSV_SOURCE, directory: directorySection(service) }]),
  )
}

describe('one sync', () => {
  test('the service dies in mid-run and is back later: no change fails for it', async () => {
    const service = stack.use(await startServiceProcess())
    await configure(service)
    const company = people(3 * PEOPLE)
    await writeFiles(company)
    const going = sync('corp')
    await untilWritten(service, PEOPLE)
    await service.stop('SIGKILL')
    await eventually(async () => expect((await site.run('runs')).stdout).toMatch(OUTAGE))
    const diedAt = Date.now()
    await sleep(DEAD_MS)
    await service.start()
    const { code, run, seconds } = await going
    const { applied = 0, found = 0, ...others } = run.counts.outcomes as Record<string, number>
    console.log(
      `${seconds} s in all, done ${(Date.parse(run.finishedAt) - diedAt - DEAD_MS) / 1000} s after it was back`,
    )
    expect(run).toMatchObject({ state: 'done', error: null, counts: { notices: { 'read-back': 1 } } })
    expect(code).toBe(0)
    expect(others).toEqual({})
    expect(applied + found).toBe(3 * PEOPLE)
    await expectEqual(service, company)
  })

  test('a service that lets 30 requests a second through: done, nothing quarantined, few requests refused', async () => {
    const service = stack.use(await startServiceSite({ faults: 'limit=30/1s' }))
    await configure(service)
    const company = people(600)
    await writeFiles(company)
    const { code, run, seconds } = await sync('corp')
    const requests = await service.requests()
    const refused = requests.filter(({ status }) => status === 429).length
    console.log(`${seconds} s, ${requests.length} requests, ${refused} of them answered 429`)
    expect(run).toMatchObject({
      state: 'done',
      counts: { outcomes: { applied: company.users.size }, notices: { 'read-back': 1 } },
    })
    expect(code).toBe(0)
    expect(refused).toBeLessThan(requests.length / 4)
    await expectEqual(service, company)
  })
})
