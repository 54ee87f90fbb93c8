import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool } from 'pg'
import type { QueueBackend } from './backend.ts'
import { createSlotsInHand, paceOf, type RequestLimit } from './pace.ts'
import { createClock } from './shared-clock.ts'
import { slotsInStore, slotsOnRedis } from './slots.ts'

/** Resolves when one request may be sent; rejects when aborted, or when the shared clock is away for 10 s. */
export type RequestBudget = (signal: AbortSignal) => Promise<void>

/**
 * One budget for every request of every process with the same key. It lets 98 % of the limit through.
 *
 * Redis or the store keeps a line of slots, evenly spaced by its clock. Each process takes slots in advance and sends
 * one request in each. While the network delivers evenly, no stretch of `perMs`, wherever it begins, shows the service
 * more than `requests`
 *
 * - of one process, even when that was held up: it works off late slots little by little, and gives up older ones;
 * - of several processes, as long as none is later than another one by more than 2 % of `perMs`.
 *
 * A process that is held up for longer uses slots of the last 100 ms (or 2 % of `perMs`, if that is more) beside those
 * of the others. A service with a token bucket for `requests` never notices. One that counts every stretch may then
 * answer some requests with 429.
 */
export function createRequestBudget(
  places: { readonly backend: Pick<QueueBackend, 'redis'>; readonly pool: Pool },
  key: string,
  limit: RequestLimit,
): RequestBudget {
  const { redis } = places.backend
  const take = redis === undefined ? slotsInStore(places.pool, key) : slotsOnRedis(redis, key)
  const pace = paceOf(limit)
  const hand = createSlotsInHand(pace)
  const waiting = new Set<Waiter>()
  const clock = createClock()
  let nobodyWaits = new AbortController()
  let working = false

  async function work(): Promise<void> {
    working = true
    try {
      let coming: Promise<void> | undefined
      while (waiting.size > 0) {
        // Those who wait behind the slots in hand need not wait for the question as well.
        if (coming === undefined && hand.size() <= Math.min(pace.batch, waiting.size / 2)) {
          coming = reserve(waiting.size - hand.size()).finally(() => (coming = undefined))
          coming.catch(() => undefined)
        }
        await (hand.size() > 0 ? handOut() : coming)
      }
    } catch (error) {
      for (const waiter of waiting) waiter.reject(error)
      waiting.clear()
    } finally {
      working = false
    }
  }

  /** Takes slots for at most `wanted` of those who wait. */
  async function reserve(wanted: number): Promise<void> {
    const count = Math.min(wanted, pace.batch)
    const asked = performance.now()
    const { start, now } = await take({ ...pace, count })
    const offset = clock(asked, performance.now(), now)
    hand.add(Array.from({ length: count }, (_, n) => start + n * pace.interval - offset))
  }

  /** Waits for the next slot, and lets as many go as have slots by then. */
  async function handOut(): Promise<void> {
    const began = performance.now()
    const opens = hand.opensAt(began)
    if (opens === undefined) return
    if (opens > began) await sleepUntil(Math.max(opens, began + pace.tick), nobodyWaits.signal)
    const now = performance.now()
    for (const waiter of waiting) {
      const next = hand.opensAt(now)
      if (next === undefined || next > now) return
      hand.use(now)
      waiting.delete(waiter)
      waiter.resolve()
    }
  }

  function leave(waiter: Waiter, reason: unknown): void {
    waiter.reject(reason)
    waiting.delete(waiter)
    if (waiting.size > 0) return
    // A timer of a minute would keep the process from ending.
    nobodyWaits.abort()
    nobodyWaits = new AbortController()
  }

  return async (signal) => {
    signal.throwIfAborted()
    const waiter: Waiter = Promise.withResolvers<void>()
    const abandon = () => leave(waiter, signal.reason)
    signal.addEventListener('abort', abandon, { once: true })
    waiting.add(waiter)
    if (!working) void work()
    await waiter.promise.finally(() => signal.removeEventListener('abort', abandon))
  }
}

type Waiter = PromiseWithResolvers<void>

/** Timers may fire a fraction of a millisecond early. */
async function sleepUntil(moment: number, signal: AbortSignal): Promise<void> {
  for (
    let rest = moment - performance.now();
    rest > 0 && !signal.aborted;
    rest = moment - performance.now()
  ) {
    await sleep(Math.ceil(rest), undefined, { signal }).catch(() => undefined)
  }
}
