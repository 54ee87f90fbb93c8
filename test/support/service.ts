import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { Pool } from 'pg'
import { onTestFinished } from 'vitest'
import { silentLog } from '../../src/log.ts'
import { closeApp } from '../../src/service/http/close-app.ts'
import { buildApp, type ServiceOptions } from '../../src/service/app.ts'
import { parseFaults } from '../../src/service/faults/faults.ts'
import { loadFixture } from '../../src/service/fixture/load.ts'
import type { RequestLine } from '../../src/service/http/request-log.ts'
import { migrateService } from '../../src/service/store/migrations/index.ts'
import { createEstimator, type Estimator } from '../../src/service/password.ts'
import { createVault, type Vault } from '../../src/service/keys/vault.ts'
import { createDatabase, SERVICE_TEMPLATE } from './databases.ts'
import { FIXTURE, FIXTURE_YAML } from './fixture.ts'

/** A vault with one key that is the same in every test. */
export function testVault(): Vault {
  return createVault(new Map([['test', Buffer.alloc(32, 7)]]))
}

export interface StartOptions extends Partial<Omit<ServiceOptions, 'pool' | 'faults'>> {
  /** A pool that the caller ends; default one of a database of its own on the test run's PostgreSQL. */
  readonly pool?: Pool
  /** YAML; default `FIXTURE_YAML`. */
  readonly fixture?: string
  /** As for `--faults`. */
  readonly faults?: string
  /** Default a free one. */
  readonly port?: number
}

export interface RunningService {
  /** Without a slash at the end. */
  readonly baseUrl: string
  readonly token: string
  readonly readOnlyToken: string
  readonly organizationId: number
  readonly directoryId: number
  readonly app: FastifyInstance
  readonly pool: Pool
  /** The lines of the request log so far. */
  requests(): readonly RequestLine[]
  close(): Promise<void>
}

let estimator: Estimator | undefined

/** Starts the access-management service in this process, on 127.0.0.1, with a store that has the fixture. */
export async function startService(options: StartOptions = {}): Promise<RunningService> {
  const { pool: given, fixture = FIXTURE_YAML, faults, port = 0, ...rest } = options
  await using stack = new AsyncDisposableStack()
  const vault = rest.vault ?? testVault()
  const estimate = rest.estimate ?? (estimator ??= createEstimator())
  const pool = given ?? stack.adopt(await openServicePool(), (opened) => opened.end())
  await migrateService(pool)
  await loadFixture(pool, fixture, { path: 'test-fixture.yaml', vault, estimate })
  const lines: RequestLine[] = []
  const requestLog = { write: (line: RequestLine) => void lines.push(line), close: () => {} }
  const app = buildApp({
    log: silentLog(),
    requestLog,
    ...rest,
    vault,
    estimate,
    pool,
    faults: faults === undefined || faults === '' ? undefined : parseFaults(faults),
  })
  stack.defer(() => closeApp(app, 1000))
  await app.listen({ host: '127.0.0.1', port })
  const owned = stack.move()
  const { token, readOnlyToken, organizationId, directoryId } = FIXTURE
  return {
    baseUrl: `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`,
    token,
    readOnlyToken,
    organizationId,
    directoryId,
    app,
    pool,
    requests: () => lines,
    close: () => owned.disposeAsync(),
  }
}

/** Starts a service that ends with the test. */
export async function startForTest(options: StartOptions = {}): Promise<RunningService> {
  const service = await startService(options)
  onTestFinished(() => service.close())
  return service
}

/** A database of its own on the test run's PostgreSQL, with the service's tables. The caller ends the pool. */
export async function openServicePool(): Promise<Pool> {
  const pool = new Pool({ connectionString: await createDatabase(SERVICE_TEMPLATE) })
  pool.on('error', () => {})
  return pool
}
