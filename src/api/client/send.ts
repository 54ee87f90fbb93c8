import type { Dispatcher } from 'undici'
import { ApiError, type Destination } from './api-error.ts'
import { ExchangeError, exchange, type Reply } from './exchange.ts'
import type { Expiry } from './expiry.ts'
import { abortedFailure, failureOfExchange } from './failure.ts'
import type { ClientLog, ClientOptions, SharedPause } from './options.ts'
import { isSendableToken, type Tokens } from './token.ts'
import { orAbort } from './wait.ts'

export interface PreparedRequest {
  readonly destination: Destination
  /** Path and query on the wire. */
  readonly url: string
  readonly body: string | undefined
}

export interface Sender {
  readonly tokens: Tokens
  readonly log: ClientLog | undefined
  readonly pause: SharedPause | undefined
  readonly onRetry: ClientOptions['onRetry']
  /** Aborted with `ClientClosed`. */
  readonly closing: AbortSignal
  /** Texts that no error may contain. */
  secrets(): readonly string[]
  /**
   * Waits for the limiter. Resolves with any status. Rejects with an `ApiError` of kind `unreachable`, `aborted` or
   * `closed`, or of kind `unauthorized` for a token that no header can carry.
   */
  send(
    request: PreparedRequest,
    token: string,
    onRequest: () => void,
    signal: AbortSignal | undefined,
  ): Promise<Reply>
}

export interface SenderParts {
  readonly dispatcher: Dispatcher
  /** Scheme, host and port. */
  readonly origin: string
  readonly tokens: Tokens
  readonly expiry: Expiry
  readonly deviceId: string
  readonly totalMs: number
  readonly writeMs: number
  readonly limit: ((signal: AbortSignal | undefined) => Promise<void>) | undefined
  readonly pause: SharedPause | undefined
  readonly log: ClientLog | undefined
  readonly onAnswer: ClientOptions['onAnswer']
  readonly onRetry: ClientOptions['onRetry']
  readonly closing: AbortSignal
}

export function createSender(parts: SenderParts): Sender {
  let lastToken = ''

  async function send(
    request: PreparedRequest,
    token: string,
    onRequest: () => void,
    signal: AbortSignal | undefined,
  ): Promise<Reply> {
    const { destination } = request
    const write = destination.method !== 'GET'
    const totalMs = write ? Math.min(parts.writeMs, parts.totalMs) : parts.totalMs
    if (!isSendableToken(token)) throw new ApiError(destination, badToken())
    lastToken = token
    if (parts.limit !== undefined) await orAbort(parts.limit(signal), signal)
    onRequest()
    const begun = performance.now()
    const answered = (status: number | undefined): void =>
      parts.onAnswer?.({
        operation: destination.operation,
        status,
        seconds: (performance.now() - begun) / 1000,
      })
    try {
      const reply = await exchange(
        parts.dispatcher,
        exchangeOf(request, token, { ...parts, totalMs }),
        signal,
      )
      answered(reply.body === undefined ? undefined : reply.status)
      parts.expiry.observe(reply.headers['x-token-expires-in'])
      return reply
    } catch (error) {
      if (!(error instanceof ExchangeError)) throw error
      answered(undefined)
      if (!signal?.aborted) throw new ApiError(destination, failureOfExchange(error, write, totalMs))
      throw new ApiError(destination, { ...abortedFailure(signal), maybeDone: write && error.sent })
    }
  }

  const { tokens, log, pause, onRetry, closing } = parts
  return { tokens, log, pause, onRetry, closing, secrets: () => (lastToken === '' ? [] : [lastToken]), send }
}

function exchangeOf(
  request: PreparedRequest,
  token: string,
  parts: SenderParts,
): Parameters<typeof exchange>[1] {
  const headers: Record<string, string> = {
    authorization: `token ${token}`,
    'x-device-id': parts.deviceId,
    accept: 'application/json, application/problem+json',
    'user-agent': 'dirsyncd',
  }
  if (request.body !== undefined) headers['content-type'] = 'application/x-www-form-urlencoded'
  return {
    origin: parts.origin,
    method: request.destination.method,
    path: request.url,
    headers,
    body: request.body,
    totalMs: parts.totalMs,
  }
}

function badToken(): { kind: 'unauthorized'; reason: string } {
  return {
    kind: 'unauthorized',
    reason:
      'the token is empty or holds characters that no header can carry (is it the right file or variable?)',
  }
}
