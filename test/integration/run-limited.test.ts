import { sql } from 'kysely'
import { beforeEach, describe, expect, test } from 'vitest'
import type { Ticket } from '../../src/sync/apply/job.ts'
import { ReadPause } from '../../src/sync/apply/read-pause.ts'
import { createLocalControl } from '../../src/operations/local.ts'
import { silentLog } from '../../src/base/log/log.ts'
import { pauseFor, pauseForOutage, pauseOf } from '../../src/store/pause.ts'
import { listRuns } from '../../src/store/runs.ts'
import type { ProxiedRequest } from '../support/api-proxy.ts'
import { OUTAGE_MS, outlastOutage } from '../support/run-clock.ts'
import type { MutableCompany } from '../support/sync-harness.ts'
import { useTestBed } from '../support/test-bed.ts'
import { eventually } from '../support/eventually.ts'

const LONGEST_MS = 15 * 60_000
const PAUSE_BEGINS = 'the service asks for a pause (429); requests wait'

const bed = useTestBed('limited')

let company: MutableCompany
let sync: string
let target: string
/** What the service was asked. */
let requests: string[] = []

beforeEach(() => {
  ;({ company, sync, target } = bed)
  for (const id of ['a', 'b', 'c', 'd']) company.users.set(id, { name: id, email: `${id}@example.org` })
  limit(() => false)
})

/** The service asks those for a pause of a day for which `isLimited` is true. */
function limit(isLimited: (request: ProxiedRequest) => boolean): void {
  requests = []
  bed.proxy.intercept = (request) => {
    requests.push(`${request.method} ${request.url}`)
    return isLimited(request) ? { status: 429, headers: { 'retry-after': '86400' } } : undefined
  }
}

function pause() {
  return pauseOf(bed.opened.store.db, target)
}

async function waitForPause() {
  return eventually(async () => {
    const seen = await pause()
    expect(seen).toMatchObject({ why: 'limited' })
    return seen!
  })
}

/** Sets the end of the pause, in milliseconds from now. */
async function setEnd(ms: number): Promise<void> {
  await sql`UPDATE dirsyncd.targets SET not_before = clock_timestamp() + ${ms} * interval '1 millisecond'
    WHERE target = ${target}`.execute(bed.opened.store.db)
}

async function summaryOf(run: number) {
  const targets = new Map([[sync, target]])
  const control = createLocalControl({ db: bed.opened.store.db, targets, wake: async () => undefined })
  return (await control.runs({ sync, limit: 10 })).find((each) => each.run === run)!
}

describe('a service that answers 429 and asks for a pause of a day', () => {
  test('gets no write for 15 minutes, from no worker and without an outage, and then the run goes on', async () => {
    const { startWorker, executor, requestRun, waitForEnd, messages } = bed.open({ giveUpMs: OUTAGE_MS })
    limit(({ method }) => method !== 'GET')
    await startWorker()
    const run = await requestRun()
    const working = executor.work(sync, { scheduled: false })
    expect((await waitForPause()).leftMs).toBeLessThanOrEqual(LONGEST_MS)
    await eventually(async () => expect(await openChunks()).toBe(0))

    limit(() => false)
    const other = bed.open()
    await other.startWorker()
    const { epoch } = await other.getRun(run)
    const queue = bed.opened.backend.createQueue<Ticket>(`changes-${sync}`)
    await queue.add('ticket', { run, epoch: epoch!, most: 4 })
    await eventually(async () => expect(await queue.getJobCountByTypes('waiting', 'active')).toBe(0))
    const looks = outlastOutage()
    // A turn of the run looks twice at most.
    await eventually(() => expect(looks()).toBeGreaterThan(4))
    expect(await other.getRun(run)).toMatchObject({ state: 'applying', stop_code: null })
    expect(requests).toEqual([])
    expect((await summaryOf(run)).waitsUntil).toEqual({
      at: (await pause())!.ends.toISOString(),
      why: 'limited',
    })
    expect(messages().filter((message) => message === PAUSE_BEGINS)).toHaveLength(1)

    await setEnd(0)
    await working
    expect(await waitForEnd(run)).toMatchObject({ state: 'done', counts: { outcomes: { applied: 4 } } })
    expect((await summaryOf(run)).waitsUntil).toBeNull()
  })

  test('gets no further write of a chunk that another worker has under way', async () => {
    const inFlight = 4
    const people = Array.from({ length: 40 }, (_, index) => `u${index}`)
    company.users.clear()
    for (const id of people) company.users.set(id, { name: id, email: `${id}@example.org` })
    const gate = Promise.withResolvers<void>()
    const writes: string[] = []
    bed.proxy.intercept = async ({ method, body }) => {
      if (method === 'GET') return undefined
      writes.push(body)
      await gate.promise
      return undefined
    }
    const { startWorker, executor, requestRun, waitForEnd } = bed.open()
    await startWorker()
    const run = await requestRun()
    const working = executor.work(sync, { scheduled: false })
    await eventually(() => expect(writes).toHaveLength(inFlight))
    await pauseFor(bed.opened.store.db, target, 86_400_000)
    const before = await heartbeats()
    // The first look may have begun before the pause.
    await eventually(async () => {
      for (const [chunk, count] of await heartbeats())
        expect(count).toBeGreaterThanOrEqual((before.get(chunk) ?? 0) + 2)
    })
    gate.resolve()
    await eventually(async () => expect(await openChunks()).toBe(0))
    expect(writes).toHaveLength(inFlight)
    await setEnd(0)
    await working
    expect(await waitForEnd(run)).toMatchObject({ state: 'done', counts: { outcomes: { applied: 40 } } })
    expect(writes).toHaveLength(40)
  })

  test('gets no read for 15 minutes, also after a restart, and then the run goes on', async () => {
    limit(({ url }) => url.includes('/users?'))
    const first = bed.open()
    const run = await first.requestRun()
    const working = first.executor.work(sync, { scheduled: false })
    expect((await waitForPause()).leftMs).toBeLessThanOrEqual(LONGEST_MS)
    expect((await summaryOf(run)).waitsUntil).toMatchObject({ why: 'limited' })
    expect(requests.filter((request) => request.includes('/users?'))).toHaveLength(1)
    expect(first.messages().filter((message) => message === PAUSE_BEGINS)).toHaveLength(1)
    await first[Symbol.asyncDispose]()
    await working

    limit(() => false)
    const second = bed.open()
    await second.startWorker()
    const going = second.executor.work(sync, { scheduled: false })
    await eventually(() => expect(second.messages()).toContain(PAUSE_BEGINS))
    const [resumed] = await listRuns(bed.opened.store.db, { sync, limit: 1 })
    // Somebody who comes in between finds the sync taken.
    await first.otherExecutor('a third process').work(sync, { scheduled: true })
    expect(await listRuns(bed.opened.store.db, { sync, limit: 10 })).toHaveLength(2)
    expect(requests).toEqual([])
    expect((await second.getRun(resumed!.run)).state).toBe('reading')

    await setEnd(0)
    await going
    expect(await second.waitForEnd(resumed!.run)).toMatchObject({ state: 'done', error: null })
  })

  test('is asked once more when the pause is over, and again 15 minutes later', async () => {
    let isLimited = true
    limit(() => isLimited)
    const { executor, requestRun, waitForEnd, startWorker } = bed.open()
    await startWorker()
    const run = await requestRun()
    const working = executor.work(sync, { scheduled: false })
    const { ends } = await waitForPause()
    await setEnd(0)
    await eventually(async () => expect((await waitForPause()).ends > ends).toBe(true))
    expect(requests).toHaveLength(2)
    isLimited = false
    await setEnd(0)
    await working
    expect(await waitForEnd(run)).toMatchObject({ state: 'done' })
  })
})

async function openChunks(): Promise<number> {
  const { rows } = await sql`SELECT FROM dirsyncd.chunks c JOIN dirsyncd.runs r ON r.run = c.run
    WHERE r.sync = ${sync}`.execute(bed.opened.store.db)
  return rows.length
}

/** How often workers looked at the store for each of the chunks under way. */
async function heartbeats(): Promise<ReadonlyMap<string, number>> {
  const { rows } = await sql<{
    chunk: string
    heartbeats: number
  }>`SELECT c.chunk, c.heartbeats FROM dirsyncd.chunks c
    JOIN dirsyncd.runs r ON r.run = c.run WHERE r.sync = ${sync}`.execute(bed.opened.store.db)
  return new Map(rows.map((row) => [row.chunk, row.heartbeats]))
}

/** How often workers gave changes of the run back. */

describe('a pause in the store', () => {
  test('is never longer than 15 minutes, also where the clock was set back, and the next one replaces it', async () => {
    const { db } = bed.opened.store
    await pauseFor(db, target, 86_400_000)
    const left = async () => (await pause())?.leftMs ?? Number.NaN
    expect(await left()).toBeLessThanOrEqual(LONGEST_MS)
    expect(await left()).toBeGreaterThan(LONGEST_MS - 60_000)
    // Set before the clock went back by an hour.
    await setEnd(LONGEST_MS + 3_600_000)
    expect(await pause()).toBeUndefined()
    await pauseFor(db, target, 5000)
    expect(await left()).toBeLessThanOrEqual(5000)
  })

  test('is asked for once a second at most, however many requests are made', async () => {
    let looks = 0
    const counted = bed.opened.store.db.withPlugin({
      transformQuery: ({ node }) => {
        looks += 1
        return node
      },
      transformResult: async ({ result }) => result,
    })
    const reads = new ReadPause({ db: counted, target, longestMs: LONGEST_MS, log: silentLog() })
    const began = performance.now()
    for (let request = 0; request < 200; request++) await reads.over(undefined)
    expect(looks).toBeLessThanOrEqual(1 + (performance.now() - began) / 1000)
  })

  test('after an outage keeps no read back', async () => {
    const { db } = bed.opened.store
    await pauseForOutage(db, target, { firstMs: 60_000, lastMs: 60_000 })
    expect(await pause()).toMatchObject({ why: 'outage' })
    await new ReadPause({ db, target, longestMs: LONGEST_MS, log: silentLog() }).over(
      AbortSignal.timeout(5000),
    )
  })
})
