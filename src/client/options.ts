import type { TokenLoader } from './token.ts'

/** Milliseconds. Each is a bound; none can be switched off. */
export interface Timeouts {
  /** For a TCP connection with its TLS handshake. Default 10 s. */
  readonly connectMs: number
  /** From the request to the headers of the answer. Default 30 s. */
  readonly headersMs: number
  /** Between two pieces of the body. Default 30 s. */
  readonly bodyMs: number
  /** For one attempt as a whole, waiting for a free connection included. Default 60 s. */
  readonly totalMs: number
}

export interface Retries {
  /** Repetitions after a network error, 408, 425 or 5xx. Default 3. */
  readonly attempts: number
  /** The first pause; it trebles each time and is stretched by a random factor of 1 to 2. Default 300. */
  readonly minDelayMs: number
  /** The longest pause, also where a 503 asks for a longer one. Default 5,000. */
  readonly maxDelayMs: number
  /** How often one read waits for a 429. Default 10. */
  readonly rateLimitWaits: number
  /** The wait after a 429 that names no time. Default 1,000. */
  readonly defaultRetryAfterMs: number
  /** A 429 that asks for more is an error and is not waited for. Default 120,000. */
  readonly maxRetryAfterMs: number
}

/** What the client needs of a logger; one of pino fits. Messages are static, and no field ever holds a secret. */
export interface ClientLog {
  debug(fields: object, message: string): void
  warn(fields: object, message: string): void
}

export interface ClientOptions {
  /** `http` or `https`, with or without a path. Credentials go to this origin only. */
  readonly baseUrl: string
  readonly organizationId: number | string
  /** The access token, or a function that gives it: asked before every request, so let it remember. */
  readonly token: string | TokenLoader
  /** What `X-Device-Id` says: a string that this installation keeps, of visible ASCII characters. */
  readonly deviceId: string
  /** Awaited before every request, repetitions included: the budget of requests. Rejects when the signal is aborted. */
  readonly limit?: (signal: AbortSignal | undefined) => Promise<void>
  readonly log?: ClientLog
  /** Called once each time that the token is seen to have less than a day left. */
  readonly onTokenExpiry?: (secondsLeft: number) => void
  readonly timeouts?: Partial<Timeouts>
  readonly retries?: Partial<Retries>
  /** Connections kept open at most. Default 32. */
  readonly connections?: number
  /** Certificate authorities (PEM) to trust instead of the ones that Node knows. */
  readonly ca?: string
}

const DEFAULT_TIMEOUTS: Timeouts = { connectMs: 10_000, headersMs: 30_000, bodyMs: 30_000, totalMs: 60_000 }

export const DEFAULT_RETRIES: Retries = {
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
  /** The base URL without a slash at its end. */
  readonly baseUrl: string
  /** The path of the base URL without a slash at its end. */
  readonly basePath: string
  readonly timeouts: Timeouts
  readonly retries: Retries
}

/** Fills in the defaults. Throws a `TypeError` for a base URL or a device id that cannot be used. */
export function settingsOf(options: ClientOptions): Settings {
  const url = URL.parse(options.baseUrl)
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new TypeError('the base URL must be an absolute http or https URL')
  }
  if (url.username !== '' || url.password !== '')
    throw new TypeError('the base URL must not hold credentials')
  if (url.search !== '' || url.hash !== '')
    throw new TypeError('the base URL must not have a query or a fragment')
  if (!/^[\x21-\x7e]{1,255}$/.test(options.deviceId)) {
    throw new TypeError('the device id must be 1 to 255 visible ASCII characters')
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
