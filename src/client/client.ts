import { Pool } from 'undici'
import { type Endpoint, endpoints, type Operation } from '../contract/endpoints.ts'
import { type AnyMethod, createMethod } from './create-method.ts'
import { type Expiry, watchExpiry } from './expiry.ts'
import type { EachOptions, Iterators, Methods, Page } from './methods.ts'
import { type ClientOptions, DEFAULT_RETRIES, type Settings, settingsOf } from './options.ts'
import { eachItem } from './pages.ts'
import type { CallParams } from './query.ts'
import { createSender, type Sender } from './send.ts'
import { createTokens } from './token.ts'

/** The methods: one for each endpoint of the contract, named as there. */
// oxlint-disable-next-line typescript/no-unsafe-declaration-merging -- the constructor makes every one of them
export interface AccessManagementClient extends Methods {}

/**
 * A client of the access-management service. Every method rejects with an `ApiError` (or with what the token loader or
 * the limiter threw) and ends promptly when its signal is aborted. The methods need no `this`.
 *
 * ```ts
 * await using client = new AccessManagementClient({ baseUrl, organizationId: 1, deviceId, token })
 * const user = await client.getUser({ directory_id: 7, external_id: 'a-1' })
 * for await (const event of client.each.listEvents({ filters: { type: 'update_policy' } })) console.log(event)
 * ```
 */
export class AccessManagementClient implements AsyncDisposable {
  /** Without a slash at its end. */
  readonly baseUrl: string
  readonly organizationId: string
  /** The items of every paged endpoint, one after the other, a page at a time. */
  readonly each: Iterators
  readonly #pool: Pool
  readonly #expiry: Expiry

  /** Opens no connection yet. Throws a `TypeError` for options that cannot be used. */
  constructor(options: ClientOptions) {
    const settings = settingsOf(options)
    this.baseUrl = settings.baseUrl
    this.organizationId = String(options.organizationId)
    this.#pool = createPool(options, settings)
    this.#expiry = watchExpiry((secondsLeft) => {
      options.log?.warn({ secondsLeft }, 'access token expires soon')
      options.onTokenExpiry?.(secondsLeft)
    })
    const sender = createSender({
      dispatcher: this.#pool,
      tokens: createTokens(options.token),
      expiry: this.#expiry,
      deviceId: options.deviceId,
      totalMs: settings.timeouts.totalMs,
      limit: options.limit,
      log: options.log,
    })
    const methods = createMethods(sender, settings, this.organizationId)
    this.each = createIterators(methods)
    Object.assign(this, methods)
  }

  /** What `x-token-expires-in` last said, taken as seconds. */
  get tokenExpiresIn(): number | undefined {
    return this.#expiry.secondsLeft
  }

  /** Closes the connections; calls that are under way are rejected. */
  close(): Promise<void> {
    return this.#pool.destroy()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
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

type AnyMethods = Readonly<Record<Operation, AnyMethod>>

const ROWS = Object.entries(endpoints) as [Operation, Endpoint][]

function createMethods(sender: Sender, settings: Settings, organizationId: string): AnyMethods {
  return Object.fromEntries(
    ROWS.map(([operation, endpoint]) => [
      operation,
      createMethod({ operation, endpoint, sender, settings, organizationId }),
    ]),
  ) as AnyMethods
}

function createIterators(methods: AnyMethods): Iterators {
  const iterators = ROWS.flatMap(([operation, { paged }]) =>
    paged === undefined ? [] : [[operation, createIterator(methods[operation], paged.key)]],
  )
  // The types of the iterators are computed from the same table that was just walked.
  return Object.fromEntries(iterators) as Iterators
}

type Item = Readonly<Record<string, string | number>>

function createIterator(list: AnyMethod, keyField: string) {
  return (params: CallParams = {}, options: EachOptions = {}) => {
    const { perPage, ...read } = options
    return eachItem((at) => list(params, { ...read, ...at }) as Promise<Page<Item>>, {
      key: (item) => item[keyField] as string | number,
      perPage,
      signal: options.signal,
    })
  }
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
