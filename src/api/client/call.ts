import pRetry, { AbortError, type RetryContext } from 'p-retry'
import { ApiError, asMaybeDone, isApiError } from './api-error.ts'
import type { Reply } from './exchange.ts'
import {
  abortedFailure,
  decidesWrite,
  failureOfBroken,
  failureOfReply,
  failureOfWebPage,
  firstHeaderValue,
  isLimit,
  isWebPage,
} from './failure.ts'
import type { Retries } from './options.ts'
import { parseRetryAfter } from './retry-after.ts'
import type { PreparedRequest, Sender } from './send.ts'
import { orAbort, wait, withAnySignal } from './wait.ts'

interface CallOptions {
  readonly signal?: AbortSignal | undefined
  /** Also called for retries. */
  readonly onRequest?: (() => void) | undefined
}

export interface Call<F> extends CallOptions {
  readonly request: PreparedRequest
  readonly write: boolean
  /** After a 429, wait and send again. Otherwise throw an `ApiError` of kind `rate-limited` at once. */
  readonly waitWhenLimited: boolean
  /** After a lost answer, checks whether the write was done. Without `confirm` such a write is not sent again. */
  readonly confirm?: ((signal: AbortSignal | undefined) => Promise<F | undefined>) | undefined
}

/** The answer, or what `confirm` found after the answer was lost. */
export type CallResult<F> =
  | { readonly reply: Reply; readonly requests: number }
  | { readonly found: F; readonly requests: number }

/**
 * One call with all its retries; only this function retries within seconds. Ends when its signal is aborted or the
 * client is closed. Rejects with an `ApiError`, or with what the token loader, the limiter or `confirm` threw.
 *
 * After a lost answer to a write: pause, run `confirm`, and send the request again only if `confirm` found nothing. If
 * `confirm` fails the call ends, because `confirm` has already retried.
 */
export async function performCall<F>(
  sender: Sender,
  retries: Retries,
  call: Call<F>,
): Promise<CallResult<F>> {
  return withAnySignal([sender.closing, call.signal], (signal) =>
    callWithRetries(sender, retries, { ...call, signal }),
  )
}

async function callWithRetries<F>(sender: Sender, retries: Retries, call: Call<F>): Promise<CallResult<F>> {
  const progress: Progress = { requests: 0, limitWaits: 0, tokenReloaded: false, lost: undefined }
  // p-retry drops the result of an attempt that ends after the abort, but the caller must know of a write that was
  // done.
  let result: CallResult<F> | undefined
  try {
    await pRetry(
      async () => {
        result = await attempt(sender, retries, call, progress)
      },
      {
        retries: retries.attempts,
        minTimeout: retries.minDelayMs,
        maxTimeout: retries.maxDelayMs,
        factor: 3,
        randomize: true,
        shouldRetry: ({ error }) => mayRetry(error, call),
        onFailedAttempt: (context) => pauseForRetryAfter(sender, retries, call, context),
        ...(call.signal === undefined ? {} : { signal: call.signal }),
      },
    )
  } catch (error) {
    if (result === undefined) throw finalError(error, call, progress)
  }
  return result as CallResult<F>
}

interface Progress {
  requests: number
  limitWaits: number
  tokenReloaded: boolean
  /** An earlier attempt that may have succeeded; cleared when `confirm` found nothing. */
  lost: ApiError | undefined
}

async function attempt<F>(
  sender: Sender,
  retries: Retries,
  call: Call<F>,
  progress: Progress,
): Promise<CallResult<F>> {
  if (progress.lost !== undefined && call.confirm !== undefined) {
    const found = await call.confirm(call.signal).catch(throwWithoutRetry)
    if (found !== undefined) return { found, requests: progress.requests }
    progress.lost = undefined
  }
  try {
    const reply = await sendWithinLimits(sender, retries, call, progress)
    return { reply: successOf(reply, sender, call), requests: progress.requests }
  } catch (error) {
    if (error instanceof ApiError && error.maybeDone) progress.lost = error
    throw error
  }
}

function throwWithoutRetry(error: unknown): never {
  throw new AbortError(error instanceof Error ? error : String(error))
}

/**
 * Any 2xx is a success, except a web page in answer to a write: a proxy may have sent it, and the write may have been
 * done or not. A write needs no body, so its connection may break after the status.
 */
function successOf<F>(reply: Reply, sender: Sender, call: Call<F>): Reply {
  const { destination } = call.request
  if (call.write && isWebPage(reply) && decidesWrite(reply.status)) {
    throw new ApiError(destination, failureOfWebPage(reply.status))
  }
  if (reply.status < 200 || reply.status > 299) {
    throw new ApiError(destination, failureOfReply(reply, call.write, sender.secrets(), Date.now()))
  }
  if (reply.body === undefined && !call.write) throw new ApiError(destination, failureOfBroken(reply))
  return reply
}

/** Waits at the service's limit, if the call may wait; reloads the token after a 401, once. */
async function sendWithinLimits<F>(
  sender: Sender,
  retries: Retries,
  call: Call<F>,
  progress: Progress,
): Promise<Reply> {
  const { signal } = call
  for (;;) {
    if (sender.pause !== undefined && call.waitWhenLimited) await orAbort(sender.pause.over(signal), signal)
    const reply = await sendAuthorized(sender, call, progress)
    if (!isLimit(reply) || !call.waitWhenLimited) return reply
    const requestedMs = parseRetryAfter(firstHeaderValue(reply.headers['retry-after']), Date.now())
    const ms = requestedMs ?? retries.defaultRetryAfterMs
    if (sender.pause !== undefined) await orAbort(sender.pause.begin(ms), signal)
    else if (progress.limitWaits >= retries.rateLimitWaits || ms > retries.maxRetryAfterMs) return reply
    else await waitForLimit(sender, retries, call, ms)
    progress.limitWaits += 1
  }
}

async function waitForLimit<F>(sender: Sender, retries: Retries, call: Call<F>, ms: number): Promise<void> {
  sender.log?.debug(
    { operation: call.request.destination.operation, waitMs: ms },
    'rate limit reached, waiting',
  )
  // Jitter, so that requests refused at the same time are not sent again at the same time.
  await wait(ms + Math.random() * retries.minDelayMs, call.signal)
}

async function sendAuthorized<F>(sender: Sender, call: Call<F>, progress: Progress): Promise<Reply> {
  const onRequest = (): void => {
    progress.requests += 1
    call.onRequest?.()
  }
  const token = await sender.tokens.current(call.signal)
  const reply = await sender.send(call.request, token, onRequest, call.signal)
  if (reply.status !== 401 || progress.tokenReloaded) return reply
  progress.tokenReloaded = true
  const fresh = await sender.tokens.renewed(token, call.signal)
  return fresh === token ? reply : sender.send(call.request, fresh, onRequest, call.signal)
}

function mayRetry<F>(error: Error, call: Call<F>): boolean {
  if (!(error instanceof ApiError) || !error.transient) return false
  return !error.maybeDone || call.confirm !== undefined
}

/** Extends p-retry's own pause to `Retry-After`, at most `maxDelayMs`. */
async function pauseForRetryAfter<F>(
  sender: Sender,
  retries: Retries,
  call: Call<F>,
  context: RetryContext,
): Promise<void> {
  const { error, retryDelay, retriesLeft, attemptNumber } = context
  if (!mayRetry(error, call) || retriesLeft === 0) return
  const { kind, status, retryAfterMs, operation } = error as ApiError
  sender.onRetry?.(operation)
  sender.log?.debug({ operation, kind, status, attempt: attemptNumber }, 'request failed, trying again')
  const extraMs = Math.min(retryAfterMs ?? 0, retries.maxDelayMs) - retryDelay
  if (extraMs > 0) await wait(extraMs, call.signal)
}

function finalError<F>(error: unknown, call: Call<F>, progress: Progress): unknown {
  const { destination } = call.request
  if (call.signal?.aborted && !isApiError(error, 'aborted', 'closed')) {
    return new ApiError(destination, {
      ...abortedFailure(call.signal),
      maybeDone: progress.lost !== undefined,
    })
  }
  return error instanceof ApiError && progress.lost !== undefined ? asMaybeDone(error) : error
}
