import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { AccessManagementClient } from '../api/client/client.ts'
import type { ClientOptions, SharedPause } from '../api/client/options.ts'
import type { Config, QueueConfig, SourceConfig, SyncConfig } from '../config/config.ts'
import { DirsyncdError } from '../base/errors.ts'
import { type Log, silentLog } from '../base/log/log.ts'
import type { Metrics } from '../ui/metrics/metrics.ts'
import { openQueueBackend, type QueueBackend } from '../queue/backend.ts'
import { type Times, TIMES } from '../queue/times.ts'
import { createCommandSource } from '../source/command/command-source.ts'
import { createCsvSource } from '../source/csv/csv-source.ts'
import { createLdapSource, type LdapShared } from '../source/ldap/ldap-source.ts'
import { Logins } from '../source/ldap/connection/logins.ts'
import type { Source } from '../source/source.ts'
import { databaseOptions, passwordOf } from '../base/database/open.ts'
import { hasEmbeddedStore, movingPlace } from '../base/database/aside.ts'
import type { TableRights } from '../base/database/make-tables.ts'
import { deviceId, openStore, type Store, tryEmptyStore } from '../store/open.ts'
import { isCertainlyDead, processName } from '../base/database/process-name.ts'
import { refusedLogins } from '../operations/refused-logins.ts'
import type { Retention } from '../store/retention.ts'
import { listRuns } from '../store/runs.ts'
import type { WatchedSync } from '../store/figures.ts'
import type { TokenPlace } from '../store/token-watch.ts'
import { keepHeapSmall } from '../base/process/heap.ts'

/** The open store and queue, for every process that runs syncs or applies changes. */
export interface Site extends AsyncDisposable {
  readonly store: Store
  readonly backend: QueueBackend
  readonly deviceId: string
  /** Names this process in leases and in the journal. */
  readonly processName: string
  /** Whether the process with this name has certainly ended. */
  readonly isDead: (process: string) => boolean
  readonly logins: Logins
  /** Only in a process with a metrics listener. */
  readonly metrics: Metrics | undefined
  readonly log: Log
  readonly times: Times
}

export interface SiteOptions {
  readonly times?: Times | undefined
  readonly metrics?: Metrics
  /** Rights on the tables of store and queue; default `create`. */
  readonly tables?: TableRights | undefined
}

/** `command` names the owner of an embedded store in the errors of other processes. */
export async function openSite(
  config: Config,
  command: string,
  log: Log,
  { times = TIMES, metrics, tables = 'create' }: SiteOptions = {},
): Promise<Site> {
  keepHeapSmall()
  await using stack = new AsyncDisposableStack()
  const options = databaseOptions(config.store, { dataDir: config.dataDir, command, log })
  const store = stack.use(await openMoved(config, { ...options, tables, idleMs: times.fence.idle }))
  const { queue } = config
  const backend = stack.use(
    await openQueueBackend(
      queue.kind === 'store'
        ? { kind: 'store', store, tables, log, times: times.jobs }
        : redisOptions(queue, log, times),
    ),
  )
  const device = await deviceId(store.db)
  const owned = stack.move()
  const name = processName()
  return {
    store,
    backend,
    deviceId: device,
    processName: name,
    // An embedded store has one process.
    isDead: (process) => (store.kind === 'embedded' ? process !== name : isCertainlyDead(process)),
    logins: new Logins(refusedLogins(store.db)),
    metrics,
    log,
    times,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

/**
 * An embedded store is moved before a PostgreSQL store without runs is opened: a run would begin without the decisions
 * of the embedded one. Only `store move` opens both.
 */
async function openMoved(config: Config, options: Parameters<typeof openStore>[0]): Promise<Store> {
  const files = options.kind === 'embedded' ? undefined : filesToMove(config)
  if (files === undefined) return openStore(options)
  await using stack = new AsyncDisposableStack()
  try {
    const store = stack.use(await openStore(options))
    if ((await listRuns(store.db, { limit: 1 })).length > 0) {
      stack.move()
      return store
    }
  } catch (error) {
    if (!(error instanceof DirsyncdError && error.code === 'store-empty')) throw error
  }
  throw new DirsyncdError(
    'store-unavailable',
    `The PostgreSQL store has no runs, and the embedded store in ${files} was not moved, or not completely: run ` +
      `dirsyncd store move to keep its history and holds, or move ${files} elsewhere to begin without them.`,
  )
}

function filesToMove({ dataDir }: Config): string | undefined {
  if (hasEmbeddedStore(dataDir)) return join(dataDir, 'store')
  const moving = movingPlace(dataDir)
  return existsSync(moving) ? moving : undefined
}

/** Tests whether the first start could make the tables, and whether Redis answers, where the queue is there. */
export async function tryEmptySite(config: Config, command: string, log: Log): Promise<void> {
  const { queue } = config
  const options = databaseOptions(config.store, { dataDir: config.dataDir, command, log })
  await tryEmptyStore(options, { withQueue: queue.kind === 'store' })
  if (queue.kind === 'store') return
  await using _queue = await openQueueBackend(redisOptions(queue, log))
}

function redisOptions(
  { url, password }: Extract<QueueConfig, { kind: 'redis' }>,
  log: Log,
  times = TIMES,
): Parameters<typeof openQueueBackend>[0] {
  return { kind: 'redis', url, log, times: times.jobs, ...passwordOf(password) }
}

export interface ClientParts {
  readonly deviceId: string
  readonly limit: ((signal: AbortSignal | undefined) => Promise<void>) | undefined
  /** Without it, reads that the service refuses with 429 fail after a while. */
  readonly pause?: SharedPause
  /** Records how long the token lives. */
  readonly onTokenLife: (secondsLeft: number) => void
  readonly onAnswer?: ClientOptions['onAnswer']
  readonly onRetry?: ClientOptions['onRetry']
  readonly log: Log
}

export function openClient(
  sync: SyncConfig,
  { deviceId: device, limit, pause, onTokenLife, onAnswer, onRetry, log }: ClientParts,
): AccessManagementClient {
  const { directory } = sync
  return new AccessManagementClient({
    baseUrl: directory.baseUrl,
    organizationId: directory.organizationId,
    token: (reload) => directory.token.read(reload),
    deviceId: device,
    connections: directory.readConcurrency + directory.writeConcurrency,
    ca: directory.ca,
    proxy: directory.proxy,
    onTokenLife,
    log: log.child({ sync: sync.name }),
    ...(limit !== undefined && { limit }),
    ...(pause !== undefined && { pause }),
    ...(onAnswer !== undefined && { onAnswer }),
    ...(onRetry !== undefined && { onRetry }),
  })
}

/** The URL of the directory. */
export function targetOf({ directory }: SyncConfig): string {
  const { baseUrl, organizationId, directoryId } = directory
  return `${baseUrl}/api/v2/organizations/${organizationId}/admin/directories/${directoryId}`
}

export function tokenPlaceOf({ directory: { baseUrl, token } }: SyncConfig): TokenPlace {
  return { origin: new URL(baseUrl).origin, place: token.describe() }
}

export function watchedSyncs(syncs: readonly SyncConfig[]): readonly WatchedSync[] {
  return syncs.map((sync) => ({ sync: sync.name, target: targetOf(sync), ...tokenPlaceOf(sync) }))
}

export function openSource(source: SourceConfig, log: Log, shared?: LdapShared): Source {
  switch (source.type) {
    case 'ldap':
      return createLdapSource(source.options, log, shared)
    case 'csv':
      return createCsvSource(source.options, log)
    case 'command':
      return createCommandSource(source.options, log)
  }
}

/** One sentence that begins with the key, such as `users.map.email: …`. */
export function sourceProblem(source: SourceConfig): string | undefined {
  try {
    openSource(source, silentLog())
    return undefined
  } catch (error) {
    if (!(error instanceof DirsyncdError) || error.code !== 'config-invalid') throw error
    return error.message
  }
}

export function retentionOf({ retention }: Config, { store }: Site): Retention {
  return { ...retention, isEmbedded: store.kind === 'embedded' }
}
