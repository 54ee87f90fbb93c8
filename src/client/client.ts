import { Pool } from 'undici'
import { type Endpoint, endpoints, type Operation } from '../contract/endpoints.ts'
import { type AnyMethod, createMethod } from './create-method.ts'
import { watchExpiry } from './expiry.ts'
import type { Methods } from './methods.ts'
import { type ClientOptions, DEFAULT_RETRIES, type Settings, settingsOf } from './options.ts'
import { createSender, type Sender } from './send.ts'
import { createTokens } from './token.ts'

/**
 * A client of the access-management service: one method for each endpoint of the contract, named as there. Every
 * method rejects with an `ApiError` (or with what the token loader or the limiter threw) and ends promptly when its
 * signal is aborted.
 *
 * ```ts
 * await using client = createClient({ baseUrl, organizationId: 1, deviceId, token: async () => token })
 * const user = await client.getUser({ directory_id: 7, external_id: 'a-1' })
 * ```
 */
export interface AccessManagementClient extends Methods, AsyncDisposable {
  /** Without a slash at its end. */
  readonly baseUrl: string
  readonly organizationId: string
  /** What `x-token-expires-in` last said, taken as seconds. */
  readonly tokenExpiresIn: number | undefined
}

/** Opens no connection yet. Throws a `TypeError` for options that cannot be used. Dispose the client to close it. */
export function createClient(options: ClientOptions): AccessManagementClient {
  const settings = settingsOf(options)
  const dispatcher = createPool(options, settings)
  const expiry = watchExpiry((secondsLeft) => {
    options.log?.warn({ secondsLeft }, 'access token expires soon')
    options.onTokenExpiry?.(secondsLeft)
  })
  const sender = createSender({
    dispatcher,
    tokens: createTokens(options.token),
    expiry,
    deviceId: options.deviceId,
    totalMs: settings.timeouts.totalMs,
    limit: options.limit,
    log: options.log,
  })
  return {
    ...createMethods(sender, settings, String(options.organizationId)),
    baseUrl: settings.baseUrl,
    organizationId: String(options.organizationId),
    get tokenExpiresIn() {
      return expiry.secondsLeft
    },
    [Symbol.asyncDispose]: () => dispatcher.destroy(),
  }
}

function createPool(options: ClientOptions, { origin, timeouts }: Settings): Pool {
  return new Pool(origin, {
    connections: options.connections ?? 32,
    headersTimeout: timeouts.headersMs,
    bodyTimeout: timeouts.bodyMs,
    connect: { timeout: timeouts.connectMs, ...(options.ca === undefined ? {} : { ca: options.ca }) },
    maxResponseSize: 64 * 1024 * 1024,
    // One connection that breaks loses one answer; with HTTP/2 it would lose all that are under way.
    allowH2: false,
  })
}

function createMethods(sender: Sender, settings: Settings, organizationId: string): Methods {
  const methods: Partial<Record<Operation, AnyMethod>> = {}
  for (const [operation, endpoint] of Object.entries(endpoints) as [Operation, Endpoint][]) {
    methods[operation] = createMethod({ operation, endpoint, sender, settings, organizationId })
  }
  // The types of the methods are computed from the same table that was just walked.
  return methods as unknown as Methods
}

/**
 * The most requests that one call sends, given the number of repetitions: every attempt, one more after a 401, and in
 * front of each repetition of a write one `confirm` that is itself such a read. A read that waits for 429 adds up to
 * `rateLimitWaits`.
 */
export function worstCaseRequests(
  kind: 'read' | 'write',
  attempts: number = DEFAULT_RETRIES.attempts,
): number {
  const read = attempts + 1 + 1
  return kind === 'read' ? read : read + attempts * read
}
