import type { BenchOptions, Comparison } from './compare.ts'
import { compareCreates, type Servers, startServers } from './creating.ts'
import { NOBODY } from './people.ts'
import { startInstantService } from './services.ts'

interface Limited {
  readonly people: number
  readonly createBatch: number
  /** Requests that the service takes in a second. */
  readonly perSecond: number
  /** Whether the daemon knows the limit (`rateLimit`), or learns of it from answers with 429. */
  readonly isConfigured: boolean
  /** Whether a worker shares the limit with the daemon. */
  readonly withWorker: boolean
}

const ALONE = { createBatch: 1, perSecond: 10, isConfigured: true, withWorker: false }

/** Each takes half a minute. */
const CASES: readonly Limited[] = [
  { ...ALONE, people: 300 },
  { ...ALONE, people: 30_000, createBatch: 100 },
  { ...ALONE, people: 3000, perSecond: 100, withWorker: true },
  { ...ALONE, people: 300, isConfigured: false },
]

/** First fills of a service that takes few requests. No warm-up, because all that counts is waiting. */
export async function benchLimit(options: BenchOptions): Promise<Comparison[]> {
  await using stack = new AsyncDisposableStack()
  const servers = await startServers(stack)
  const results: Comparison[] = []
  for (const each of CASES) results.push(await measure(each, servers, options))
  return results
}

async function measure(limited: Limited, servers: Servers, options: BenchOptions): Promise<Comparison> {
  const { people, createBatch, perSecond, isConfigured, withWorker } = limited
  await using service = await startInstantService(NOBODY, { perSecond })
  const comparison = await compareCreates({
    title: [
      `${people} creates, ${createBatch} in one request, ${perSecond} requests a second`,
      `${isConfigured ? 'with' : 'without'} rateLimit${withWorker ? ', a daemon and a worker' : ''}`,
    ].join(', '),
    service,
    people,
    servers,
    createBatch,
    perSecond: isConfigured ? perSecond : undefined,
    withWorker,
    floorPerSecond: perSecond,
    repetitions: options.repetitions ?? 1,
    warmUp: false,
  })
  const { reads, writes, limited: refused } = await service.requests()
  const notes = [`${reads} reads and ${writes} writes, of which the service answered ${refused} with 429`]
  return { ...comparison, notes }
}
