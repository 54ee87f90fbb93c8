import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool } from 'pg'
import type { QueueBackend } from './backend.ts'
import { createSlotsInHand, type Pace, paceOf, type RequestLimit, type SlotsInHand } from './pace.ts'
import { createClock } from './shared-clock.ts'
import { slotsInStore, slotsOnRedis, type TakeSlots } from './slots.ts'

/** Resolves when one request may be sent; rejects when aborted, or when the shared clock is away for 10 s. */
export type RequestBudget = (signal: AbortSignal) => Promise<void>

/**
 * One budget for every request of every process with the same key. It lets 98 % of the limit through.
 *
 * Redis or the store keeps evenly spaced slots by its clock. Each process takes slots in advance and sends one request
 * in each. While the network delivers evenly, no stretch of `perMs`, wherever it begins, shows the service more than
 * `requests`
 * - of one process, even after a delay: it uses late slots little by little, and drops older ones;
 * - of several processes, as long as none is later than another one by more than 2 % of `perMs`.
 *
 * A process that is delayed for longer uses slots of the last 100 ms (or 2 % of `perMs`, if that is more) beside those
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
  const requests = new WaitingRequests(take, paceOf(limit))
  return (signal) => requests.wait(signal)
}

type Waiter = PromiseWithResolvers<void>

class WaitingRequests {
  readonly #take: TakeSlots
  readonly #pace: Pace
  readonly #hand: SlotsInHand
  readonly #clock = createClock()
  readonly #waiting = new Set<Waiter>()
  #nobodyWaits = new AbortController()
  #working = false

  constructor(take: TakeSlots, pace: Pace) {
    this.#take = take
    this.#pace = pace
    this.#hand = createSlotsInHand(pace)
  }

  async wait(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    const waiter: Waiter = Promise.withResolvers<void>()
    const abandon = () => this.#leave(waiter, signal.reason)
    signal.addEventListener('abort', abandon, { once: true })
    this.#waiting.add(waiter)
    if (!this.#working) void this.#work()
    await waiter.promise.finally(() => signal.removeEventListener('abort', abandon))
  }

  #leave(waiter: Waiter, reason: unknown): void {
    waiter.reject(reason)
    this.#waiting.delete(waiter)
    if (this.#waiting.size > 0) return
    // A timer of a minute would keep the process from ending.
    this.#nobodyWaits.abort()
    this.#nobodyWaits = new AbortController()
  }

  async #work(): Promise<void> {
    this.#working = true
    try {
      let coming: Promise<void> | undefined
      while (this.#waiting.size > 0) {
        // Requests behind the slots in hand need not wait for the query as well.
        if (coming === undefined && this.#isShort()) {
          coming = this.#reserve().finally(() => (coming = undefined))
          coming.catch(() => undefined)
        }
        await (this.#hand.size() > 0 ? this.#handOut() : coming)
      }
    } catch (error) {
      for (const waiter of this.#waiting) waiter.reject(error)
      this.#waiting.clear()
    } finally {
      this.#working = false
    }
  }

  #isShort(): boolean {
    return this.#hand.size() <= Math.min(this.#pace.batch, this.#waiting.size / 2)
  }

  /** Takes slots for requests that have none, at most one batch. */
  async #reserve(): Promise<void> {
    const { batch, interval } = this.#pace
    const count = Math.min(this.#waiting.size - this.#hand.size(), batch)
    const asked = performance.now()
    const { start, now } = await this.#take({ ...this.#pace, count })
    const offset = this.#clock(asked, performance.now(), now)
    this.#hand.add(Array.from({ length: count }, (_, n) => start + n * interval - offset))
  }

  async #handOut(): Promise<void> {
    const began = performance.now()
    const opens = this.#hand.opensAt(began)
    if (opens === undefined) return
    if (opens > began) await sleepUntil(Math.max(opens, began + this.#pace.tick), this.#nobodyWaits.signal)
    const now = performance.now()
    for (const waiter of this.#waiting) {
      const next = this.#hand.opensAt(now)
      if (next === undefined || next > now) return
      this.#hand.use(now)
      this.#waiting.delete(waiter)
      waiter.resolve()
    }
  }
}

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
