import { type ApiError, isApiError } from '../api/client/api-error.ts'
import type { AccessManagementClient } from '../api/client/client.ts'
import { DirsyncdError, sentence } from '../base/errors.ts'
import type { Change } from '../core/plan/change.ts'
import type { Outcome } from '../core/plan/outcome.ts'
import { applyChange, type HowToApply, type TargetDirectory } from './apply-change.ts'
import { OtherEntry } from './entries.ts'
import { CHECK_PROXY, apiProblem } from './api-problem.ts'

/** Also where the service names no time, or zero: it would be asked again hundreds of times. */
const SHORTEST_PAUSE_MS = 1_000

/**
 * `applyChange` for a worker: errors of the client and of the directory become outcomes. Other errors are thrown, also
 * an abort: the attempt then has no outcome, and the next attempt looks the change up first.
 */
export async function tryChange(
  client: AccessManagementClient,
  target: TargetDirectory,
  change: Change,
  options: HowToApply,
  signal: AbortSignal,
): Promise<Outcome> {
  try {
    return await applyChange(client, target, change, options, signal)
  } catch (error) {
    return outcomeOf(error)
  }
}

/** Throws what is no outcome, such as an abort. */
export function outcomeOf(error: unknown): Outcome {
  if (isApiError(error)) return outcomeOfApi(error)
  if (error instanceof OtherEntry) return { result: 'not-shown', status: undefined, detail: error.message }
  if (error instanceof DirsyncdError) return { result: 'stop', code: error.code, detail: sentence(error) }
  throw error
}

function outcomeOfApi(error: ApiError): Outcome {
  const { kind, status, timedOut } = error
  // The change names the request, so the answer is enough.
  const detail = error.failure.reason
  const unavailable = { result: 'unavailable', status, detail, timedOut } as const
  switch (kind) {
    case 'aborted':
    case 'closed':
      throw error
    case 'unauthorized':
      return stop(error)
    case 'unexpected-answer':
      // The outcome of the change is unknown.
      if (error.isFromProxy) return { ...unavailable, answeredBy: 'proxy' }
      if (error.maybeDone) return { ...unavailable, answeredBy: 'nobody' }
      return stop(error)
    case 'forbidden':
      return { result: 'forbidden', status, detail: error.isWebPage ? `${detail}. ${CHECK_PROXY}` : detail }
    case 'rate-limited':
      // An earlier request of this attempt may have been done, so a lookup comes before the retry.
      if (error.maybeDone) return { ...unavailable, answeredBy: 'service', retryAfterMs: retryAfterOf(error) }
      return { result: 'rate-limited', retryAfterMs: retryAfterOf(error) }
    case 'unreachable':
    case 'server-error':
      return { ...unavailable, answeredBy: lookupsAnswered(error) ? 'service' : 'nobody' }
    case 'not-found':
    case 'conflict':
    case 'refused':
      if (error.maybeDone) return { ...unavailable, answeredBy: 'service' }
      return { result: 'refused', status, detail }
  }
}

function retryAfterOf({ retryAfterMs = 0 }: ApiError): number {
  return Math.max(retryAfterMs, SHORTEST_PAUSE_MS)
}

/** An uncertain write is retried after a lookup, so the lookups were answered. A 503 is about the whole service. */
function lookupsAnswered({ destination, maybeDone, status }: ApiError): boolean {
  return destination.method !== 'GET' && maybeDone && status !== 503
}

function stop(error: ApiError): Outcome {
  const explained = apiProblem(error)
  const code = explained instanceof DirsyncdError ? explained.code : 'directory-unexpected'
  return { result: 'stop', code, detail: sentence(explained) }
}
