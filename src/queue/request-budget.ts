import { hash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Redis } from 'ioredis'
import type { Pool } from 'pg'
import { DirsyncdError, sentence } from '../base/errors.ts'
import type { DirectoryConfig } from '../config/config.ts'
import { createClock, paceOf, type RequestLimit, SlotsInHand } from './pace.ts'

/** Shared by all syncs and processes with the same origin and token. The first request fails without the token. */
export function createLimit(
  { rateLimit, token, baseUrl }: DirectoryConfig,
  places: Places,
): ((signal: AbortSignal | undefined) => Promise<void>) | undefined {
  if (rateLimit === undefined) return undefined
  const never = new AbortController().signal
  let opening: Promise<RequestBudget> | undefined

  async function open(limit: RequestLimit): Promise<RequestBudget> {
    const key = `${new URL(baseUrl).origin} ${hash('sha256', await token.read()).slice(0, 16)}`
    return createRequestBudget(places, key, limit)
  }

  return async (signal) => {
    opening ??= open(rateLimit)
    try {
      const wait = await opening
      await wait(signal ?? never)
    } catch (error) {
      opening = undefined
      throw error
    }
  }
}

/** Resolves when one request may be sent; rejects when aborted, or when the shared clock is away for 10 s. */
type RequestBudget = (signal: AbortSignal) => Promise<void>

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
export function createRequestBudget(places: Places, key: string, limit: RequestLimit): RequestBudget {
  const requests = new WaitingRequests(sharedSlots(places, key), paceOf(limit))
  return (signal) => requests.wait(signal)
}

type Waiter = PromiseWithResolvers<void>
type Pace = ReturnType<typeof paceOf>

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
    this.#hand = new SlotsInHand(pace)
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
        await (this.#hand.size > 0 ? this.#handOut() : coming)
      }
    } catch (error) {
      for (const waiter of this.#waiting) waiter.reject(error)
      this.#waiting.clear()
    } finally {
      this.#working = false
    }
  }

  #isShort(): boolean {
    return this.#hand.size <= Math.min(this.#pace.batch, this.#waiting.size / 2)
  }

  /** Takes slots for requests that have none, at most one batch. */
  async #reserve(): Promise<void> {
    const { batch, interval } = this.#pace
    const count = Math.min(this.#waiting.size - this.#hand.size, batch)
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
  while (performance.now() < moment && !signal.aborted) {
    const rest = Math.ceil(moment - performance.now())
    await sleep(rest, undefined, { signal }).catch(() => undefined)
  }
}

/** Evenly spaced times at which requests may be sent, in milliseconds. */
type Slots = {
  /** By the shared clock. */
  readonly start: number
  /** The shared clock's time of the answer. */
  readonly now: number
}

/** The first slot may be `tolerance` before now, so that the time that the answer takes is not lost. */
type SlotRequest = Pick<Pace, 'interval' | 'tolerance' | 'horizon' | 'pause'> & {
  readonly count: number
}

/** Takes the next `count` slots that all processes share. */
type TakeSlots = (request: SlotRequest) => Promise<Slots>

/** Where all processes share their slots: Redis, if the queue is there, or the store. */
interface Places {
  readonly backend: { readonly redis?: Redis }
  readonly pool: Pool
}

function sharedSlots({ backend: { redis }, pool }: Places, key: string): TakeSlots {
  return redis === undefined
    ? (request) => withTimeout(takeInStore(pool, key, request), 'store-unavailable')
    : (request) => withTimeout(takeOnRedis(redis, key, request), 'queue-unavailable')
}

const NOW = 'extract(epoch from clock_timestamp())::float8 * 1000'

/** PostgreSQL locks the row before `do update`, so that `greatest` sees its newest value. */
const TAKE = `
  insert into dirsyncd.request_budgets as budget (key, next_at)
  values ($1, ${NOW} + $2::float8)
  on conflict (key) do update set next_at = $2::float8 + greatest(
    ${NOW} - $5::float8,
    case when budget.next_at > ${NOW} + $3::float8 then ${NOW} + $4::float8 else budget.next_at end)
  returning next_at - $2::float8 as start, ${NOW} as now`

async function takeInStore(pool: Pool, key: string, request: SlotRequest): Promise<Slots> {
  const { count, interval, tolerance, horizon, pause } = request
  const { rows } = await pool.query<Slots>(TAKE, [key, count * interval, horizon, pause, tolerance])
  const [slots] = rows
  if (slots === undefined) throw new Error('the store gave no slots')
  return slots
}

const SCRIPT = `
  local time = redis.call('TIME')
  local now = time[1] * 1000 + time[2] / 1000
  local length, horizon, pause, tolerance = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
  local start = tonumber(redis.call('GET', KEYS[1]) or 0)
  if start > now + horizon then start = now + pause end
  if start < now - tolerance then start = now - tolerance end
  local keep = math.ceil(start + length - now + pause)
  redis.call('SET', KEYS[1], string.format('%.3f', start + length), 'PX', keep)
  return { string.format('%.3f', start), string.format('%.3f', now) }`

async function takeOnRedis(redis: Redis, key: string, request: SlotRequest): Promise<Slots> {
  const { count, interval, tolerance, horizon, pause } = request
  const answer = await redis.eval(
    SCRIPT,
    1,
    `dirsyncd:budget:${key}`,
    count * interval,
    horizon,
    pause,
    tolerance,
  )
  const [start, now] = answer as [string, string]
  return { start: Number(start), now: Number(now) }
}

/** Longer than a restart of Redis or of the store, so that a restart costs no change an attempt. */
const TIMEOUT_MS = 10_000

/** Without a timeout both drivers may wait for ever for a server that is away. */
async function withTimeout<T>(
  answer: Promise<T>,
  code: 'store-unavailable' | 'queue-unavailable',
): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`no answer within ${TIMEOUT_MS / 1000} s`)), TIMEOUT_MS)
  try {
    return await Promise.race([answer, promise])
  } catch (error) {
    throw new DirsyncdError(
      code,
      `The budget of requests cannot be shared with the other processes: ${sentence(error)}. Check ` +
        `${code === 'store-unavailable' ? 'the store' : 'Redis'}; nothing is sent without the budget.`,
      { cause: error },
    )
  } finally {
    clearTimeout(timer)
  }
}
