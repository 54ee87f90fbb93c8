import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import type { Pool } from 'pg'
import { silentLog } from '../../src/log.ts'
import { buildApp, type ServiceOptions } from '../../src/service/app.ts'
import { parseFaults } from '../../src/service/faults.ts'
import { loadFixture } from '../../src/service/fixture.ts'
import type { RequestLine } from '../../src/service/request-log.ts'
import { migrateService } from '../../src/service/store/migrations.ts'
import { openEmbeddedPool } from '../../src/store/embedded.ts'
import { tempDir } from './temp.ts'

/** What the default fixture holds. Organization 2 is somebody else's, with a directory and a token of its own. */
export const FIXTURE = {
  organizationId: 1,
  directoryId: 7,
  token: 'full-token-of-organization-1',
  readOnlyToken: 'read-token-of-organization-1',
  writeOnlyToken: 'write-token-of-organization-1',
  expiredToken: 'expired-token-of-organization-1',
  otherOrganizationId: 2,
  otherDirectoryId: 8,
  otherToken: 'full-token-of-organization-2',
} as const

export const FIXTURE_YAML = `
organizations:
  - id: ${FIXTURE.organizationId}
    name: Example
    allowedDomains: [example.org]
    contacts:
      - id: 11
        name: Ada Admin
        email: ada@example.org
        tokens:
          - { token: ${FIXTURE.token}, scopes: [ORG, ORG_READ], expires: 30d }
          - { token: ${FIXTURE.readOnlyToken}, scopes: [ORG_READ], expires: 30d }
          - { token: ${FIXTURE.writeOnlyToken}, scopes: [ORG], expires: 30d }
          - { token: ${FIXTURE.expiredToken}, scopes: [ORG, ORG_READ], expires: "2020-01-01T00:00:00Z" }
    directories:
      - { id: ${FIXTURE.directoryId}, name: Corporate }
  - id: ${FIXTURE.otherOrganizationId}
    name: Other
    allowedDomains: [other.example]
    contacts:
      - id: 21
        name: Otto Other
        email: otto@other.example
        tokens:
          - { token: ${FIXTURE.otherToken}, scopes: [ORG, ORG_READ], expires: 30d }
    directories:
      - id: ${FIXTURE.otherDirectoryId}
        name: Theirs
        users: [{ external_id: theirs, email: theirs@other.example, name: Their User }]
        groups: [{ external_id: theirs, name: Their Group }]
`

export interface StartOptions extends Partial<Omit<ServiceOptions, 'pool' | 'faults'>> {
  /** A pool that the caller ends; default a fresh embedded one that `close` ends and removes. */
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

/** Starts the access-management service in this process, on 127.0.0.1, with a store that has the fixture. */
export async function startService(options: StartOptions = {}): Promise<RunningService> {
  const { pool: given, fixture = FIXTURE_YAML, faults, port = 0, ...rest } = options
  await using stack = new AsyncDisposableStack()
  const pool = given ?? (await openTemporaryPool(stack))
  await migrateService(pool)
  await loadFixture(pool, fixture, { path: 'test-fixture.yaml' })
  const lines: RequestLine[] = []
  const requestLog = { write: (line: RequestLine) => void lines.push(line), close: () => {} }
  const app = buildApp({
    log: silentLog(),
    requestLog,
    ...rest,
    pool,
    faults: faults === undefined ? undefined : parseFaults(faults),
  })
  stack.defer(() => app.close())
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

async function openTemporaryPool(stack: AsyncDisposableStack): Promise<Pool> {
  const dir = stack.use(await tempDir())
  return stack.use(await openEmbeddedPool(join(dir.path, 'db')))
}
