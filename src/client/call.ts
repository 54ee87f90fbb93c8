import pRetry, { AbortError, type RetryContext } from 'p-retry'
import { ApiError, asMaybeDone } from './api-error.ts'
import type { Reply } from './exchange.ts'
import { abortedFailure, failureOfNetwork, failureOfReply, firstHeaderValue } from './failure.ts'
import type { Retries } from './options.ts'
import { parseRetryAfter } from './retry-after.ts'
import type { PreparedRequest, Sender } from './send.ts'
import { wait } from './wait.ts'

interface CallOptions {
  readonly signal?: AbortSignal | undefined
  /** Called for each request that goes out, repetitions included. */
  readonly onRequest?: (() => void) | undefined
}

export interface Call<F> extends CallOptions {
  readonly request: PreparedRequest
  readonly write: boolean
  /** Wait for a 429 here. Otherwise it is an `ApiError` of kind `rate-limited` at once. */
  readonly waitWhenLimited: boolean
  /** Looks whether a write whose answer was lost has been done. Without it such a write is not sent again. */
  readonly confirm?: ((signal: AbortSignal | undefined) => Promise<F | undefined>) | undefined
}

/** The answer to a call, or what `confirm` found in place of a lost one. */
export type CallResult<F> =
  | { readonly reply: Reply; readonly requests: number }
  | { readonly found: F; readonly requests: number }

/**
 * One call with all its attempts: the one owner of seconds. Rejects with an `ApiError`, or with what the token loader,
 * the limiter or `confirm` threw.
 *
 * A write whose answer was lost goes round like this: pause, `confirm`, and only if that found nothing the request
 * again. A `confirm` that fails ends the call, because it has its own attempts behind it.
 */
export async function performCall<F>(
  sender: Sender,
  retries: Retries,
  call: Call<F>,
): Promise<CallResult<F>> {
  const progress: Progress = { requests: 0, limitWaits: 0, reloaded: false, lost: undefined }
  // p-retry drops the result of an attempt that ends while the signal is aborted, but a write that was done is done.
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
        shouldRetry: ({ error }) => mayRepeat(error, call),
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
  reloaded: boolean
  /** The failure of an earlier attempt that may have been done, as long as nobody has looked. */
  lost: ApiError | undefined
}

async function attempt<F>(
  sender: Sender,
  retries: Retries,
  call: Call<F>,
  progress: Progress,
): Promise<CallResult<F>> {
  if (progress.lost !== undefined && call.confirm !== undefined) {
    const found = await call.confirm(call.signal).catch(giveUp)
    if (found !== undefined) return { found, requests: progress.requests }
    progress.lost = undefined
  }
  try {
    const reply = await sendWithinLimits(sender, retries, call, progress)
    return { reply: accept(reply, sender, call), requests: progress.requests }
  } catch (error) {
    if (error instanceof ApiError && error.maybeDone) progress.lost = error
    throw error
  }
}

function giveUp(error: unknown): never {
  throw new AbortError(error instanceof Error ? error : String(error))
}

/** Any 2xx is success. A write needs no body: the connection may break behind the status. */
function accept<F>(reply: Reply, sender: Sender, call: Call<F>): Reply {
  const { destination } = call.request
  if (reply.status < 200 || reply.status > 299) {
    throw new ApiError(destination, failureOfReply(reply, call.write, sender.secrets(), Date.now()))
  }
  if (reply.body === undefined && !call.write) throw new ApiError(destination, failureOfNetwork(reply.broken))
  return reply
}

/** Sends, waits for a 429 where the call may wait, and has the token loaded again once after a 401. */
async function sendWithinLimits<F>(
  sender: Sender,
  retries: Retries,
  call: Call<F>,
  progress: Progress,
): Promise<Reply> {
  for (;;) {
    const reply = await sendAuthorized(sender, call, progress)
    if (reply.status !== 429 || !call.waitWhenLimited || progress.limitWaits >= retries.rateLimitWaits)
      return reply
    const asked = parseRetryAfter(firstHeaderValue(reply.headers['retry-after']), Date.now())
    const ms = asked ?? retries.defaultRetryAfterMs
    if (ms > retries.maxRetryAfterMs) return reply
    progress.limitWaits += 1
    sender.log?.debug(
      { operation: call.request.destination.operation, waitMs: ms },
      'rate limit reached, waiting',
    )
    // Some jitter, so that those who were refused together do not come back together.
    await wait(ms + Math.random() * retries.minDelayMs, call.signal)
  }
}

async function sendAuthorized<F>(sender: Sender, call: Call<F>, progress: Progress): Promise<Reply> {
  const onRequest = (): void => {
    progress.requests += 1
    call.onRequest?.()
  }
  const token = await sender.tokens.current(call.signal)
  const reply = await sender.send(call.request, token, onRequest, call.signal)
  if (reply.status !== 401 || progress.reloaded) return reply
  progress.reloaded = true
  const fresh = await sender.tokens.renewed(token, call.signal)
  return fresh === token ? reply : sender.send(call.request, fresh, onRequest, call.signal)
}

function mayRepeat<F>(error: Error, call: Call<F>): boolean {
  if (!(error instanceof ApiError) || !error.transient) return false
  return !error.maybeDone || call.confirm !== undefined
}

/** A 503 may name a time: p-retry's own pause is made up to it, within the longest pause. */
async function pauseForRetryAfter<F>(
  sender: Sender,
  retries: Retries,
  call: Call<F>,
  context: RetryContext,
): Promise<void> {
  const { error, retryDelay, retriesLeft, attemptNumber } = context
  if (!mayRepeat(error, call) || retriesLeft === 0) return
  const { kind, status, retryAfterMs, operation } = error as ApiError
  sender.log?.debug({ operation, kind, status, attempt: attemptNumber }, 'request failed, trying again')
  const more = Math.min(retryAfterMs ?? 0, retries.maxDelayMs) - retryDelay
  if (more > 0) await wait(more, call.signal)
}

function finalError<F>(error: unknown, call: Call<F>, progress: Progress): unknown {
  const { destination } = call.request
  if (call.signal?.aborted && !(error instanceof ApiError && error.kind === 'aborted')) {
    return new ApiError(destination, {
      ...abortedFailure(call.signal),
      maybeDone: progress.lost !== undefined,
    })
  }
  return error instanceof ApiError && progress.lost !== undefined ? asMaybeDone(error) : error
}
