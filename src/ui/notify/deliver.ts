import { orAbort } from '../../api/client/wait.ts'
import { sentence } from '../../base/errors.ts'
import { type Channel, Undelivered } from './channel.ts'
import type { Delivered } from './notification.ts'

/** In milliseconds. */
export interface DeliveryTimes {
  /** Before the second attempt; each further pause doubles, up to `lastRetry`. */
  readonly firstRetry: number
  readonly lastRetry: number
  readonly giveUp: number
}

export interface DeliveryAttempt {
  readonly state: 'waiting' | 'delivered' | 'given-up'
  readonly delivery: 'delivered' | 'failed' | 'given-up'
  readonly waitMs?: number
  readonly detail?: string
}

/** A refusal may come from a wrong configuration that the operator fixes. */
const MOST_REFUSALS = 10

export async function tryDelivery(
  channel: Channel,
  notification: Delivered & { readonly attempts: number },
  { firstRetry, lastRetry, giveUp }: DeliveryTimes,
  signal: AbortSignal,
): Promise<DeliveryAttempt> {
  try {
    await orAbort(channel.send(notification, signal), signal)
    return { state: 'delivered', delivery: 'delivered' }
  } catch (error) {
    const detail = sentence(error)
    if (signal.aborted) return { state: 'waiting', delivery: 'failed', waitMs: 0, detail }
    const { attempts, createdAt } = notification
    const { isRefused = false, waitMs = 0 } = error instanceof Undelivered ? error : {}
    const isOld = Date.now() - createdAt.getTime() >= giveUp
    if (isOld || (isRefused && attempts >= MOST_REFUSALS))
      return { state: 'given-up', delivery: 'given-up', detail }
    const backoff = Math.min(lastRetry, firstRetry * 2 ** Math.min(attempts - 1, 20))
    // Jitter, so that several daemons and channels do not retry at once.
    const pause = Math.max(backoff * (0.75 + Math.random() / 4), Math.min(waitMs, lastRetry))
    return { state: 'waiting', delivery: 'failed', waitMs: pause, detail }
  }
}
