import { once } from 'node:events'
import type { Pool } from 'pg'
import type { ServiceConfig } from './config/config.ts'
import { listen } from '../base/socket/listen.ts'
import type { Log } from '../base/log/log.ts'
import { buildApp } from './app.ts'
import { closeApp } from './http/close-app.ts'
import type { RateLimit } from './http/rate-limiter.ts'
import { parseFaults } from './faults/faults.ts'
import { startEventRetention } from './events/retention.ts'
import { loadAtStart } from './fixture/load-at-start.ts'
import { openReloadableVault } from './keys/key-file.ts'
import { othersMay } from './keys/vault.ts'
import { createEstimator } from './password.ts'
import type { RequestLog } from './http/request-log.ts'
import { requireKeys } from './keys/rotate-key.ts'
import { makeServiceTables, openServicePool } from './store/open.ts'
import { openRequestLog } from './http/open-request-log.ts'
import { listenForServiceAdmin } from './admin/open.ts'

/** For requests in flight; below the 8 s after which `shutdown.ts` ends the process. */
const GRACE_MS = 4000

export async function runService(
  service: ServiceConfig,
  log: Log,
  signal: AbortSignal,
  onReady: (url: string) => void,
): Promise<void> {
  await using stack = new AsyncDisposableStack()
  // First of all: from then on SIGHUP does not end the process.
  const requestLog = openRequestLog(stack, service, log)
  const pool = await openServicePool(stack, service, 'access-service start', log)
  const url = await startService(stack, service, { pool, log, requestLog })
  onReady(url)
  if (!signal.aborted) await once(signal, 'abort')
}

/** Makes the service's tables, loads the fixture into an empty store and listens; returns the URL. */
export async function startService(
  stack: AsyncDisposableStack,
  service: ServiceConfig,
  parts: { readonly pool: Pool; readonly log: Log; readonly requestLog: RequestLog | undefined },
): Promise<string> {
  const { pool, log, requestLog } = parts
  const vault = openReloadableVault(service.keyFile)
  warnOfReaders(service.keyFile, log)
  const estimate = createEstimator()
  await makeServiceTables(pool, service)
  await requireKeys(pool, vault)
  if (service.fixture !== undefined) {
    await loadAtStart(pool, service.fixture, { vault, estimate, now: new Date() })
  }
  const app = buildApp({
    pool,
    log,
    vault,
    estimate,
    publicUrl: service.publicUrl,
    trustedProxies: service.trustedProxies,
    uniqueExternalIds: service.uniqueExternalIds,
    rateLimit: rateLimitOf(service),
    faults: service.faults === undefined ? undefined : parseFaults(service.faults),
    requestLog,
  })
  stack.defer(() => closeApp(app, GRACE_MS))
  if (service.eventRetentionMs !== undefined) {
    stack.use(startEventRetention(service.eventRetentionMs, { pool, log }))
  }
  await listenForServiceAdmin(stack, service, { pool, vault, estimate, log })
  return listen(app, service.listen)
}

/** Secrets mounted into a container often have fixed modes. */
const MOUNTED = '/run/secrets/'

function warnOfReaders(keyFile: string, log: Log): void {
  if (keyFile.startsWith(MOUNTED) || !othersMay('read', keyFile)) return
  log.warn({ keyFile }, 'users other than its owner may read the key file: chmod 600')
}

function rateLimitOf({ rateLimit }: ServiceConfig): RateLimit | undefined {
  return rateLimit === undefined ? undefined : { requests: rateLimit.requests, per: rateLimit.perMs }
}
