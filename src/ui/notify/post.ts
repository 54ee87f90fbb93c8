import type { Dispatcher } from 'undici'
import { createDispatcher } from '../../api/client/dispatcher.ts'
import { exchange, ExchangeError } from '../../api/client/exchange.ts'
import { explainNetworkError } from '../../api/client/network-error.ts'
import { parseRetryAfter } from '../../api/client/retry-after.ts'
import { sentence } from '../../base/errors.ts'
import { Undelivered } from './channel.ts'

/** For the whole request, in milliseconds. */
const PATIENCE_MS = 20_000
const CONNECT_MS = 10_000

export interface PostOptions {
  /** PEM, instead of Node's defaults. */
  readonly ca: string | undefined
  readonly proxy: string | undefined
}

export interface Message {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Follows no redirect, and names only the host of a URL: the rest may be a secret. */
export class Poster implements AsyncDisposable {
  readonly #options: PostOptions
  readonly #patienceMs: number
  #dispatcher: { readonly origin: string; readonly dispatcher: Dispatcher } | undefined

  constructor(options: PostOptions, patienceMs = PATIENCE_MS) {
    this.#options = options
    this.#patienceMs = patienceMs
  }

  async post({ url, headers, body }: Message, signal: AbortSignal): Promise<void> {
    const { origin, host, pathname, search } = new URL(url)
    const request = {
      origin,
      method: 'POST',
      path: `${pathname}${search}`,
      headers: { 'content-type': 'application/json', 'user-agent': 'dirsyncd', ...headers },
      body,
      totalMs: this.#patienceMs,
    } as const
    const { status, headers: answer } = await exchange(this.#dispatcherOf(origin), request, signal).catch(
      (error: unknown) => {
        throw new Undelivered(`${host} does not answer: ${reasonOf(error, this.#patienceMs)}`)
      },
    )
    if (status >= 200 && status < 300) return
    const after = answer['retry-after']
    throw new Undelivered(`${host} answered ${status}`, {
      isRefused: status >= 300 && status < 500 && ![408, 425, 429].includes(status),
      waitMs: parseRetryAfter(typeof after === 'string' ? after : undefined, Date.now()),
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#dispatcher?.dispatcher.destroy()
  }

  #dispatcherOf(origin: string): Dispatcher {
    if (this.#dispatcher?.origin !== origin) {
      void this.#dispatcher?.dispatcher.destroy()
      // The timeout of the whole request ends it, with its own message.
      const timeouts = { connectMs: CONNECT_MS, headersMs: 0, bodyMs: 0 }
      const dispatcher = createDispatcher({ ...this.#options, origin, connections: 2, timeouts })
      this.#dispatcher = { origin, dispatcher }
    }
    return this.#dispatcher.dispatcher
  }
}

function reasonOf(error: unknown, patienceMs: number): string {
  if (!(error instanceof ExchangeError)) return sentence(error)
  if (error.timedOut) return `nothing within ${patienceMs / 1000} s`
  return explainNetworkError(error.cause).reason
}
