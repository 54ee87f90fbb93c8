import type { RequestLine } from '../../src/service/http/request-log.ts'
import { Client } from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { CSV_SOURCE, csvFiles, people } from '../support/company.ts'
import { createDatabase } from '../support/databases.ts'
import { readService } from '../support/read-service.ts'
import { type RedisServer, startRedis } from '../support/redis.ts'
import { FIXTURE, FIXTURE_YAML } from '../support/fixture.ts'
import { openSite, type ServiceSite, type Site, startServiceSite } from '../support/site.ts'
import { directorySection } from '../support/sync-config.ts'
import { watchStalls } from '../support/machine-load.ts'

const LIMIT = 50
const COMPANY = people(500)
const SECOND_DIRECTORY = 9

let redis: RedisServer
let stack: AsyncDisposableStack
let service: ServiceSite
let site: Site

beforeAll(async () => {
  redis = await startRedis()
})
afterAll(async () => {
  await redis?.close()
})
beforeEach(async () => {
  stack = new AsyncDisposableStack()
  const directory = `- { id: ${FIXTURE.directoryId}, name: Corporate }`
  const both = `${directory}\n      - { id: ${SECOND_DIRECTORY}, name: Branch }`
  service = stack.use(await startServiceSite({ fixture: FIXTURE_YAML.replace(directory, both) }))
  site = stack.use(await openSite())
  for (const [name, text] of Object.entries(csvFiles(COMPANY))) await site.write(name, text)
})
afterEach(() => stack.disposeAsync())

/** Two syncs with one token: while the first one writes, the second one reads and writes too. */
async function startThreeProcesses(store: string, queue: string): Promise<void> {
  const syncs = [
    ['corp', FIXTURE.directoryId],
    ['branch', SECOND_DIRECTORY],
  ].map(([name, directoryId]) => ({
    name,
    source: CSV_SOURCE,
    directory: directorySection(service, { directoryId, rateLimit: { requests: LIMIT, per: '1s' } }),
  }))
  await site.configure({ dataDir: './data', store, queue, admin: { listen: false }, syncs })
  const daemon = stack.use(site.start('start'))
  const workers = [stack.use(site.start('worker')), stack.use(site.start('worker'))]
  await daemon.waitForOutput(/daemon started/)
  for (const worker of workers) await worker.waitForOutput(/worker started/)
}

// The budget itself is tested on both (request-budget.test.ts).
test.each<'redis' | 'store'>(['store', 'redis'])(
  'with a limit of 50 a second and three processes, queue on %s, no second of the request log is a tenth above it',
  async (queue) => {
    const store = await createDatabase()
    await startThreeProcesses(store, queue === 'redis' ? redis.url : 'store')
    const stalls = watchStalls()
    const [corp, branch] = await Promise.all([site.run('sync', 'corp'), site.run('sync', 'branch')])
    expect(corp).toMatchObject({ code: 0, stderr: '' })
    expect(branch).toMatchObject({ code: 0, stderr: '' })
    // Another one that reads everything and writes nothing.
    expect(await site.run('plan', 'corp')).toMatchObject({ code: 0 })

    const requests = (await service.requests()).toSorted((a, b) => a.at - b.at)
    const fullest = fullestSecond(requests)
    const rate = rateOfWriting(requests)
    // Each process keeps to its slots, but one may lag behind another.
    const allowed = stalls.allowed(LIMIT) + 0.1 * LIMIT
    const shares = await appliedByProcess(store)
    console.log(
      `queue on ${queue}: ${requests.length} requests, at most ${fullest} in a second (allowed ${allowed.toFixed(1)}), ` +
        `${rate.toFixed(1)} a second while writing, changes by process ${shares.join(' ')}`,
    )
    expect(fullest).toBeLessThanOrEqual(allowed)
    expect(rate).toBeGreaterThanOrEqual(0.8 * LIMIT)
    expect(shares).toHaveLength(3)
    for (const directoryId of [FIXTURE.directoryId, SECOND_DIRECTORY]) {
      const seen = await readService({ ...FIXTURE, directoryId, baseUrl: service.baseUrl })
      expect(seen).toEqual({ ...COMPANY, duplicates: [] })
    }
  },
)

/** The most requests in any stretch of one second, wherever it begins. */
function fullestSecond(requests: readonly RequestLine[]): number {
  let fullest = 0
  let first = 0
  for (const [index, { at }] of requests.entries()) {
    while (at - requests[first]!.at >= 1000) first += 1
    fullest = Math.max(fullest, index - first + 1)
  }
  return fullest
}

/** Requests a second, of any kind, between the first write and the last. */
function rateOfWriting(requests: readonly RequestLine[]): number {
  const first = requests.findIndex(isWrite)
  const last = requests.findLastIndex(isWrite)
  return ((last - first) * 1000) / (requests[last]!.at - requests[first]!.at)
}

function isWrite({ method }: RequestLine): boolean {
  return method !== 'GET'
}

async function appliedByProcess(store: string): Promise<number[]> {
  const client = new Client({ connectionString: store })
  await client.connect()
  try {
    const { rows } = await client.query<{ count: string }>(
      `select count(*) from dirsyncd.journal where outcome = 'applied' group by worker order by 1`,
    )
    return rows.map(({ count }) => Number(count))
  } finally {
    await client.end()
  }
}
