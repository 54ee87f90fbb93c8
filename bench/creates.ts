import { join } from 'node:path'
import { Client } from 'pg'
import { tempDir } from '../test/support/temp.ts'
import { type BenchOptions, compare, type Comparison } from './compare.ts'
import type { BareJobsTask } from './contenders/bare-jobs.ts'
import {
  compareCreates,
  CONCURRENCY,
  creatingDaemon,
  type Servers,
  startServers,
  storeOn,
} from './creating.ts'
import { NOBODY } from './people.ts'
import { startContender } from './processes.ts'
import { megabytes } from './render.ts'
import { startInstantService, startRealService } from './services.ts'

const PEOPLE = { instant: 100_000, real: 5000 }
const EMBEDDED_PEOPLE = 20_000
const FIRST_FILLS = [100_000, 1_000_000]
const LIST = 100

/** A run that creates all users: jobs on Redis, store on PostgreSQL, workers in the daemon. */
export async function benchCreates({ repetitions = 3, people }: BenchOptions): Promise<Comparison[]> {
  await using stack = new AsyncDisposableStack()
  const servers = await startServers(stack)
  const results: Comparison[] = []
  for (const open of [
    () => startInstantService(NOBODY),
    async () => startRealService(NOBODY, await servers.postgres.createDatabase()),
  ]) {
    await using service = await open()
    const count = people ?? PEOPLE[service.kind]
    const title = `${count} creates, Redis and PostgreSQL`
    results.push(await compareCreates({ title, service, people: count, servers, repetitions }))
  }
  return results
}

/** The same with lists: the most that the service takes in one request. */
export async function benchBatch({
  repetitions = 3,
  people = PEOPLE.instant,
}: BenchOptions): Promise<Comparison[]> {
  await using stack = new AsyncDisposableStack()
  const servers = await startServers(stack)
  const service = stack.use(await startInstantService(NOBODY))
  const title = `${people} creates, ${LIST} in one request, Redis and PostgreSQL`
  return [await compareCreates({ title, service, people, servers, createBatch: LIST, repetitions })]
}

/** Creates of all users in an empty directory. A million take minutes, so each size is measured once, without a warm-up. */
export async function benchFirstFill({ repetitions = 1, people }: BenchOptions): Promise<Comparison[]> {
  const results: Comparison[] = []
  for (const count of people === undefined ? FIRST_FILLS : [people]) {
    await using stack = new AsyncDisposableStack()
    const servers = await startServers(stack)
    const service = stack.use(await startInstantService(NOBODY))
    const title = `first fill of ${count} users, Redis and PostgreSQL`
    const fill = await compareCreates({ title, service, people: count, servers, repetitions, warmUp: false })
    const { reads, writes } = await service.requests()
    const size = megabytes(await bytesOfStore(servers))
    results.push({
      ...fill,
      notes: [`${reads} reads and ${writes} writes; the store has ${size} in the end`],
    })
  }
  return results
}

async function bytesOfStore(servers: Servers): Promise<number> {
  const client = new Client({ connectionString: storeOn(servers) })
  await client.connect()
  try {
    const { rows } = await client.query<{ bytes: string }>(
      'select pg_database_size(current_database()) as bytes',
    )
    return Number(rows[0]?.bytes)
  } finally {
    await client.end()
  }
}

/** The same with the embedded store and queue; the floor is BullMQ with minimal jobs. */
export async function benchEmbedded({
  repetitions = 3,
  people = EMBEDDED_PEOPLE,
}: BenchOptions): Promise<Comparison[]> {
  await using service = await startInstantService(NOBODY)
  await using dir = await tempDir()
  const floorTask: BareJobsTask = { dataDir: join(dir.path, 'bare'), jobs: people, concurrency: CONCURRENCY }
  await using floor = await startContender('bare-jobs', floorTask)
  const comparison = await compare({
    title: `${people} creates, all embedded`,
    floorTitle: 'BullMQ jobs, one read and one write each',
    service: service.kind,
    count: people,
    ours: creatingDaemon({ service, people }),
    floor,
    before: () => service.reset(),
    repetitions,
  })
  return [comparison]
}

const WORKERS_PEOPLE = 20_000
/** How long the service takes for a write, so that waiting for it limits one process. */
const WRITE_MS = 20

/** A run that creates all users, by a daemon alone against a daemon and a worker: the ratio is what the worker adds. */
export async function benchWorkers({
  repetitions = 3,
  people = WORKERS_PEOPLE,
}: BenchOptions): Promise<Comparison[]> {
  await using stack = new AsyncDisposableStack()
  const servers = await startServers(stack)
  const service = stack.use(await startInstantService(NOBODY, { writeMs: WRITE_MS }))
  const options = { service, people, servers }
  const comparison = await compare({
    title: `${people} creates of ${WRITE_MS} ms each, a daemon alone`,
    floorTitle: 'a daemon and a worker',
    service: service.kind,
    count: people,
    ours: creatingDaemon(options),
    floor: creatingDaemon({ ...options, withWorker: true }),
    before: () => service.reset(),
    repetitions,
  })
  return [comparison]
}
