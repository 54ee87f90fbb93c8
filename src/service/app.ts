import Fastify, { type FastifyInstance, type RawServerDefault } from 'fastify'
import type { Pool } from 'pg'
import type { Log } from '../log.ts'
import { answerClientError, answerError, answerNotFound } from './answer.ts'
import { parseForm } from './form.ts'
import type { Faults } from './faults.ts'
import { createFaultInjector } from './inject-faults.ts'
import { Problem } from './problem.ts'
import { type RequestRecord, startRecord } from './record.ts'
import type { RequestLog } from './request-log.ts'
import { registerEndpoints } from './register.ts'
import type { Estimator } from './password.ts'
import { openDatabase } from './store/database.ts'
import type { Vault } from './vault.ts'

/** Enough for the members of a very large group: 100,000 ids of 100 bytes. */
const BODY_LIMIT = 16 * 1024 * 1024
/** Of an external id in a path: 2,048 bytes, each percent-encoded. */
const MAX_PARAM_LENGTH = 3 * 2048
const HEADER_LIMIT = 16 * 1024

const HEALTH_PATH = '/healthz'

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
  const app = Fastify<RawServerDefault>({
    bodyLimit: options.bodyLimit ?? BODY_LIMIT,
    trustProxy: options.trustedProxies === undefined ? false : [...options.trustedProxies],
    connectionTimeout: 60_000,
    requestTimeout: 60_000,
    keepAliveTimeout: 72_000,
    forceCloseConnections: 'idle',
    http: { headersTimeout: 20_000, maxHeaderSize: HEADER_LIMIT },
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH },
    exposeHeadRoutes: false,
    frameworkErrors: (error, request, reply) => {
      answerError(options.log, error, request, reply)
    },
    clientErrorHandler: answerClientError,
  })
  acceptBodies(app)
  addHooks(app, options)
  app.setErrorHandler((error, request, reply) => answerError(options.log, error, request, reply))
  app.setNotFoundHandler(answerNotFound)
  const db = openDatabase(options.pool)
  addHealth(app, options.pool)
  registerEndpoints(app, {
    db,
    uniqueExternalIds: options.uniqueExternalIds ?? true,
    vault: options.vault,
    estimate: options.estimate,
    now: options.now ?? (() => new Date()),
    publicUrl: options.publicUrl,
  })
  return app
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
  app.decorateRequest('record', undefined)
  app.addHook('onRequest', async (request, reply) => {
    if (request.routeOptions.url === HEALTH_PATH) return
    request.record = startRecord(request, reply, log)
    await inject(request, reply, request.record)
  })
  let closing = false
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

/** Outside the API: no token, no faults, no line in the request log. */
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
