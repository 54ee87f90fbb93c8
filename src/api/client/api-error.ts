import type { Endpoint, Operation, Scope } from '../contract/endpoints.ts'

/**
 * What went wrong, for a caller to branch on. `server-error` is 5xx, 408 or 425. `refused` is any other 4xx, or a
 * request that was not sent because a parameter or its form is invalid. `aborted`: the signal of the call was aborted.
 * `closed`: the client was closed before the call or during it.
 */
export type ApiErrorKind =
  | 'unreachable'
  | 'server-error'
  | 'rate-limited'
  | 'unauthorized'
  | 'forbidden'
  | 'not-found'
  | 'conflict'
  | 'refused'
  | 'unexpected-answer'
  | 'aborted'
  | 'closed'

export interface Destination {
  readonly operation: Operation
  readonly method: Endpoint['method']
  /** The path after the base URL, without the query; with placeholders if a parameter was refused. */
  readonly path: string
  readonly scope: Scope
  readonly baseUrl: string
}

export interface Failure {
  readonly kind: ApiErrorKind
  /** Without a full stop: "connection refused". */
  readonly reason: string
  readonly status?: number | undefined
  readonly retryAfterMs?: number | undefined
  /** What failed on the way, where it has a remedy of its own. */
  readonly place?: 'certificate' | 'proxy' | 'answer' | undefined
  /** The service's own error text, at most 300 characters. */
  readonly detail?: string | undefined
  /** The answer did not come from the service, but for instance from a proxy. */
  readonly foreign?: 'web-page' | 'redirect' | 'no-json' | undefined
  /** The same request may succeed within seconds. */
  readonly transient?: boolean
  /** The write was sent and its answer was lost: the service may have done it. */
  readonly maybeDone?: boolean
  /** No answer came in time: from the service, or from the service to the proxy that answered 504. */
  readonly timedOut?: boolean
  readonly cause?: unknown
}

/** A failed request. The message is one sentence and holds no secret. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly kind: ApiErrorKind
  readonly destination: Destination
  readonly failure: Failure

  constructor(destination: Destination, failure: Failure) {
    super(
      `${destination.method} ${destination.path} at ${destination.baseUrl} failed: ${failure.reason}.`,
      failure.cause === undefined ? undefined : { cause: failure.cause },
    )
    this.kind = failure.kind
    this.destination = destination
    this.failure = failure
  }

  get operation(): Operation {
    return this.destination.operation
  }

  get status(): number | undefined {
    return this.failure.status
  }

  /** Milliseconds from the `Retry-After` header; `undefined` without one. */
  get retryAfterMs(): number | undefined {
    return this.failure.retryAfterMs
  }

  get detail(): string | undefined {
    return this.failure.detail
  }

  /** This service never sends a web page, so it says nothing about the request. */
  get isWebPage(): boolean {
    return this.failure.foreign === 'web-page'
  }

  /** A proxy answered: with a web page, or with a redirect to one. */
  get isFromProxy(): boolean {
    return this.isWebPage || this.failure.foreign === 'redirect'
  }

  /** The same request may succeed within seconds. */
  get transient(): boolean {
    return this.failure.transient === true
  }

  /** For this client or for a proxy. */
  get timedOut(): boolean {
    return this.failure.timedOut === true
  }

  /** The service may have done this failed write: check before you send it again. */
  get maybeDone(): boolean {
    return this.failure.maybeDone === true
  }
}

/** The same error with `maybeDone`, and with `timedOut` if the earlier attempt `lost` timed out. */
export function asMaybeDone(error: ApiError, lost?: ApiError): ApiError {
  const timedOut = error.timedOut || lost?.timedOut === true
  if (error.maybeDone && error.timedOut === timedOut) return error
  return new ApiError(error.destination, { ...error.failure, maybeDone: true, timedOut })
}

export function isApiError<K extends ApiErrorKind>(
  error: unknown,
  ...kinds: readonly K[]
): error is ApiError & { readonly kind: K } {
  return error instanceof ApiError && (kinds.length === 0 || kinds.some((kind) => kind === error.kind))
}
