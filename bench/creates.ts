import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { startPostgres } from '../test/support/postgres.ts'
import { startRedis } from '../test/support/redis.ts'
import { directorySection, embeddedConfig } from '../test/support/sync-config.ts'
import { tempDir } from '../test/support/temp.ts'
import { compare, type Comparison } from './compare.ts'
import type { BareJobsTask } from './contenders/bare-jobs.ts'
import type { BarePostingTask } from './contenders/bare-posting.ts'
import type { DaemonTask } from './contenders/daemon.ts'
import type { BenchOptions } from './options.ts'
import { csvOf, entriesOf } from './people.ts'
import { startContender } from './processes.ts'
import { type BenchService, startInstantService, startRealService } from './services.ts'
import { directoryApi } from './directory-api.ts'

const PEOPLE = 5000
const EMBEDDED_PEOPLE = 2000
/** The default of `writeConcurrency`. */
const CONCURRENCY = 8
const NO_ENTRIES = { users: [], groups: [] }

/** A run that creates all users: jobs on Redis, store on PostgreSQL, workers in the daemon. */
export async function benchCreates(options: BenchOptions): Promise<Comparison[]> {
  await using stack = new AsyncDisposableStack()
  const postgres = stack.adopt(await startPostgres(), (server) => server.close())
  const redis = stack.adopt(await startRedis({ appendOnly: true }), (server) => server.close())
  const results: Comparison[] = []
  for (const open of [
    () => startInstantService(NO_ENTRIES),
    async () => startRealService(NO_ENTRIES, await postgres.createDatabase()),
  ]) {
    await using service = await open()
    await using dir = await tempDir()
    const stores = { store: await postgres.createDatabase(), queue: redis.url }
    await using ours = await startDaemon(dir.path, service, PEOPLE, stores, options)
    const floorTask: BarePostingTask = {
      ...directoryApi(service.baseUrl),
      people: PEOPLE,
      concurrency: CONCURRENCY,
    }
    await using floor = await startContender('bare-posting', floorTask)
    results.push(
      await compare({
        id: `creates-${service.kind}`,
        title: `${PEOPLE} creates, Redis and PostgreSQL`,
        floorTitle: `undici POSTs, ${CONCURRENCY} at once`,
        service: service.kind,
        count: PEOPLE,
        ours,
        floor,
        before: () => service.reset(),
        repetitions: options.repetitions ?? 3,
      }),
    )
  }
  return results
}

/** The same with the embedded store and queue; the floor is BullMQ with minimal jobs. */
export async function benchEmbedded(options: BenchOptions): Promise<Comparison[]> {
  await using service = await startInstantService(NO_ENTRIES)
  await using dir = await tempDir()
  await using ours = await startDaemon(dir.path, service, EMBEDDED_PEOPLE, {}, options)
  const floorTask: BareJobsTask = {
    dataDir: join(dir.path, 'bare'),
    jobs: EMBEDDED_PEOPLE,
    concurrency: CONCURRENCY,
  }
  await using floor = await startContender('bare-jobs', floorTask)
  const comparison = await compare({
    id: 'embedded',
    title: `${EMBEDDED_PEOPLE} creates, all embedded`,
    floorTitle: 'BullMQ jobs, one read and one write each',
    service: service.kind,
    count: EMBEDDED_PEOPLE,
    ours,
    floor,
    before: () => service.reset(),
    repetitions: options.repetitions ?? 3,
  })
  return [comparison]
}

async function startDaemon(
  dir: string,
  service: BenchService,
  people: number,
  stores: object,
  options: BenchOptions,
) {
  const config = join(dir, 'dirsyncd.yaml')
  await writeFile(join(dir, 'users.csv'), csvOf(entriesOf(people, 0)))
  const map = { external_id: 'id', email: 'mail', name: 'name', employee_id: 'number' }
  const sync = {
    name: 'corp',
    source: { type: 'csv', users: { path: './users.csv', map } },
    directory: directorySection(service, { writeConcurrency: CONCURRENCY }),
  }
  await writeFile(config, stringify(embeddedConfig([sync], { log: { level: 'warn' }, ...stores })))
  const task: DaemonTask = { config, sync: 'corp', expect: { unchanged: 0, applied: people } }
  return startContender('daemon', task, options.profileDir)
}
