import { orAbort } from '../../api/client/wait.ts'
import { sentence } from '../../base/errors.ts'
import { type Channel, Undelivered } from './channel.ts'
import type { Delivered } from './notification.ts'

/** In milliseconds. */
export interface DeliveryTimes {
  /** Before the second attempt; each further pause is twice as long, up to `lastRetry`. */
  readonly firstRetry: number
  readonly lastRetry: number
  /** A notification of this age is given up. */
  readonly giveUp: number
}

export interface DeliveryAttempt {
  readonly state: 'waiting' | 'delivered' | 'given-up'
  /** What came of the attempt, in a word for metrics. */
  readonly delivery: 'delivered' | 'failed' | 'given-up'
  readonly waitMs?: number
  readonly detail?: string
}

/** A receiver that says no may have been configured wrongly, so that somebody mends it. */
const MOST_REFUSALS = 10

/** Tries to deliver a notification once, and says how it goes on. */
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
    // Jitter, so that several daemons and channels do not all knock at once.
    const pause = Math.max(backoff * (0.75 + Math.random() / 4), Math.min(waitMs, lastRetry))
    return { state: 'waiting', delivery: 'failed', waitMs: pause, detail }
  }
}
