import type { Kysely } from 'kysely'
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
import type { Tables } from '../../src/store/tables.ts'
import { type ApiProxy, startApiProxy } from './api-proxy.ts'
import { backendNamed, type OpenBackend } from './backends.ts'
import { directoriesFixture, FIXTURE } from './fixture.ts'
import { callService, readService, type ReadServiceOptions } from './read-service.ts'
import { type RunningService, type StartOptions, startService } from './service.ts'
import {
  type MutableCompany,
  openSyncHarness,
  type SyncHarness,
  type SyncHarnessOptions,
} from './sync-harness.ts'

/** The directory of a file's first test. */
const FIRST_DIRECTORY = 100

/** Sets up a test bed for a test file. The names of its syncs begin with `name`. */
export function useTestBed(name: string, options: StartOptions = {}): TestBed {
  const bed = new TestBed(name)
  beforeAll(() => bed.start(options))
  afterAll(() => bed.stop())
  beforeEach(() => bed.beginTest())
  afterEach(() => bed.endTest())
  return bed
}

/**
 * A service, a proxy in front of it, and a store on PostgreSQL, for all tests of a file. Each test has an empty
 * company, and a sync and a directory of its own.
 */
class TestBed {
  service!: RunningService
  proxy!: ApiProxy
  opened!: OpenBackend
  readonly company: MutableCompany = { users: new Map(), groups: new Map() }
  readonly #name: string
  readonly #servers = new AsyncDisposableStack()
  #test = new AsyncDisposableStack()
  #tests = 0

  constructor(name: string) {
    this.#name = name
  }

  async start(options: StartOptions): Promise<void> {
    const fixture = directoriesFixture([])
    this.service = await startService({ fixture, ...options })
    this.#servers.defer(() => this.service.close())
    this.proxy = this.#servers.use(await startApiProxy(this.service.baseUrl))
    this.opened = await backendNamed('postgres').open()
    this.#servers.defer(() => this.opened.close())
  }

  stop(): Promise<void> {
    return this.#servers.disposeAsync()
  }

  async beginTest(): Promise<void> {
    this.#test = new AsyncDisposableStack()
    this.#tests += 1
    await this.addDirectory(this.#directoryId)
    this.company.users.clear()
    this.company.groups.clear()
    this.proxy.intercept = () => undefined
  }

  async addDirectory(id: number): Promise<void> {
    await this.service.pool.query(
      "insert into access_management.directories values ($1, $2, $3, false, 'ldap')",
      [id, FIXTURE.organizationId, `Directory ${id}`],
    )
  }

  endTest(): Promise<void> {
    return this.#test.disposeAsync()
  }

  /** The name of the test's sync. */
  get sync(): string {
    return `${this.#name}-${this.#tests}`
  }

  get db(): Kysely<Tables> {
    return this.opened.store.db
  }

  /** The URL of the test's directory: what its sync writes to. */
  get target(): string {
    return `${this.proxy.baseUrl}/directories/${this.#directoryId}`
  }

  /** How a test reads and writes its directory past the proxy. */
  get direct(): ReadServiceOptions {
    return { ...FIXTURE, baseUrl: this.service.baseUrl, directoryId: this.#directoryId }
  }

  /** Opens the test's sync without a worker, as a process of its own, until the test ends. */
  open(more: Partial<SyncHarnessOptions> = {}): SyncHarness {
    const { baseUrl } = this.proxy
    return this.#test.use(
      openSyncHarness(this.opened, {
        sync: this.sync,
        service: { baseUrl, organizationId: FIXTURE.organizationId, directoryId: this.#directoryId },
        token: () => FIXTURE.token,
        company: this.company,
        ...more,
      }),
    )
  }

  /** Opens the test's sync as `open` does, and starts a worker. */
  async openWithWorker(more?: Partial<SyncHarnessOptions>): Promise<SyncHarness> {
    const harness = this.open(more)
    await harness.startWorker()
    return harness
  }

  // Functions instead of methods, so that a test file can take them out of the bed and call them by their names.

  /** Adds people to the company. */
  readonly hire = (...ids: readonly string[]): void => {
    for (const id of ids) this.company.users.set(id, { name: `Person ${id}`, email: `${id}@example.org` })
  }

  /** Takes people out of the company and its groups. */
  readonly fire = (...ids: readonly string[]): void => {
    const { users, groups } = this.company
    for (const id of ids) users.delete(id)
    for (const [id, { name, members }] of groups)
      groups.set(id, { name, members: members.filter((member) => !ids.includes(member)) })
  }

  /** Reads the test's directory past the proxy. */
  readonly seen = () => readService(this.direct)

  /** Writes to the test's directory past the proxy, as somebody else. */
  readonly call = (method: string, path: string, form?: Record<string, string> | URLSearchParams) =>
    callService(this.direct, method, path, form)

  get #directoryId(): number {
    return FIRST_DIRECTORY + this.#tests - 1
  }
}
