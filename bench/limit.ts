import { compare, type Comparison } from './compare.ts'
import type { BarePostingTask } from './contenders/bare-posting.ts'
import { CONCURRENCY, creatingDaemon, type Servers, startServers } from './creating.ts'
import { directoryApi } from './directory-api.ts'
import type { BenchOptions } from './options.ts'
import { startContender } from './processes.ts'
import { startInstantService } from './services.ts'

/** Requests a second that the service takes. */
const PER_SECOND = 10

interface Limited {
  readonly people: number
  readonly createBatch: number
  /** Whether the daemon knows the limit (`rateLimit`), or learns of it from answers with 429. */
  readonly isConfigured: boolean
}

/** Each takes half a minute: 300 requests. */
const CASES: readonly Limited[] = [
  { people: 300, createBatch: 1, isConfigured: true },
  { people: 30_000, createBatch: 100, isConfigured: true },
  { people: 300, createBatch: 1, isConfigured: false },
]

/** First fills of a service that takes few requests. No warm-up, because all that counts is waiting. */
export async function benchLimit(options: BenchOptions): Promise<Comparison[]> {
  await using stack = new AsyncDisposableStack()
  const servers = await startServers(stack)
  const results: Comparison[] = []
  for (const each of CASES) results.push(await measure(each, servers, options))
  return results
}

async function measure(
  { people, createBatch, isConfigured }: Limited,
  servers: Servers,
  { repetitions = 1, profileDir }: BenchOptions,
): Promise<Comparison> {
  await using service = await startInstantService({ users: [], groups: [] }, { perSecond: PER_SECOND })
  const floorTask: BarePostingTask = {
    ...directoryApi(service.baseUrl),
    people,
    concurrency: CONCURRENCY,
    perRequest: createBatch,
    perSecond: PER_SECOND,
  }
  await using floor = await startContender('bare-posting', floorTask, { warmUps: 0 })
  const perSecond = isConfigured ? { perSecond: PER_SECOND } : {}
  const comparison = await compare({
    id: `limit-${createBatch}${isConfigured ? '' : '-unknown'}`,
    title: `${people} creates, ${createBatch} in one request, ${PER_SECOND} requests a second, ${isConfigured ? 'with' : 'without'} rateLimit`,
    floorTitle: `${Math.ceil(people / createBatch)} POSTs, evenly spaced`,
    service: service.kind,
    count: people,
    ours: creatingDaemon({ service, people, servers, createBatch, profileDir, ...perSecond }),
    floor,
    before: () => service.reset(),
    repetitions,
    warmUp: false,
  })
  const { reads, writes, limited } = await service.requests()
  const notes = [`${reads} reads and ${writes} writes, of which the service answered ${limited} with 429`]
  return { ...comparison, notes }
}
