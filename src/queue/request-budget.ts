import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool } from 'pg'
import type { QueueBackend } from './backend.ts'
import { slotsInStore, slotsOnRedis, type SlotRequest } from './slots.ts'

/** Resolves when one request may be sent; rejects when aborted, or when the shared clock is away for 10 s. */
export type RequestBudget = (signal: AbortSignal) => Promise<void>

export type RequestLimit = {
  readonly requests: number
  readonly perMs: number
}

/**
 * One budget for every request of every process with the same key: in no stretch of `perMs`, wherever it begins,
 * does the service see more than `requests`.
 *
 * Requests are spaced evenly by the clock of Redis or of the store, a little wider than the limit asks for. A
 * stretch then holds too many only when some request arrives later than its neighbours by more than RESERVE
 * of it; a third of that may pass in this process (a slot that is met later is given up), the rest is for the
 * clocks and the network. It is written by hand because the limiters to be had count in fixed windows, two of which side by
 * side let twice the limit through, or allow bursts; halving the limit to be safe would halve the throughput.
 */
export function createRequestBudget(
  places: { readonly backend: Pick<QueueBackend, 'redis'>; readonly pool: Pool },
  key: string,
  limit: RequestLimit,
): RequestBudget {
  const { redis } = places.backend
  const take = redis === undefined ? slotsInStore(places.pool, key) : slotsOnRedis(redis, key)
  const { interval, batch, late, horizon } = spacing(limit)
  const waiting = new Set<Waiter>()
  const clock = createClock()
  let nobodyWaits = new AbortController()
  let working = false

  async function work(): Promise<void> {
    working = true
    try {
      let slots = await reserve(waiting.size)
      while (waiting.size > 0) {
        // Those who wait behind these slots need not wait for the question as well.
        const behind = waiting.size - slots.length
        const next = behind > 0 ? reserve(behind) : undefined
        next?.catch(() => undefined)
        for (const slot of slots) await handOut(slot)
        slots = await (next ?? reserve(waiting.size))
      }
    } catch (error) {
      for (const waiter of waiting) waiter.reject(error)
      waiting.clear()
    } finally {
      working = false
    }
  }

  /** Local times of the next slots, for at most `wanted` of those who wait. */
  async function reserve(wanted: number): Promise<number[]> {
    const count = Math.min(wanted, batch)
    if (count === 0) return []
    const asked = performance.now()
    const request: SlotRequest = { count, interval, horizon, pause: limit.perMs }
    const { start, now } = await take(request)
    const offset = clock(asked, performance.now(), now)
    return Array.from({ length: count }, (_, n) => start + n * interval - offset)
  }

  async function handOut(slot: number): Promise<void> {
    await sleepUntil(slot, nobodyWaits.signal)
    if (performance.now() - slot > late) return
    const [first] = waiting
    if (first === undefined) return
    waiting.delete(first)
    first.resolve()
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

/** The share by which the spacing is wider than the limit asks for. */
const RESERVE = 0.15
/** Slots of so much time are taken at once: the next ones must have come, also from a slow store, when these are used. */
const BATCH_MS = 100
/** More than all processes together can have taken in advance. */
const HORIZON_BATCHES = 64

function spacing({ requests, perMs }: RequestLimit) {
  const interval = (perMs / requests) * (1 + RESERVE)
  const batch = Math.max(1, Math.floor(BATCH_MS / interval))
  return { interval, batch, late: (perMs * RESERVE) / 3, horizon: HORIZON_BATCHES * batch * interval }
}

/**
 * What the shared clock is ahead of this process's, from the quickest answer of late: the time that an answer
 * takes is the error. The answer is taken for as old as it can be, so that slots are never met too early.
 */
function createClock(): (asked: number, answered: number, now: number) => number {
  let best = { trip: Number.POSITIVE_INFINITY, at: 0, offset: 0 }
  return (asked, answered, now) => {
    const trip = answered - asked
    const driftSince = (answered - best.at) / 10_000
    if (trip <= best.trip + driftSince) best = { trip, at: answered, offset: now - answered }
    return best.offset
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
