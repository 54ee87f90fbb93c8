import type { IncomingHttpHeaders } from 'node:http'
import type { Dispatcher } from 'undici'

export interface ExchangeRequest {
  /** Scheme, host and port. */
  readonly origin: string
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** Path and query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
  /** For the whole exchange, including the wait for a free connection. */
  readonly totalMs: number
}

export interface Reply {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** `undefined` when the connection broke after the headers. */
  readonly body: string | undefined
  readonly broken?: unknown
}

/** No answer came. `sent` is false only when no byte of the request was sent. */
export class ExchangeError extends Error {
  readonly sent: boolean
  readonly timedOut: boolean

  constructor(cause: unknown, sent: boolean, timedOut: boolean) {
    super('no answer', { cause })
    this.sent = sent
    this.timedOut = timedOut
  }
}

/**
 * Uses undici's `dispatch`, because unlike `request` it shows whether the request was written to a connection. Rejects
 * with an `ExchangeError`, also when the signal is aborted.
 */
export function exchange(
  dispatcher: Dispatcher,
  request: ExchangeRequest,
  signal: AbortSignal | undefined,
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(new ExchangeError(signal.reason, false, false))
      return
    }
    const handler = new ReplyHandler(settle)
    const onAbort = (): void => handler.abort(signal?.reason)
    const overdue = () => handler.abort(new Error('time-out'), true)
    // After a blocked event loop, timers run before the answer that has arrived meanwhile is read.
    const timer = setTimeout(() => setImmediate(overdue), request.totalMs)
    signal?.addEventListener('abort', onAbort, { once: true })
    function settle(outcome: Reply | ExchangeError): void {
      clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
      if (outcome instanceof ExchangeError) reject(outcome)
      else resolve(outcome)
    }
    const { origin, method, path, headers } = request
    dispatcher.dispatch({ origin, method, path, headers, body: request.body ?? null }, handler)
  })
}

/** Settles once and ignores everything after that. */
class ReplyHandler implements Dispatcher.DispatchHandler {
  readonly #settle: (outcome: Reply | ExchangeError) => void
  readonly #chunks: Buffer[] = []
  #controller: Dispatcher.DispatchController | undefined
  #head: { readonly status: number; readonly headers: IncomingHttpHeaders } | undefined
  #settled = false

  constructor(settle: (outcome: Reply | ExchangeError) => void) {
    this.#settle = settle
  }

  abort(reason: unknown, timedOut = false): void {
    if (this.#settled) return
    this.#fail(reason, timedOut)
    this.#controller?.abort(reason instanceof Error ? reason : new Error('aborted'))
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // A second start means that undici retries by itself; only `performCall` may retry.
    const again = this.#controller !== undefined
    this.#controller = controller
    if (again) this.#fail(new Error('the connection was closed'), false)
    if (this.#settled) controller.abort(new Error('aborted'))
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    if (status >= 200) this.#head = { status, headers }
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    if (!this.#settled) this.#chunks.push(chunk)
  }

  onResponseEnd(): void {
    if (this.#settled || this.#head === undefined) return
    this.#settled = true
    this.#settle({ ...this.#head, body: Buffer.concat(this.#chunks).toString('utf8') })
  }

  onResponseError(_: Dispatcher.DispatchController | null, error: Error): void {
    this.#fail(error, false)
  }

  #fail(error: unknown, timedOut: boolean): void {
    if (this.#settled) return
    this.#settled = true
    if (this.#head === undefined) {
      this.#settle(new ExchangeError(error, this.#controller !== undefined, timedOut))
    } else {
      this.#settle({ ...this.#head, body: undefined, broken: error })
    }
  }
}
