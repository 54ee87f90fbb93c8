import type { Redis } from 'ioredis'
import type { Pool } from 'pg'
import { DirsyncdError, sentence } from '../base/errors.ts'
import type { Pace } from './pace.ts'

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
export type TakeSlots = (request: SlotRequest) => Promise<Slots>

export function slotsInStore(pool: Pool, key: string): TakeSlots {
  return (request) => withTimeout(takeInStore(pool, key, request), 'store-unavailable')
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

export function slotsOnRedis(redis: Redis, key: string): TakeSlots {
  return (request) => withTimeout(takeOnRedis(redis, key, request), 'queue-unavailable')
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
