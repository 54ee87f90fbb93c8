import { join } from 'node:path'
import { putEmptyStore } from '../test/support/empty-store.ts'
import { type PostgresServer, runSql, startPostgres } from '../test/support/postgres.ts'
import { type RedisServer, startRedis } from '../test/support/redis.ts'
import { startProgram } from '../test/support/program.ts'
import { directorySection } from '../test/support/sync-config.ts'
import { tempDir } from '../test/support/temp.ts'
import { compare, type Comparison, type ComparisonOptions } from './compare.ts'
import type { BarePostingTask } from './contenders/bare-posting.ts'
import type { DaemonTask } from './contenders/daemon.ts'
import { entriesOf } from './people.ts'
import { openedAnew, type Side, startContender } from './processes.ts'
import type { BenchService } from './services.ts'
import { writeCsvSync } from './sync-folder.ts'

/** The default of `writeConcurrency`. */
export const CONCURRENCY = 8

export interface CreatingOptions {
  readonly service: BenchService
  readonly people: number
  /** The servers of store and queue; without them, both are embedded. */
  readonly servers?: Servers
  /** The most users that one request creates; 1 by default. */
  readonly createBatch?: number
  /** The `rateLimit` of the directory in requests a second; none by default. */
  readonly perSecond?: number | undefined
  /** Starts a `dirsyncd worker` beside the daemon. */
  readonly withWorker?: boolean
}

/** PostgreSQL for the store and Redis for the queue. */
export interface Servers {
  readonly postgres: PostgresServer
  readonly redis: RedisServer
}

export async function startServers(stack: AsyncDisposableStack): Promise<Servers> {
  // What a server learns of its tables within minutes, it knows here after a second.
  const postgres = stack.adopt(await startPostgres(['autovacuum_naptime=1s']), (server) => server.close())
  const redis = stack.adopt(await startRedis({ appendOnly: true }), (server) => server.close())
  return { postgres, redis }
}

const STORE = 'dirsyncd'

/** An empty store and queue on the servers, as sections of the configuration. */
export async function newStores({ postgres, redis }: Servers): Promise<object> {
  await runSql(postgres.url, `drop database if exists ${STORE} with (force)`)
  await redis.flush()
  return { store: await postgres.createDatabase(STORE), queue: redis.url }
}

/** The URL of the store that `newStores` makes on this server. */
export function storeOn({ postgres }: Servers): string {
  return postgres.url.replace(/postgres$/, STORE)
}

/**
 * A daemon that creates all users in one run. Each repetition has a new daemon and a new store, because a store
 * remembers who was in the directory: with the store of an earlier repetition, the run would look everybody up first.
 */
export function creatingDaemon(options: CreatingOptions): Side {
  const { service, people, servers, createBatch = 1, perSecond, withWorker = false } = options
  const rateLimit = perSecond === undefined ? {} : { rateLimit: { requests: perSecond, per: '1s' } }
  const more = { writeConcurrency: CONCURRENCY, createBatch, ...rateLimit }
  return openedAnew(async (stack) => {
    const { path } = stack.use(await tempDir())
    if (servers === undefined) await putEmptyStore(join(path, 'data'))
    const stores = servers === undefined ? {} : await newStores(servers)
    const sync = { directory: directorySection(service, more) }
    const config = await writeCsvSync(path, entriesOf(people), sync, stores)
    const task: DaemonTask = { config, sync: 'corp', expect: { unchanged: 0, applied: people } }
    const daemon = stack.use(await startContender('daemon', task, 0))
    if (withWorker) {
      const args = ['worker', '--config', config, '--log-level', 'info']
      const worker = stack.use(startProgram(args, { asInProduction: true }))
      await worker.waitForOutput(/worker started/)
    }
    return daemon
  })
}

interface Creates extends CreatingOptions, Pick<ComparisonOptions, 'title' | 'repetitions' | 'warmUp'> {
  /** The most requests that the floor sends in a second, evenly spaced. */
  readonly floorPerSecond?: number
}

/** Creates by a daemon; the floor is the POSTs alone. */
export async function compareCreates(creates: Creates): Promise<Comparison> {
  const { title, service, people, createBatch = 1, floorPerSecond, repetitions, warmUp = true } = creates
  const floorTask: BarePostingTask = {
    ...service.api,
    people,
    concurrency: CONCURRENCY,
    perRequest: createBatch,
    perSecond: floorPerSecond,
  }
  await using floor = await startContender('bare-posting', floorTask, warmUp ? 1 : 0)
  const limit = floorPerSecond === undefined ? '' : `, ${floorPerSecond} a second`
  return await compare({
    title,
    floorTitle: `undici POSTs of ${createBatch}, ${CONCURRENCY} at once${limit}`,
    service: service.kind,
    count: people,
    ours: creatingDaemon(creates),
    floor,
    before: () => service.reset(),
    repetitions,
    warmUp,
  })
}
