import { setTimeout as sleep } from 'node:timers/promises'
import type { Dispatcher } from 'undici'
import type { Operation } from '../contract/endpoints.ts'
import { exchange, type HttpAnswer, NoAnswer } from './answer.ts'
import { type ApiRequest, toHttpRequest } from './request.ts'
import { RequestFailed, SkipCase } from './result.ts'
import type { TestedService } from './tested-service.ts'

const TIMEOUT_MS = 30_000
/** While the answer is 429. */
const LIMIT_TRIES = 5
export const LIMIT_WAIT_MS = 60_000

export interface Connection {
  readonly tested: TestedService
  readonly dispatcher: Dispatcher
}

/** Retries while the answer is 429. Throws `SkipCase` if it stays so, and `RequestFailed`. */
export async function sendWithinLimits(
  connection: Connection,
  operation: Operation,
  request: ApiRequest,
  signal: AbortSignal,
): Promise<HttpAnswer> {
  let answer = await sendOnce(connection, operation, request, signal)
  for (let tries = 1; answer.status === 429 && tries < LIMIT_TRIES; tries += 1) {
    const seconds = Number(answer.header('retry-after') ?? 1)
    const wait = Number.isFinite(seconds) ? seconds * 1000 : 1000
    await sleep(Math.min(Math.max(wait, 50), LIMIT_WAIT_MS), undefined, { signal })
    answer = await sendOnce(connection, operation, request, signal)
  }
  if (answer.status === 429) throw new SkipCase('the service lets no more requests through (429)')
  if (answer.status >= 500) throw new RequestFailed(operation, answer.status)
  return answer
}

async function sendOnce(
  { tested, dispatcher }: Connection,
  operation: Operation,
  request: ApiRequest,
  signal: AbortSignal,
): Promise<HttpAnswer> {
  signal.throwIfAborted()
  await tested.limit?.(signal)
  const { origin } = new URL(tested.baseUrl)
  const timeoutMs = tested.timeoutMs ?? TIMEOUT_MS
  try {
    const sent = toHttpRequest(tested, operation, request)
    return await exchange(dispatcher, origin, sent, { timeoutMs, signal })
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error
    throw new RequestFailed(operation, error.message, { cause: error })
  }
}
