import { compare, type Comparison } from './compare.ts'
import type { BarePostingTask } from './contenders/bare-posting.ts'
import type { RequestCounts } from './contenders/instant-service.ts'
import { CONCURRENCY, creatingDaemon, startServers } from './creating.ts'
import { directoryApi } from './directory-api.ts'
import { type HealthAnswers, HealthWatch } from './health.ts'
import type { BenchOptions } from './options.ts'
import { startContender } from './processes.ts'
import { megabytes } from './render.ts'
import { startInstantService } from './services.ts'
import { storeSizes, type StoreSizes } from './stores.ts'

const SIZES = [100_000, 1_000_000]

/** A first fill, and what it did to the servers. */
export interface Fill extends StoreSizes {
  readonly comparison: Comparison
  readonly health: HealthAnswers
  /** Of the last repetition. */
  readonly requests: RequestCounts
}

/** Creates of all users in an empty directory. A million take minutes, so each size is measured once, without a warm-up. */
export async function benchFirstFill(options: BenchOptions): Promise<Comparison[]> {
  const results: Comparison[] = []
  for (const people of options.people === undefined ? SIZES : [options.people]) {
    const fill = await measureFill(people, options)
    results.push({ ...fill.comparison, notes: notesOf(fill) })
  }
  return results
}

/** With new servers, because Redis keeps its peak until it ends. */
export async function measureFill(
  people: number,
  { repetitions = 1, profileDir }: Pick<BenchOptions, 'repetitions' | 'profileDir'>,
): Promise<Fill> {
  await using stack = new AsyncDisposableStack()
  const servers = await startServers(stack)
  const service = stack.use(await startInstantService({ users: [], groups: [] }))
  const floorTask: BarePostingTask = {
    ...directoryApi(service.baseUrl),
    people,
    concurrency: CONCURRENCY,
    perRequest: 1,
  }
  await using floor = await startContender('bare-posting', floorTask, { warmUps: 0 })
  const watch = new HealthWatch()
  const comparison = await compare({
    id: `first-fill-${people}`,
    title: `first fill of ${people} users, Redis and PostgreSQL`,
    floorTitle: `undici POSTs, ${CONCURRENCY} at once`,
    service: service.kind,
    count: people,
    ours: creatingDaemon({ service, people, servers, health: watch, profileDir }),
    floor,
    before: () => service.reset(),
    repetitions,
    warmUp: false,
  })
  const requests = await service.requests()
  return { comparison, health: watch.answers, requests, ...(await storeSizes(servers)) }
}

function notesOf({ health, requests, redisPeakBytes, databaseBytes, comparison }: Fill): string[] {
  const { asked, failed, slowestMs } = health
  const answered = failed === 0 ? 'answered each time' : `failed ${failed} times`
  return [
    `peak of Redis ${megabytes(redisPeakBytes)}, of the daemon ${megabytes(comparison.ours.peakBytes)}; ` +
      `the store has ${megabytes(databaseBytes)} in the end`,
    `/healthz was asked ${asked} times and ${answered}, the slowest within ${Math.round(slowestMs)} ms`,
    `${requests.reads} reads and ${requests.writes} writes`,
  ]
}
