import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { putEmptyStore } from '../test/support/empty-store.ts'
import { type PostgresServer, runSql, startPostgres } from '../test/support/postgres.ts'
import { type RedisServer, startRedis } from '../test/support/redis.ts'
import { startProgram } from '../test/support/program.ts'
import { directorySection, embeddedConfig } from '../test/support/sync-config.ts'
import { freePort } from '../test/support/server-process.ts'
import { tempDir } from '../test/support/temp.ts'
import type { DaemonTask } from './contenders/daemon.ts'
import type { HealthWatch } from './health.ts'
import { csvOf, entriesOf } from './people.ts'
import { type ContenderProcess, openedAnew, startContender } from './processes.ts'
import type { BenchService } from './services.ts'

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
  readonly perSecond?: number
  /** Starts a `dirsyncd worker` beside the daemon. */
  readonly withWorker?: boolean
  /** Asks the daemon how it is while it creates. */
  readonly health?: HealthWatch
  readonly profileDir: string | undefined
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

/**
 * A daemon that creates all users in one run. Each repetition has a new daemon and a new store, because a store
 * remembers who was in the directory: with the store of an earlier repetition, the run would look everybody up first.
 */
export function creatingDaemon({ people, profileDir, ...options }: CreatingOptions): ContenderProcess {
  return openedAnew(async (stack) => {
    const dir = stack.use(await tempDir())
    const config = join(dir.path, 'dirsyncd.yaml')
    await writeFile(join(dir.path, 'users.csv'), csvOf(entriesOf(people)))
    if (options.servers === undefined) await putEmptyStore(join(dir.path, 'data'))
    const stores = options.servers === undefined ? {} : await newStores(options.servers)
    const admin = `127.0.0.1:${await freePort()}`
    await writeFile(config, configOf(options, { ...stores, admin: { listen: admin } }))
    const task: DaemonTask = { config, sync: 'corp', expect: { unchanged: 0, applied: people } }
    const daemon = stack.use(await startContender('daemon', task, { profileDir, warmUps: 0 }))
    if (options.withWorker === true) {
      const args = ['worker', '--config', config, '--log-level', 'info']
      const worker = stack.use(startProgram(args, { asInProduction: true }))
      await worker.waitForOutput(/worker started/)
    }
    const { health } = options
    if (health === undefined) return daemon
    return { ...daemon, run: () => health.during(`http://${admin}/healthz`, () => daemon.run()) }
  })
}

/** The URL of the store that `newStores` makes on this server. */
export function storeOn({ postgres }: Pick<Servers, 'postgres'>): string {
  return postgres.url.replace(/postgres$/, STORE)
}

const STORE = 'dirsyncd'

/** An empty store and queue on the servers, as sections of the configuration. */
export async function newStores({ postgres, redis }: Servers): Promise<object> {
  await runSql(postgres.url, `drop database if exists ${STORE} with (force)`)
  await redis.flush()
  return { store: await postgres.createDatabase(STORE), queue: redis.url }
}

function configOf(
  { service, createBatch = 1, perSecond }: Pick<CreatingOptions, 'service' | 'createBatch' | 'perSecond'>,
  places: object,
): string {
  const rateLimit = perSecond === undefined ? {} : { rateLimit: { requests: perSecond, per: '1s' } }
  const map = { external_id: 'id', email: 'mail', name: 'name', employee_id: 'number' }
  const sync = {
    name: 'corp',
    source: { type: 'csv', users: { path: './users.csv', map } },
    directory: directorySection(service, { writeConcurrency: CONCURRENCY, createBatch, ...rateLimit }),
  }
  return stringify(embeddedConfig([sync], { log: { level: 'warn' }, ...places }))
}
