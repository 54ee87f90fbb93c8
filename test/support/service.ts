import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { Pool } from 'pg'
import { onTestFinished } from 'vitest'
import { silentLog } from '../../src/base/log/log.ts'
import { closeApp } from '../../src/service/http/close-app.ts'
import { buildApp, type ServiceOptions } from '../../src/service/app.ts'
import { parseFaults } from '../../src/service/faults/faults.ts'
import { type FixtureResult, loadFixture, type LoadOptions } from '../../src/service/fixture/load.ts'
import { parseYaml } from '../../src/service/fixture/read.ts'
import type { RequestLine } from '../../src/service/http/request-log.ts'
import { createEstimator, type Estimator } from '../../src/service/password.ts'
import { createVault, type Vault } from '../../src/service/keys/vault.ts'
import type { WriteContext } from '../../src/service/store/resource-tables.ts'
import { createDatabase, SERVICE_TEMPLATE } from './databases.ts'
import { FIXTURE, FIXTURE_YAML } from './fixture.ts'
import { makeServiceTables } from './service-tables.ts'

/** Loads the text of a fixture, which names no token files. */
export async function loadYaml(
  pool: Pool,
  yaml: string,
  options: Partial<LoadOptions> = {},
): Promise<FixtureResult> {
  const path = options.path ?? 'test-fixture.yaml'
  return loadFixture(pool, parseYaml(yaml, path), { path, ...testContext(), ...options })
}

/** What writing resources needs. */
export function testContext(): WriteContext {
  return { vault: testVault(), estimate: (estimator ??= createEstimator()), now: new Date() }
}

/** A vault with one key, the same in every test. */
export function testVault(): Vault {
  return createVault(new Map([['test', Buffer.alloc(32, 7)]]))
}

let estimator: Estimator | undefined

export interface StartOptions extends Partial<Omit<ServiceOptions, 'pool' | 'faults'>> {
  /** A pool that the caller ends; by default a pool on a new database of the test run's PostgreSQL. */
  readonly pool?: Pool
  /** YAML text; `FIXTURE_YAML` by default. */
  readonly fixture?: string
  /** The same text as for `--faults`. */
  readonly faults?: string
  /** A free port by default. */
  readonly port?: number
}

export interface RunningService {
  /** Without a trailing slash. */
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

/** Starts the access-management service in this process on 127.0.0.1 and loads the fixture into its store. */
export async function startService(options: StartOptions = {}): Promise<RunningService> {
  const { pool: given, fixture = FIXTURE_YAML, faults, port = 0, ...rest } = options
  await using stack = new AsyncDisposableStack()
  const vault = rest.vault ?? testVault()
  const estimate = rest.estimate ?? (estimator ??= createEstimator())
  const pool = given ?? stack.adopt(await openServicePool(), (opened) => opened.end())
  await makeServiceTables(pool)
  await loadYaml(pool, fixture, { vault, estimate })
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

/** Starts a service and closes it when the test finishes. */
export async function startForTest(options: StartOptions = {}): Promise<RunningService> {
  const service = await startService(options)
  onTestFinished(() => service.close())
  return service
}

/** Creates a database with the service's tables on the test run's PostgreSQL. The caller ends the pool. */
export async function openServicePool(): Promise<Pool> {
  const pool = new Pool({ connectionString: await createDatabase(SERVICE_TEMPLATE) })
  pool.on('error', () => {})
  return pool
}
