import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import type { Pool } from 'pg'
import type { Address, Config, ServiceConfig } from '../config/config.ts'
import { DirsyncdError, sentence } from '../errors.ts'
import type { Log } from '../log.ts'
import { buildApp } from '../service/app.ts'
import { parseFaults } from '../service/faults.ts'
import { loadFixture } from '../service/fixture/load.ts'
import { createEstimator } from '../service/password.ts'
import { createRequestLog } from '../service/request-log.ts'
import { requireKeys } from '../service/rotate-key.ts'
import { migrateService } from '../service/store/migrations/index.ts'
import { openVault } from '../service/vault.ts'
import { openPool } from '../store/open.ts'
import { storeOptions } from './site.ts'

/** The access-management service, until the signal. */
export async function runService(
  config: Config,
  log: Log,
  signal: AbortSignal,
  announce: (line: string) => void,
): Promise<void> {
  await using stack = new AsyncDisposableStack()
  const service = requireService(config)
  const pool = await openServicePool(stack, service, 'dirsyncd service', log)
  const url = await startService(stack, service, pool, log)
  announce(`The access-management service listens on ${url}`)
  if (!signal.aborted) await once(signal, 'abort')
}

/** Brings the service's tables up to date, begins an empty store with the fixture and listens; returns the URL. */
export async function startService(
  stack: AsyncDisposableStack,
  service: ServiceConfig,
  pool: Pool,
  log: Log,
): Promise<string> {
  const vault = openVault(service.keyFile)
  const estimate = createEstimator()
  await migrateService(pool)
  await requireKeys(pool, vault)
  if (service.fixture !== undefined) {
    const text = await readFile(service.fixture, 'utf8').catch((error: unknown) => {
      throw new DirsyncdError('config-invalid', `The fixture cannot be read: ${sentence(error)}.`)
    })
    await loadFixture(pool, text, { path: service.fixture, vault, estimate })
  }
  const requestLog =
    service.requestLog === undefined
      ? undefined
      : stack.adopt(createRequestLog(service.requestLog), (opened) => opened.close())
  const app = buildApp({
    pool,
    log,
    vault,
    estimate,
    publicUrl: service.publicUrl,
    trustedProxies: service.trustedProxies,
    uniqueExternalIds: service.uniqueExternalIds,
    faults: service.faults === undefined ? undefined : parseFaults(service.faults),
    requestLog,
  })
  stack.defer(() => app.close())
  return listen(app, service.listen)
}

/** Opens the database of the service; the stack closes it. */
export function openServicePool(
  stack: AsyncDisposableStack,
  service: ServiceConfig,
  command: string,
  log: Log,
): Promise<Pool> {
  return openPool(stack, storeOptions(service.store, service.dataDir, command, log))
}

export async function listen(
  app: { listen(options: { host: string; port: number }): Promise<string> },
  { host, port }: Address,
): Promise<string> {
  try {
    return await app.listen({ host, port })
  } catch (error) {
    throw new DirsyncdError(
      'service-unavailable',
      `Cannot listen on ${host}:${port}: ${sentence(error)}. Free the port or choose another one.`,
      { cause: error },
    )
  }
}

function requireService(config: Config): ServiceConfig {
  if (config.service !== undefined) return config.service
  throw new DirsyncdError(
    'config-invalid',
    `${config.file} has no section \`service\`; it says where the service listens and keeps its data.`,
  )
}
