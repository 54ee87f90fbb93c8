import Fastify, { type FastifyInstance, type RawServerDefault } from 'fastify'
import type { Pool } from 'pg'
import type { Log } from '../base/log/log.ts'
import { answerClientError, answerError, answerNotFound } from './http/answer.ts'
import { acceptBodies, BODY_LIMITS } from './http/body.ts'
import type { Faults } from './faults/faults.ts'
import { limitConnections } from './http/connections.ts'
import { type IsProxy, trustProxies } from './http/trusted-proxies.ts'
import { addAllMethods, enforceHttpRules, pathOfTarget, refuseOtherMethods } from './http/rules.ts'
import { createFaultInjector } from './faults/inject-faults.ts'
import { registerDocumentation } from './openapi/register.ts'
import { createLimits, NO_LIMITS } from './http/limits.ts'
import { Problem } from './http/problem.ts'
import { createRateLimiter, type RateLimit } from './http/rate-limiter.ts'
import { type RequestRecord, startRecord } from './http/record.ts'
import type { RequestLog } from './http/request-log.ts'
import { registerEndpoints } from './http/register.ts'
import type { Estimator } from './password.ts'
import { CREDENTIAL_READS } from './routes/credentials.ts'
import { openDatabase } from './store/database.ts'
import type { Vault } from './keys/vault.ts'

/** An external id in a path: 2,048 bytes, each percent-encoded. */
const MAX_PARAM_LENGTH = 3 * 2048
const HEADER_LIMIT = 16 * 1024
/** More than any site needs at once, and few enough for the memory and the open files of a small machine. */
const MAX_CONNECTIONS = 4096

/** Milliseconds. */
export interface Timeouts {
  /** From the opening of the connection, or the end of its last request, to the end of the headers. Default 20 s. */
  readonly headers: number
  /** From the first byte of a request to its last one. Default 60 s. */
  readonly request: number
  /** How long a connection may be idle in both directions. Default 60 s. */
  readonly silence: number
}

const TIMEOUTS: Timeouts = { headers: 20_000, request: 60_000, silence: 60_000 }
/** Longer than the usual 60 s of a proxy, so that the proxy closes the connection. */
const KEEP_ALIVE_MS = 72_000
/** In milliseconds: timeouts may be this much too late. */
const CHECK_INTERVAL_MS = 2000

const HEALTH_PATH = '/healthz'
const API_PATH = '/api/'

export interface ServiceOptions {
  /** Its tables are made (`makeServiceTables`). The caller ends the pool after the app is closed. */
  readonly pool: Pool
  readonly log: Log
  readonly vault: Vault
  readonly estimate: Estimator
  readonly faults?: Faults | undefined
  /** One line per request; the caller closes it after the app is closed. */
  readonly requestLog?: RequestLog | undefined
  /** Whether to refuse (409) an external id that the directory already has; off only for trials. Default true. */
  readonly uniqueExternalIds?: boolean
  /** Per token, and per address for requests without a valid token; default: no limit. */
  readonly rateLimit?: RateLimit | undefined
  readonly timeouts?: Partial<Timeouts>
  /** A quarter of them for one address; further ones are closed. Default 4,096. */
  readonly maxConnections?: number
  /** For links in answers; default: the address of the request. */
  readonly publicUrl?: string | undefined
  /** Addresses and networks whose `X-Forwarded-For` is trusted; default none. */
  readonly trustedProxies?: readonly string[]
  readonly now?: () => Date
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Absent for requests that are not logged, such as `/healthz`. */
    record: RequestRecord | undefined
  }
}

/** Ready for `listen` or `inject`. Closing it lets requests in flight end. */
export function buildApp(options: ServiceOptions): FastifyInstance {
  const { maxConnections: max = MAX_CONNECTIONS, trustedProxies = [] } = options
  const isProxy = trustProxies(trustedProxies)
  const app = createApp(options, isProxy)
  limitConnections(app, { max, isProxy }, options.log)
  addAllMethods(app)
  acceptBodies(app)
  addHooks(app, options)
  enforceHttpRules(app)
  app.setErrorHandler((error, request, reply) => answerError(options.log, error, request, reply))
  app.setNotFoundHandler(answerNotFound)
  const db = openDatabase(options.pool)
  addHealth(app, options.pool)
  registerDocumentation(app, options.publicUrl)
  registerEndpoints(app, {
    pool: options.pool,
    db,
    uniqueExternalIds: options.uniqueExternalIds ?? true,
    vault: options.vault,
    estimate: options.estimate,
    credentialReads: createRateLimiter(CREDENTIAL_READS),
    now: options.now ?? (() => new Date()),
    publicUrl: options.publicUrl,
    limits: options.rateLimit === undefined ? NO_LIMITS : createLimits(options.rateLimit),
  })
  return app
}

function createApp(options: ServiceOptions, isProxy: IsProxy): FastifyInstance {
  const timeouts = { ...TIMEOUTS, ...options.timeouts }
  return Fastify<RawServerDefault>({
    bodyLimit: BODY_LIMITS.default,
    trustProxy: isProxy,
    connectionTimeout: timeouts.silence,
    requestTimeout: timeouts.request,
    keepAliveTimeout: KEEP_ALIVE_MS,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    http: {
      headersTimeout: timeouts.headers,
      connectionsCheckingInterval: Math.min(CHECK_INTERVAL_MS, timeouts.headers),
      maxHeaderSize: HEADER_LIMIT,
      requireHostHeader: false,
    },
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH },
    rewriteUrl: ({ url = '' }) => pathOfTarget(url),
    frameworkErrors: (error, request, reply) => {
      answerError(options.log, error, request, reply)
    },
    clientErrorHandler: answerClientError,
  })
}

/** The record starts first, so that the request log shows an injected fault. */
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
    // A connection that stays open after its last answer would delay the shutdown.
    if (closing) reply.header('connection', 'close')
    if (request.record?.fault === 'drop-after') request.raw.socket.destroy()
    request.record?.end()
    return payload
  })
}

/** `/healthz` and the documentation need no token, get no faults and are not in the request log. */
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
  refuseOtherMethods(app, HEALTH_PATH, ['GET'])
}
