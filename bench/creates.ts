import { join } from 'node:path'
import { tempDir } from '../test/support/temp.ts'
import { compare, type Comparison } from './compare.ts'
import type { BareJobsTask } from './contenders/bare-jobs.ts'
import type { BarePostingTask } from './contenders/bare-posting.ts'
import { CONCURRENCY, creatingDaemon, startServers } from './creating.ts'
import type { BenchOptions } from './options.ts'
import { startContender } from './processes.ts'
import { startInstantService, startRealService } from './services.ts'
import { directoryApi } from './directory-api.ts'

const PEOPLE = { instant: 100_000, real: 5000 }
const LIST = 100
const EMBEDDED_PEOPLE = 20_000
const NO_ENTRIES = { users: [], groups: [] }

/** A run that creates all users: jobs on Redis, store on PostgreSQL, workers in the daemon. */
export async function benchCreates({ repetitions = 3, profileDir }: BenchOptions): Promise<Comparison[]> {
  await using stack = new AsyncDisposableStack()
  const servers = await startServers(stack)
  const results: Comparison[] = []
  for (const open of [
    () => startInstantService(NO_ENTRIES),
    async () => startRealService(NO_ENTRIES, await servers.postgres.createDatabase()),
  ]) {
    await using service = await open()
    const people = PEOPLE[service.kind]
    const floorTask: BarePostingTask = {
      ...directoryApi(service.baseUrl),
      people,
      concurrency: CONCURRENCY,
      perRequest: 1,
    }
    await using floor = await startContender('bare-posting', floorTask)
    results.push(
      await compare({
        id: `creates-${service.kind}`,
        title: `${people} creates, Redis and PostgreSQL`,
        floorTitle: `undici POSTs, ${CONCURRENCY} at once`,
        service: service.kind,
        count: people,
        ours: creatingDaemon({ service, people, servers, profileDir }),
        floor,
        before: () => service.reset(),
        repetitions,
      }),
    )
  }
  return results
}

/** The same with lists: the most that the service takes in one request. */
export async function benchBatch({
  repetitions = 3,
  people = PEOPLE.instant,
  profileDir,
}: BenchOptions): Promise<Comparison[]> {
  await using stack = new AsyncDisposableStack()
  const servers = await startServers(stack)
  const service = stack.use(await startInstantService(NO_ENTRIES))
  const floorTask: BarePostingTask = {
    ...directoryApi(service.baseUrl),
    people,
    concurrency: CONCURRENCY,
    perRequest: LIST,
  }
  await using floor = await startContender('bare-posting', floorTask)
  const comparison = await compare({
    id: 'batch',
    title: `${people} creates, ${LIST} in one request, Redis and PostgreSQL`,
    floorTitle: `undici POSTs of ${LIST}, ${CONCURRENCY} at once`,
    service: service.kind,
    count: people,
    ours: creatingDaemon({ service, people, servers, createBatch: LIST, profileDir }),
    floor,
    before: () => service.reset(),
    repetitions,
  })
  return [comparison]
}

/** The same with the embedded store and queue; the floor is BullMQ with minimal jobs. */
export async function benchEmbedded({ repetitions = 3, profileDir }: BenchOptions): Promise<Comparison[]> {
  await using service = await startInstantService(NO_ENTRIES)
  await using dir = await tempDir()
  const people = EMBEDDED_PEOPLE
  const floorTask: BareJobsTask = {
    dataDir: join(dir.path, 'bare'),
    jobs: people,
    concurrency: CONCURRENCY,
  }
  await using floor = await startContender('bare-jobs', floorTask)
  const comparison = await compare({
    id: 'embedded',
    title: `${people} creates, all embedded`,
    floorTitle: 'BullMQ jobs, one read and one write each',
    service: service.kind,
    count: people,
    ours: creatingDaemon({ service, people, profileDir }),
    floor,
    before: () => service.reset(),
    repetitions,
  })
  return [comparison]
}
