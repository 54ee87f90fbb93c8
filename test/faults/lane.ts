import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { runSql, type PostgresServer, startPostgres } from '../support/postgres.ts'
import { type RedisServer, startRedis } from '../support/redis.ts'
import { type Slapd, startSlapd } from '../support/slapd.ts'

/** The servers of one schedule at a time, which its faults hit. Each is started when it is first needed. */
export class Lane implements AsyncDisposable {
  readonly name: string
  /** A PostgreSQL that no fault hits, for the service; all lanes share it. */
  readonly #services: PostgresServer
  readonly #stack = new AsyncDisposableStack()
  #postgres: Promise<PostgresServer> | undefined
  #redis: Promise<RedisServer> | undefined
  #slapd: Promise<Slapd> | undefined
  #units = 0
  #fault = Promise.resolve()

  constructor(name: string, services: PostgresServer) {
    this.name = name
    this.#services = services
  }

  postgres(): Promise<PostgresServer> {
    this.#postgres ??= startPostgres().then((server) => this.#stack.adopt(server, (each) => each.close()))
    return this.#postgres
  }

  redis(): Promise<RedisServer> {
    this.#redis ??= startRedis({ appendOnly: true, stopSignal: 'KILL' }).then((server) =>
      this.#stack.adopt(server, (each) => each.close()),
    )
    return this.#redis
  }

  slapd(): Promise<Slapd> {
    this.#slapd ??= startSlapd({ tls: false, overlays: ['syncprov'] }).then((server) =>
      this.#stack.use(server),
    )
    return this.#slapd
  }

  /** Lets the faults that hit these servers happen one after the other. */
  async alone(fault: () => Promise<void>): Promise<void> {
    const before = this.#fault
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#fault = promise
    await before
    await fault().finally(resolve)
  }

  /** A unit of the LDAP server that no schedule has had. */
  newUnit(): string {
    this.#units += 1
    return `ou=s${this.#units}`
  }

  createServiceDatabase(template: string): Promise<string> {
    return createDatabase(this.#services.url, template)
  }

  async createStoreDatabase(): Promise<string> {
    return createDatabase((await this.postgres()).url, 'template0')
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync()
  }
}

/** Creates a database on the server of this URL. Resolves with its own URL. */
export async function createDatabase(server: string, template: string): Promise<string> {
  const name = `faults_${randomUUID().replaceAll('-', '')}`
  await runSql(server, `create database ${name} template ${template}`)
  return server.replace(/[^/]*$/, name)
}

export async function dropDatabase(url: string): Promise<void> {
  const name = /[^/]*$/.exec(url)![0]
  await runSql(url.replace(/[^/]*$/, 'postgres'), `drop database if exists ${name} with (force)`)
}

/** Lets Redis answer nobody for so long. */
export async function pauseRedis(url: string, ms: number): Promise<void> {
  const redis = new Redis(url)
  redis.on('error', () => undefined)
  await redis.call('CLIENT', 'PAUSE', String(ms), 'ALL')
  redis.disconnect()
}
