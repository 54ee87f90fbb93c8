import { changesQueueName, type Ticket } from '../sync/apply/job.ts'
import { ReadPause } from '../sync/apply/read-pause.ts'
import { ChangeWorker } from '../sync/apply/worker.ts'
import type { AccessManagementClient } from '../api/client/client.ts'
import type { SyncConfig } from '../config/config.ts'
import { decisiveOptions } from '../config/options.ts'
import { hashOptions } from '../core/plan/configuration.ts'
import type { DiffRules } from '../core/diff/rules.ts'
import type { Source } from '../source/source.ts'
import { TokenWatch } from '../store/token-watch.ts'
import type { SyncSetup } from '../sync/session.ts'
import { lookBack } from '../target/look-up.ts'
import { readDirectory } from '../target/read-directory.ts'
import { createBatch } from '../target/batch/create-batch.ts'
import { tryChange } from '../target/try-change.ts'
import { countChanges, countLdap, countRequests } from './counting.ts'
import { createLimit } from '../queue/request-budget.ts'
import { openClient, openSource, type Site, targetOf, tokenPlaceOf } from './site.ts'
import { trustThisMachine } from '../config/authorities.ts'

/** Both sides of a sync. */
export interface SyncParts {
  readonly sync: SyncConfig
  readonly client: AccessManagementClient
  readonly source: Source
}

/** Opens both sides until the stack is disposed. Connects to neither. */
export function openSyncParts(stack: AsyncDisposableStack, sync: SyncConfig, site: Site): SyncParts {
  const client = openSyncClient(stack, sync, site)
  const { name, source } = sync
  const shared = { logins: site.logins, ...countLdap(site.metrics, name) }
  return { sync, client, source: openSource(source, site.log.child({ sync: name }), shared) }
}

export function rulesOf({ policy, directory, entries }: SyncConfig): DiffRules {
  const { membership, allowedDomains = [], dropBadEmails, emails } = directory
  return { policy, membership, allowedDomains, dropBadEmails, emails, entries }
}

/** Closed with the stack. */
export function openSyncClient(
  stack: AsyncDisposableStack,
  sync: SyncConfig,
  site: Site,
): AccessManagementClient {
  trustThisMachine([sync])
  const limit = createLimit(sync.directory, { backend: site.backend, pool: site.store.pool })
  const log = site.log.child({ sync: sync.name })
  const pause = new ReadPause({
    db: site.store.db,
    target: targetOf(sync),
    longestMs: site.times.limited.longest,
    log,
  })
  const tokens = new TokenWatch({ db: site.store.db, log, ...tokenPlaceOf(sync) })
  stack.defer(() => tokens.settle())
  const parts = {
    deviceId: site.deviceId,
    limit,
    pause,
    onTokenLife: tokens.see,
    log: site.log,
    ...countRequests(site.metrics, sync.name),
  }
  return stack.use(openClient(sync, parts))
}

export function openSetup(
  stack: AsyncDisposableStack,
  { sync, client, source }: SyncParts,
  site: Site,
): SyncSetup {
  const { directory } = sync
  const queue = site.backend.createQueue<Ticket>(changesQueueName(sync.name))
  stack.defer(() => queue.close())
  return {
    name: sync.name,
    target: targetOf(sync),
    source,
    readDirectory: (signal, table, membership) =>
      readDirectory(client, { ...directory, membership }, signal, table),
    rules: rulesOf(sync),
    limits: sync.guards,
    approvalsExpireAfterMs: sync.approvalsExpireAfterMs,
    grace: sync.grace,
    options: hashOptions(decisiveOptions(sync), site.deviceId),
    queue,
    verification: {
      lookBack: (change, signal) => lookBack(client, directory.directoryId, change, signal),
      inBatches: directory.createBatch > 1,
    },
  }
}

/** For changes in flight when their worker is closed, in milliseconds. */
const GRACE_MS = 3000

/**
 * Disposing the stack gives changes in flight `GRACE_MS` to finish. A change that is cut off then is looked up before
 * it is sent again.
 */
export function startChangeWorker(
  stack: AsyncDisposableStack,
  { sync, client }: Pick<SyncParts, 'sync' | 'client'>,
  site: Site,
): void {
  const cut = new AbortController()
  const target = { directoryId: sync.directory.directoryId }
  const worker = new ChangeWorker({
    db: site.store.db,
    backend: site.backend,
    sync: sync.name,
    target: targetOf(sync),
    name: site.processName,
    concurrency: sync.directory.writeConcurrency,
    senders: {
      batchSize: sync.directory.createBatch,
      applyChange: (change, how, signal) => tryChange(client, target, change, how, signal),
      createBatch: (changes, how, signal) => createBatch(client, target, changes, how, signal),
    },
    signal: cut.signal,
    log: site.log,
    times: site.times,
    ...countChanges(site.metrics, sync.name),
  })
  stack.defer(async () => {
    const timer = setTimeout(() => cut.abort(), GRACE_MS)
    await worker.close()
    clearTimeout(timer)
  })
}
