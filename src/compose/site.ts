import { AccessManagementClient } from '../client/client.ts'
import type { SharedPause } from '../client/options.ts'
import type { Config, SourceConfig, StoreConfig, SyncConfig } from '../config/config.ts'
import { decisiveOptions } from '../config/options.ts'
import type { SecretReader } from '../config/secret.ts'
import { hashOptions } from '../plan/configuration.ts'
import type { SyncSetup } from '../sync/pass.ts'
import { DirsyncdError } from '../errors.ts'
import { type Log, silentLog } from '../log.ts'
import type { PlanRules } from '../plan/inputs.ts'
import { openQueueBackend, type QueueBackend } from '../queue/backend.ts'
import { type ChunkJob, changesQueueName } from '../apply/job.ts'
import { type Times, TIMES } from '../queue/times.ts'
import { ReadPause } from '../apply/read-pause.ts'
import { ChangeWorker } from '../apply/worker.ts'
import { createCommandSource } from '../source/command/command-source.ts'
import { createCsvSource } from '../source/csv/csv-source.ts'
import { createLdapSource } from '../source/ldap/ldap-source.ts'
import { Logins } from '../source/ldap/connection/logins.ts'
import type { Source } from '../source/source.ts'
import { openStore, type Store, type StoreOptions } from '../store/open.ts'
import { isCertainlyDead, processName } from '../store/process-name.ts'
import { refusedLogins } from '../store/refused-logins.ts'
import type { Retention } from '../store/retention.ts'
import { deviceId } from '../store/settings.ts'
import { TokenWatch } from '../store/token-watch.ts'
import { lookBack } from '../target/look-back.ts'
import { readDirectory } from '../target/read-directory.ts'
import { createTogether } from '../target/together/create-together.ts'
import { tryChange } from '../target/try-change.ts'
import { createLimit } from './limit.ts'
import { trustThisMachine } from './trust.ts'
import { keepHeapSmall } from './heap.ts'

/** The open store and queue of a configuration, for every process that runs syncs or applies changes. */
export interface Site extends AsyncDisposable {
  readonly store: Store
  readonly backend: QueueBackend
  readonly deviceId: string
  /** Names this process in leases and in the journal. */
  readonly processName: string
  /** Whether the process with this name has certainly ended. */
  readonly isDead: (process: string) => boolean
  readonly log: Log
  readonly times: Times
}

/** Opens store and queue. `command` names the owner of an embedded store in the errors of other processes. */
export async function openSite(
  config: Config,
  command: string,
  log: Log,
  times: Times = TIMES,
): Promise<Site> {
  keepHeapSmall()
  await using stack = new AsyncDisposableStack()
  const options = storeOptions(config.store, config.dataDir, command, log)
  const store = stack.use(await openStore({ ...options, idleMs: times.fence.idle }))
  const { queue } = config
  const backend = stack.use(
    await openQueueBackend(
      queue.kind === 'store'
        ? { kind: 'store', store, log, times: times.jobs }
        : { kind: 'redis', url: queue.url, log, times: times.jobs, ...passwordOf(queue.password) },
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
    log,
    times,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

export function storeOptions(store: StoreConfig, dataDir: string, command: string, log: Log): StoreOptions {
  if (store.kind === 'embedded') return { kind: 'embedded', dataDir, command, log }
  return { kind: 'postgres', url: store.url, log, ...passwordOf(store.password) }
}

function passwordOf(secret: SecretReader | undefined): { password?: () => Promise<string> } {
  return secret === undefined ? {} : { password: () => secret.read() }
}

/** A client of each sync's directory, by the name of the sync. */
export function openClients(
  stack: AsyncDisposableStack,
  config: Config,
  site: Site,
): ReadonlyMap<string, AccessManagementClient> {
  trustThisMachine(config.syncs)
  const clients = new Map<string, AccessManagementClient>()
  for (const sync of config.syncs) {
    const limit = createLimit(sync.directory, { backend: site.backend, pool: site.store.pool })
    const log = site.log.child({ sync: sync.name })
    const pause = new ReadPause({
      db: site.store.db,
      target: targetOf(sync),
      longestMs: site.times.limited.longest,
      log,
    })
    const tokens = new TokenWatch({ db: site.store.db, log })
    stack.defer(() => tokens.settle())
    const parts = { deviceId: site.deviceId, limit, pause, onTokenLife: tokens.see, log: site.log }
    clients.set(sync.name, stack.use(openClient(sync, parts)))
  }
  return clients
}

export interface ClientParts {
  readonly deviceId: string
  readonly limit: ((signal: AbortSignal | undefined) => Promise<void>) | undefined
  /** Without it, a read that the service refuses with 429 fails after a while. */
  readonly pause?: SharedPause
  /** Takes note of how long the token lives. */
  readonly onTokenLife: (token: string, secondsLeft: number) => void
  readonly log: Log
}

export function openClient(
  sync: SyncConfig,
  { deviceId: device, limit, pause, onTokenLife, log }: ClientParts,
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
  })
}

/** The URL of the directory that a sync writes to. */
export function targetOf({ directory }: SyncConfig): string {
  const { baseUrl, organizationId, directoryId } = directory
  return `${baseUrl}/api/v2/organizations/${organizationId}/admin/directories/${directoryId}`
}

export function openSource(source: SourceConfig, log: Log, logins?: Logins): Source {
  switch (source.type) {
    case 'ldap':
      return createLdapSource(source.options, log, logins)
    case 'csv':
      return createCsvSource(source.options, log)
    case 'command':
      return createCommandSource(source.options, log)
  }
}

/** The source of each sync, by the name of the sync. */
export type Sources = ReadonlyMap<string, Source>

/** Does not connect to them. */
export function openSources(config: Config, { log, store }: Site): Sources {
  const logins = new Logins(refusedLogins(store.db))
  return new Map(
    config.syncs.map((sync) => [sync.name, openSource(sync.source, log.child({ sync: sync.name }), logins)]),
  )
}

/** What is wrong with the options of a source, in a sentence that begins with the key, such as `users.map.email: …`. */
export function sourceProblem(source: SourceConfig): string | undefined {
  try {
    openSource(source, silentLog())
    return undefined
  } catch (error) {
    if (!(error instanceof DirsyncdError) || error.code !== 'config-invalid') throw error
    return error.message
  }
}

export function rulesOf({ policy, directory, entries }: SyncConfig): PlanRules {
  const { membership, allowedDomains = [], emails } = directory
  return { policy, membership, allowedDomains, emails, entries }
}

/** What the executor needs to run each sync. */
export function openSetups(
  config: Config,
  site: Site,
  parts: { readonly clients: ReadonlyMap<string, AccessManagementClient>; readonly sources: Sources },
): ReadonlyMap<string, SyncSetup> {
  const setups = new Map<string, SyncSetup>()
  for (const sync of config.syncs) {
    const client = required(parts.clients, sync.name)
    const { directory } = sync
    setups.set(sync.name, {
      name: sync.name,
      target: targetOf(sync),
      source: required(parts.sources, sync.name),
      readDirectory: (signal, table) => readDirectory(client, directory, signal, table),
      rules: rulesOf(sync),
      limits: sync.guards,
      holdMs: sync.holdMs,
      grace: sync.grace,
      options: hashOptions(decisiveOptions(sync), site.deviceId),
      queue: site.backend.createQueue<ChunkJob>(changesQueueName(sync.name)),
      canary: {
        lookBack: (change, signal) => lookBack(client, directory.directoryId, change, signal),
        createsInLists: directory.createBatch > 1,
      },
    })
  }
  return setups
}

/** What is kept of the past in this store. */
export function retentionOf({ retention }: Config, { store }: Site): Retention {
  return { ...retention, isEmbedded: store.kind === 'embedded' }
}

/** How long changes in flight may take to end when the process stops. */
const GRACE_MS = 3000

/**
 * Starts a worker for the changes of each of these syncs. Disposing the stack gives the changes in flight `GRACE_MS` to
 * finish. A change that is cut off then is looked up before it is sent again.
 */
export function startChangeWorkers(
  stack: AsyncDisposableStack,
  syncs: readonly SyncConfig[],
  site: Site,
  clients: ReadonlyMap<string, AccessManagementClient>,
): void {
  const cut = new AbortController()
  const workers = syncs.map((sync) => {
    const client = required(clients, sync.name)
    const target = {
      directoryId: sync.directory.directoryId,
      proved: new Map<string, number>(),
      refusesWhole: new Set<number | undefined>(),
    }
    return new ChangeWorker({
      db: site.store.db,
      backend: site.backend,
      sync: sync.name,
      target: targetOf(sync),
      name: site.processName,
      concurrency: sync.directory.writeConcurrency,
      senders: {
        createBatch: sync.directory.createBatch,
        applyChange: (change, how, signal) => tryChange(client, target, change, how, signal),
        createTogether: (changes, how, signal) => createTogether(client, target, changes, how, signal),
      },
      signal: cut.signal,
      log: site.log,
      times: site.times,
    })
  })
  stack.defer(async () => {
    const timer = setTimeout(() => cut.abort(), GRACE_MS)
    await Promise.all(workers.map((worker) => worker.close()))
    clearTimeout(timer)
  })
}

/** The part of a sync; throws when none was opened, which is a bug of the caller. */
function required<T>(parts: ReadonlyMap<string, T>, sync: string): T {
  const part = parts.get(sync)
  if (part === undefined) throw new Error(`nothing was opened for sync ${sync}`)
  return part
}
