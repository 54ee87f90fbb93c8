import type { Dispatcher } from 'undici'
import { type Endpoint, endpoints, type Operation } from '../contract/endpoints.ts'
import { type AnyMethod, createMethod } from './create-method.ts'
import { createDispatcher } from './dispatcher.ts'
import { type Expiry, watchExpiry } from './expiry.ts'
import { ClientClosed } from './failure.ts'
import type { EachOptions, Iterators, Methods, Page } from './methods.ts'
import { type ClientOptions, type Settings, settingsOf } from './options.ts'
import { eachItem } from './pages.ts'
import type { CallParams } from './query.ts'
import { createSender, type Sender } from './send.ts'
import { createTokens } from './token.ts'

/** One method for each endpoint of the contract, with the same name. */
// oxlint-disable-next-line typescript/no-unsafe-declaration-merging -- the constructor adds every method
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
  /** Without a trailing slash. */
  readonly baseUrl: string
  readonly organizationId: number
  /** One async iterator for each paged endpoint; it reads page by page and yields the items. */
  readonly each: Iterators
  readonly #dispatcher: Dispatcher
  readonly #expiry: Expiry
  readonly #closing = new AbortController()

  /** Opens no connection yet. Throws a `TypeError` for invalid options. */
  constructor(options: ClientOptions) {
    const settings = settingsOf(options)
    this.baseUrl = settings.baseUrl
    this.organizationId = options.organizationId
    this.#dispatcher = createDispatcher({
      origin: settings.origin,
      connections: options.connections ?? 32,
      ca: options.ca,
      proxy: options.proxy,
      timeouts: settings.timeouts,
    })
    this.#expiry = watchExpiry((secondsLeft) => {
      options.log?.warn({ secondsLeft }, 'access token expires soon')
      options.onTokenExpiry?.(secondsLeft)
    }, options.onTokenLife)
    const sender = createSender({
      dispatcher: this.#dispatcher,
      origin: settings.origin,
      tokens: createTokens(options.token),
      expiry: this.#expiry,
      deviceId: options.deviceId,
      totalMs: settings.timeouts.totalMs,
      writeMs: settings.timeouts.writeMs,
      limit: options.limit,
      pause: options.pause,
      log: options.log,
      onAnswer: options.onAnswer,
      onRetry: options.onRetry,
      closing: this.#closing.signal,
    })
    const methods = createMethods(sender, settings, this.organizationId)
    this.each = createIterators(methods)
    Object.assign(this, methods)
  }

  /** Seconds, from the last `x-token-expires-in` header. */
  get tokenExpiresIn(): number | undefined {
    return this.#expiry.secondsLeft
  }

  /**
   * Present calls, also waiting ones, and all later calls reject with an `ApiError` of kind `closed`; a write that was
   * sent has `maybeDone`.
   */
  close(): Promise<void> {
    this.#closing.abort(new ClientClosed())
    return this.#dispatcher.destroy()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

type AnyMethods = Readonly<Record<Operation, AnyMethod>>

const ROWS = Object.entries(endpoints) as [Operation, Endpoint][]

function createMethods(sender: Sender, settings: Settings, organizationId: number): AnyMethods {
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
  // Safe: the type `Iterators` is derived from the same table.
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
