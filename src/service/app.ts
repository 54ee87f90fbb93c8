import Fastify, { type FastifyInstance, type RawServerDefault } from 'fastify'
import type { Pool } from 'pg'
import type { Log } from '../log.ts'
import { answerClientError, answerError, answerNotFound } from './http/answer.ts'
import { parseForm } from './http/form.ts'
import type { Faults } from './faults/faults.ts'
import { keepHttpRules } from './http/rules.ts'
import { createFaultInjector } from './faults/inject-faults.ts'
import { registerDocumentation } from './openapi/register.ts'
import { createLimits, NO_LIMITS, type RateLimit } from './http/limits.ts'
import { Problem } from './http/problem.ts'
import { type RequestRecord, startRecord } from './http/record.ts'
import type { RequestLog } from './http/request-log.ts'
import { registerEndpoints } from './http/register.ts'
import type { Estimator } from './password.ts'
import { openDatabase } from './store/database.ts'
import type { Vault } from './keys/vault.ts'

/** Enough for the members of a very large group: 100,000 ids of 100 bytes. */
const BODY_LIMIT = 16 * 1024 * 1024
/** Of an external id in a path: 2,048 bytes, each percent-encoded. */
const MAX_PARAM_LENGTH = 3 * 2048
const HEADER_LIMIT = 16 * 1024
/** More than any site needs at once, and few enough for the memory and the open files of a small machine. */
const MAX_CONNECTIONS = 4096

/** Milliseconds. */
export interface Timeouts {
  /** From the connection, or the end of the request before, to the end of the headers. Default 20 s. */
  readonly headers: number
  /** From the first byte of a request to its last one. Default 60 s. */
  readonly request: number
  /** How long nothing may be sent in either direction. Default 60 s. */
  readonly silence: number
}

const TIMEOUTS: Timeouts = { headers: 20_000, request: 60_000, silence: 60_000 }
/** Longer than the usual 60 s of a proxy, so that it is the proxy who ends a connection. */
const KEEP_ALIVE = 72_000
/** How late a client may be cut. */
const CHECK_INTERVAL = 2000

const HEALTH_PATH = '/healthz'
const API_PATH = '/api/'

export interface ServiceOptions {
  /** Where the data is, migrated with `migrateService`. The caller ends it after the app is closed. */
  readonly pool: Pool
  readonly log: Log
  readonly vault: Vault
  readonly estimate: Estimator
  /** What is made to go wrong, for tests and trials. */
  readonly faults?: Faults | undefined
  /** Gets a line per request; the caller closes it after the app is closed. */
  readonly requestLog?: RequestLog | undefined
  /** Whether an external id is refused (409) when the directory has it; off only for trials. Default true. */
  readonly uniqueExternalIds?: boolean
  /** For each token, and for each address that has none; default none. */
  readonly rateLimit?: RateLimit | undefined
  readonly timeouts?: Partial<Timeouts>
  /** Open at once; others are closed when they come. Default 4,096. */
  readonly maxConnections?: number
  /** In bytes; default 16 MiB. */
  readonly bodyLimit?: number
  /** The address that clients know the service by, for the links between pages; default what they asked for. */
  readonly publicUrl?: string | undefined
  /** Addresses and networks of reverse proxies whose `X-Forwarded-For` is believed; default none. */
  readonly trustedProxies?: readonly string[]
  readonly now?: () => Date
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Absent for requests that are not logged, such as those for the health. */
    record: RequestRecord | undefined
  }
}

/** The access-management service, ready to listen or to be injected into. Closing it lets requests in flight end. */
export function buildApp(options: ServiceOptions): FastifyInstance {
  const timeouts = { ...TIMEOUTS, ...options.timeouts }
  const app = Fastify<RawServerDefault>({
    bodyLimit: options.bodyLimit ?? BODY_LIMIT,
    trustProxy: options.trustedProxies === undefined ? false : [...options.trustedProxies],
    connectionTimeout: timeouts.silence,
    requestTimeout: timeouts.request,
    keepAliveTimeout: KEEP_ALIVE,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    http: {
      headersTimeout: timeouts.headers,
      connectionsCheckingInterval: Math.min(CHECK_INTERVAL, timeouts.headers),
      maxHeaderSize: HEADER_LIMIT,
      requireHostHeader: false,
    },
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH },
    exposeHeadRoutes: false,
    frameworkErrors: (error, request, reply) => {
      answerError(options.log, error, request, reply)
    },
    clientErrorHandler: answerClientError,
  })
  limitConnections(app, options.maxConnections ?? MAX_CONNECTIONS, options.log)
  acceptBodies(app)
  addHooks(app, options)
  keepHttpRules(app)
  app.setErrorHandler((error, request, reply) => answerError(options.log, error, request, reply))
  app.setNotFoundHandler(answerNotFound)
  const db = openDatabase(options.pool)
  addHealth(app, options.pool)
  registerDocumentation(app, options.publicUrl)
  registerEndpoints(app, {
    db,
    uniqueExternalIds: options.uniqueExternalIds ?? true,
    vault: options.vault,
    estimate: options.estimate,
    now: options.now ?? (() => new Date()),
    publicUrl: options.publicUrl,
    limits: options.rateLimit === undefined ? NO_LIMITS : createLimits(app, options.rateLimit),
  })
  return app
}

const REMIND_MS = 60_000

function limitConnections(app: FastifyInstance, most: number, log: Log): void {
  app.server.maxConnections = most
  let toldAt: number | undefined
  app.server.on('drop', () => {
    if (toldAt !== undefined && performance.now() - toldAt < REMIND_MS) return
    toldAt = performance.now()
    log.warn({ most }, 'a connection was closed because too many are open')
  })
}

function acceptBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string' },
    async (_request: unknown, body: string) => parseForm(body),
  )
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'string' },
    async (_request: unknown, body: string) => parseJson(body),
  )
}

function parseJson(text: string): unknown {
  if (text.trim() === '') return undefined
  try {
    return JSON.parse(text)
  } catch {
    throw new Problem('malformed', 'The body is not valid JSON.')
  }
}

/** The order matters: first the record, so that what a fault does to the request is logged. */
function addHooks(app: FastifyInstance, { faults, requestLog }: ServiceOptions): void {
  const log = requestLog ?? { write: () => {}, close: () => {} }
  const inject = faults === undefined ? async () => {} : createFaultInjector(faults)
  let closing = false
  app.decorateRequest('record', undefined)
  app.addHook('onRequest', async (request, reply) => {
    if (isOutsideApi(request.routeOptions.url)) return
    request.record = startRecord(request, reply, log)
    if (closing) throw new Problem('unavailable', 'The service is about to stop.')
    await inject(request, reply, request.record)
  })
  app.addHook('preClose', async () => {
    closing = true
  })
  app.addHook('onSend', async (request, reply, payload) => {
    // A connection that is kept alive behind the last answer would hold up the end for as long as it is kept.
    if (closing) reply.header('connection', 'close')
    if (request.record?.fault === 'drop-after') request.raw.socket.destroy()
    request.record?.end()
    return payload
  })
}

/** The health and the documentation have no token, no faults and no line in the request log. */
function isOutsideApi(route: string | undefined): boolean {
  return route !== undefined && !route.startsWith(API_PATH)
}

function addHealth(app: FastifyInstance, pool: Pool): void {
  app.get(HEALTH_PATH, async () => {
    try {
      await pool.query('select 1')
    } catch (cause) {
      throw new Problem('unavailable', 'The store does not answer.', { cause })
    }
    return { status: 'ok' }
  })
}
