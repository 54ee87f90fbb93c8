import {
  assertSchemaCompatibility,
  createPostgresBackend,
  createRedisBackend,
  type BackendFactory,
  type IQueueBackend,
  LATEST_SCHEMA_VERSION,
  type Processor,
  Queue,
  type QueueOptions,
  runMigrations,
  SchemaMigrationRequiredError,
  SchemaVersionMismatchError,
  Worker,
  type WorkerOptions,
} from 'bullmq'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Redis } from 'ioredis'
import type { Pool } from 'pg'
import { DirsyncdError } from '../base/errors.ts'
import type { Log } from '../base/log/log.ts'
import { type TableRights, withMigrationLock } from '../base/database/make-tables.ts'
import type { Store } from '../store/open.ts'
import { type MadeTables, requireWrites, withRights } from '../base/database/rights.ts'
import type { Outage } from '../base/database/outage.ts'
import { openRedis } from './redis.ts'
import { type Times, TIMES } from './times.ts'

/** Disposing closes its queues and workers, workers first. */
export type QueueBackend = AsyncDisposable & {
  readonly kind: 'redis' | 'postgres' | 'embedded'
  /** The connection for everything but BullMQ, when the queue is on Redis. */
  readonly redis?: Redis
  /** Resolves when the queue's server answers and, where it is Redis, accepts writes; waits as long as it is away. */
  ping(): Promise<void>
  createQueue<D>(name: string, options?: Pick<QueueOptions, 'settings'>): Queue<D>
  createWorker<D>(
    name: string,
    processor: Processor<D>,
    options?: Omit<WorkerOptions, 'connection' | 'prefix'>,
  ): Worker<D>
}

type RedisOptions = {
  kind: 'redis'
  /** `redis://host:port/database`, or `rediss:` for TLS. */
  url: string
  password?: () => Promise<string>
  /** The prefix of every key; `dirsyncd` by default. */
  prefix?: string
}

type InStoreOptions = {
  kind: 'store'
  store: Store
  /** The rights of this process on the queue's tables; `create` by default. */
  tables?: TableRights
}

type QueueBackendOptions = (InStoreOptions | RedisOptions) & {
  log?: Log
  times?: Times['jobs']
}

/** @throws DirsyncdError `queue-unavailable` */
export async function openQueueBackend(options: QueueBackendOptions): Promise<QueueBackend> {
  const maker = { log: options.log, times: options.times ?? TIMES.jobs }
  return options.kind === 'store' ? openInStore(options, maker) : openOnRedis(options, maker)
}

async function openInStore(
  { store, tables = 'create' }: InStoreOptions,
  maker: Maker,
): Promise<QueueBackend> {
  await makeTables(store, tables)
  const made = makeAll({ factory: createPostgresBackend, connection: store.pool }, store.outage, maker)
  const waits = store.kind === 'embedded' ? EMBEDDED_WAITS : {}
  return {
    kind: store.kind,
    ping: async () => void (await store.pool.query('SELECT 1')),
    createQueue: made.createQueue,
    createWorker(name, processor, options) {
      const worker = made.createWorker(name, processor, { ...waits, ...options })
      // Each worker holds one client of the pool to listen on.
      store.pool.options.max += 1
      worker.once('closed', () => (store.pool.options.max -= 1))
      return worker
    },
    [Symbol.asyncDispose]: made.close,
  }
}

async function makeTables(store: Store, rights: TableRights): Promise<void> {
  const { pool } = store
  const tables: MadeTables = {
    where: (database) => `The queue in the store, database ${database},`,
    isEmpty: async () => (await queueVersion(pool)) === undefined,
    code: 'queue-unavailable',
  }
  await withRights(pool, tables, async () => {
    // BullMQ takes its own lock within a transaction, which does not see a schema that was created while it waited.
    if (await lacksTables(store, rights))
      await withMigrationLock(pool, (client) => runMigrations(client, 'bullmq'))
    await requireWrites(pool, 'bullmq')
  })
}

/** Throws for tables of a version that this process may not use. */
async function lacksTables({ pool }: Store, rights: TableRights): Promise<boolean> {
  const version = await queueVersion(pool)
  if (version === undefined) return rights !== 'keep'
  // Tables of a newer BullMQ are used as long as it declares that an older one can use them.
  if (version >= LATEST_SCHEMA_VERSION) return false
  if (rights === 'upgrade') return true
  throw new DirsyncdError(
    'queue-unavailable',
    `The queue in the store was last used by an older dirsyncd: its tables have version ${version}, and this version ` +
      `needs ${LATEST_SCHEMA_VERSION}. Start the daemon of this version with it (dirsyncd start), which upgrades it.`,
  )
}

async function queueVersion(pool: Pool): Promise<number | undefined> {
  try {
    return await assertSchemaCompatibility(pool, 'bullmq')
  } catch (error) {
    if (error instanceof SchemaMigrationRequiredError) return undefined
    if (!(error instanceof SchemaVersionMismatchError)) throw error
    throw new DirsyncdError(
      'queue-unavailable',
      'The queue in the store was last used by a newer dirsyncd, whose tables this version does not know. ' +
        'Install that version or a newer one.',
      { cause: error },
    )
  }
}

async function openOnRedis(options: RedisOptions, maker: Maker): Promise<QueueBackend> {
  const link = await openRedis(options, maker.log, maker.times.open)
  const { redis } = link
  const prefix = options.prefix ?? 'dirsyncd'
  const made = makeAll({ factory: createRedisBackend, connection: redis, prefix }, link.outage, maker)
  return {
    kind: 'redis',
    redis,
    ping: async () => void (await redis.set(`${prefix}:ping`, '', 'PX', 1)),
    createQueue: made.createQueue,
    createWorker: made.createWorker,
    async [Symbol.asyncDispose]() {
      await link.closeDespiteOutage(made.close)
      redis.disconnect()
    },
  }
}

/** Jobs leave no trace in the queue: the journal has the outcomes, and no text of an API's answer belongs here. */
const JOB_DEFAULTS = { removeOnComplete: true, removeOnFail: true, stackTraceLimit: 0 }
const WORKER_DEFAULTS = { removeOnComplete: { count: 0 }, removeOnFail: { count: 0 }, maxStalledCount: 10 }

/** In seconds and milliseconds. An embedded store has one process, which is notified and takes over no jobs. */
const EMBEDDED_WAITS = { drainDelay: 60, stalledInterval: 60_000 }

/** After an outage, a job may be lost or another worker's. The store has the outcomes, and gives out the rest again. */
function isLostJob(error: Error): boolean {
  return /^(Missing (key|lock) for|Lock mismatch for|could not renew lock for) job |^Job \S+ is not in the /.test(
    error.message,
  )
}

type Maker = { readonly log: Log | undefined; readonly times: Times['jobs'] }

/** BullMQ retries at once where the server answers with an error, as a read-only Redis does. */
function paced(
  factory: BackendFactory<IQueueBackend, unknown>,
  outage: Outage,
  pauseMs: number,
): BackendFactory<IQueueBackend, unknown> {
  return (...asked) => {
    const backend = factory(...asked)
    const takeJob = backend.moveToActive.bind(backend)
    backend.moveToActive = async (...worker) => {
      try {
        const job = await takeJob(...worker)
        // An answer without a job needed no write.
        if (job[0]) outage.over()
        return job
      } catch (error) {
        await sleep(pauseMs, undefined, { ref: false })
        throw error
      }
    }
    return backend
  }
}

/** The backend class is a type parameter of BullMQ's classes; callers get the types of BullMQ's default. */
function makeAll(
  { factory, ...where }: { factory: unknown; connection: unknown; prefix?: string },
  outage: Outage,
  { log, times }: Maker,
) {
  const queues = new Set<Queue>()
  const workers = new Set<Worker>()
  const waits = { lockDuration: times.lock, stalledInterval: times.stalled, runRetryDelay: times.askAgain }
  const backendFactory = paced(factory as BackendFactory<IQueueBackend, unknown>, outage, times.askAgain)

  const createQueue: QueueBackend['createQueue'] = (name, options) => {
    const queue = new Queue(name, { ...options, ...where, defaultJobOptions: JOB_DEFAULTS }, backendFactory)
    queue.on('error', (error) => report(error, name))
    queues.add(queue as unknown as Queue)
    return queue as never
  }

  const createWorker: QueueBackend['createWorker'] = (name, processor, options) => {
    const settings = { ...WORKER_DEFAULTS, ...waits, ...options, ...where }
    const worker = new Worker(name, processor, settings, backendFactory)
    worker.on('error', (error) => report(error, name))
    worker.once('closed', () => workers.delete(worker as unknown as Worker))
    workers.add(worker as unknown as Worker)
    return worker as never
  }

  /** Without a listener an error event would end the process; BullMQ recovers by itself. */
  function report(error: Error, queue: string): void {
    if (outage.explains(error)) return
    const level = isLostJob(error) ? 'debug' : 'warn'
    log?.[level]({ queue, error: error.message }, 'the queue reports an error')
  }

  async function close(): Promise<void> {
    await Promise.all([...workers].map((worker) => worker.close()))
    await Promise.all([...queues].map((queue) => queue.close()))
  }

  return { createQueue, createWorker, close }
}
