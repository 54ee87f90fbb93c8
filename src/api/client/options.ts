import type { Operation } from '../contract/endpoints.ts'
import type { TokenLoader } from './token.ts'
import { idProblem } from './value-problem.ts'

/** In milliseconds. No time-out can be switched off. */
export interface Timeouts {
  /** For the TCP connection and the TLS handshake. Default 10 s. */
  readonly connectMs: number
  /** From the request to the headers of the answer. Default 30 s. */
  readonly headersMs: number
  /** Between two chunks of the body. Default 30 s. */
  readonly bodyMs: number
  /** For one whole attempt, including the wait for a free connection. Default 60 s. */
  readonly totalMs: number
  /** The same for an attempt of a write, at most `totalMs`. Default 15 s. */
  readonly writeMs: number
}

export interface Retries {
  /** Retries after a network error, 408, 425 or 5xx, not counting the first request. Default 3. */
  readonly attempts: number
  /** The first pause; each next one is 3 times as long. Multiplied by a random factor of 1 to 2. Default 300. */
  readonly minDelayMs: number
  /** The longest pause, even if a 503 asks for a longer one. Default 5,000. */
  readonly maxDelayMs: number
  /** How many times one call may wait after a 429. Default 10. */
  readonly rateLimitWaits: number
  /** The wait after a 429 without `Retry-After`. Default 1,000. */
  readonly defaultRetryAfterMs: number
  /** The longest wait after a 429; a longer `Retry-After` is an error at once. Default 120,000. */
  readonly maxRetryAfterMs: number
}

/** The logger that the client needs; a pino logger fits. Messages are constant texts, and fields hold no secrets. */
export interface ClientLog {
  debug(fields: object, message: string): void
  warn(fields: object, message: string): void
}

/** A pause after a 429 that several clients share, for instance through a database. */
export interface SharedPause {
  /** Called after a 429 with the milliseconds of its `Retry-After`. */
  readonly begin: (ms: number) => Promise<void>
  /** Awaited before each request; resolves when no pause is left. Should reject when the signal is aborted. */
  readonly over: (signal: AbortSignal | undefined) => Promise<void>
}

export interface Answer {
  readonly operation: Operation
  /** `undefined` where no answer came. */
  readonly status: number | undefined
  /** From the request to its whole answer. */
  readonly seconds: number
}

export interface ClientOptions {
  /** `http` or `https`, with or without a path. Credentials go to this origin only. */
  readonly baseUrl: string
  readonly organizationId: number
  readonly token: string | TokenLoader
  /** The header `X-Device-Id`, 1 to 255 visible ASCII characters; keep it the same for one installation. */
  readonly deviceId: string
  /** A rate limiter, awaited before every request, retries included. Should reject when the signal is aborted. */
  readonly limit?: (signal: AbortSignal | undefined) => Promise<void>
  /**
   * After a 429, calls wait until this pause is over, without a limit. If it is left out, each call waits by itself,
   * within the limits `rateLimitWaits` and `maxRetryAfterMs`.
   */
  readonly pause?: SharedPause
  readonly log?: ClientLog
  /** Called once each time the token's remaining life falls below a day. */
  readonly onTokenExpiry?: (secondsLeft: number) => void
  /** Called for each answer that reports the token's remaining life. Then the client does not warn by itself. */
  readonly onTokenLife?: (secondsLeft: number) => void
  /** Called for each sent request, with its answer or without one. */
  readonly onAnswer?: (answer: Answer) => void
  /** Called for each retry after no answer, or after 408, 425 or 5xx. */
  readonly onRetry?: (operation: Operation) => void
  readonly timeouts?: Partial<Timeouts>
  readonly retries?: Partial<Retries>
  /** Default 32. */
  readonly connections?: number
  /** PEM, instead of Node's defaults. */
  readonly ca?: string | undefined
  /** Not used for hosts in the environment variable NO_PROXY. */
  readonly proxy?: string | undefined
}

export const DEFAULT_TIMEOUTS: Timeouts = {
  connectMs: 10_000,
  headersMs: 30_000,
  bodyMs: 30_000,
  totalMs: 60_000,
  writeMs: 15_000,
}

const DEFAULT_RETRIES: Retries = {
  attempts: 3,
  minDelayMs: 300,
  maxDelayMs: 5_000,
  rateLimitWaits: 10,
  defaultRetryAfterMs: 1_000,
  maxRetryAfterMs: 120_000,
}

export interface Settings {
  /** Scheme, host and port. */
  readonly origin: string
  /** Without a trailing slash. */
  readonly baseUrl: string
  /** Without a trailing slash. */
  readonly basePath: string
  readonly timeouts: Timeouts
  readonly retries: Retries
}

/** Fills in the defaults. Throws a `TypeError` for an invalid base URL, id or token. */
export function settingsOf(options: ClientOptions): Settings {
  const url = URL.parse(options.baseUrl)
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new TypeError('the base URL must be an absolute http or https URL')
  }
  if (url.username !== '' || url.password !== '')
    throw new TypeError('the base URL must not hold credentials')
  if (url.search !== '' || url.hash !== '')
    throw new TypeError('the base URL must not have a query or a fragment')
  const problem = idProblem('organizationId', options.organizationId)
  if (problem !== undefined) throw new TypeError(problem)
  if (typeof options.deviceId !== 'string' || !/^[\x21-\x7e]{1,255}$/.test(options.deviceId)) {
    throw new TypeError('the device id must be 1 to 255 visible ASCII characters')
  }
  if (typeof options.token !== 'function' && (typeof options.token !== 'string' || options.token === '')) {
    throw new TypeError('the token must be a text that is not empty, or a function that returns one')
  }
  const basePath = url.pathname.replace(/\/+$/, '')
  return {
    origin: url.origin,
    baseUrl: url.origin + basePath,
    basePath,
    timeouts: { ...DEFAULT_TIMEOUTS, ...options.timeouts },
    retries: { ...DEFAULT_RETRIES, ...options.retries },
  }
}
