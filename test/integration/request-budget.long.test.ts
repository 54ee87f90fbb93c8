import { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { openQueueBackend } from '../../src/queue/backend.ts'
import { createRequestBudget } from '../../src/queue/request-budget.ts'
import type { RequestLimit } from '../../src/queue/pace.ts'
import { allBackends, type OpenBackend } from '../support/backends.ts'
import { recordRequests, runSender } from '../support/budget-senders.ts'
import { startRedis } from '../support/redis.ts'
import { watchLoad, watchStalls } from '../support/machine-load.ts'
import { refusedByTokenBucket, shareUsed } from '../support/arrivals.ts'

describe.each(allBackends())('request budget, shared on $name', ({ name, open }) => {
  let opened: OpenBackend

  beforeAll(async () => {
    opened = await open()
  })

  afterAll(async () => {
    await opened.close()
  })

  function budgetOf(limit: RequestLimit, key = expect.getState().currentTestName!) {
    return createRequestBudget({ backend: opened.backend, pool: opened.store.pool }, key, limit)
  }

  async function sendTimes(limit: RequestLimit, count: number): Promise<number[]> {
    const budget = budgetOf(limit)
    const never = new AbortController().signal
    const send = async () => budget(never).then(() => performance.now())
    return (await Promise.all(Array.from({ length: count }, send))).toSorted((a, b) => a - b)
  }

  // An embedded store has one process.
  test.skipIf(name === 'embedded')(
    'three processes at 50 a second: a service with a token bucket refuses none',
    async () => {
      await using service = await recordRequests()
      const limit = { requests: 50, perMs: 1000 }
      const { origin, times } = service
      const task = {
        store: opened.storeOptions,
        redis: opened.redis,
        limit,
        origin,
        ms: 7000,
      }
      const stalls = watchStalls()
      await Promise.all([1, 2, 3].map(() => runSender(task)))
      expect(refusedByTokenBucket(limit, times)).toBe(0)
      expect(mostWithin(1000, times)).toBeLessThanOrEqual(stalls.allowed(50) + usedLate(50))
      expect(shareUsed(limit, times)).toBeGreaterThan(0.9)
    },
  )

  test('a burst of callers is spread out', async () => {
    const stalls = watchStalls()
    const times = await sendTimes({ requests: 50, perMs: 1000 }, 120)
    expect(mostWithin(1000, times)).toBeLessThanOrEqual(stalls.allowed(50))
    expect(times.length / (seconds(times) * 50)).toBeGreaterThan(0.9)
  })

  test('2,000 a second', async () => {
    const stalls = watchStalls()
    const times = await sendTimes({ requests: 2000, perMs: 1000 }, 4000)
    expect(mostWithin(1000, times)).toBeLessThanOrEqual(stalls.allowed(2000))
    expect(times.length / (seconds(times) * 2000)).toBeGreaterThan(0.9)
  })

  test('one a minute: the first at once, the second abandoned without a trace', async () => {
    const budget = budgetOf({ requests: 1, perMs: 60_000 })
    await budget(AbortSignal.timeout(5000))
    const scaled = watchLoad()
    const began = performance.now()
    await expect(budget(AbortSignal.timeout(200))).rejects.toThrow(/aborted/)
    expect(performance.now() - began).toBeLessThan(scaled(1000))
    await expect(budget(AbortSignal.abort())).rejects.toThrow(/aborted/)
  })

  test('two keys do not wait for each other', async () => {
    const slow = { requests: 1, perMs: 60_000 }
    await budgetOf(slow, 'one')(AbortSignal.timeout(5000))
    await budgetOf(slow, 'two')(AbortSignal.timeout(5000))
  })

  test('a caller that gives up leaves its turn to the next one', async () => {
    const budget = budgetOf({ requests: 1, perMs: 1000 })
    await budget(AbortSignal.timeout(5000))
    const impatient = budget(AbortSignal.timeout(100)).catch(() => 'gave up')
    const patient = budget(AbortSignal.timeout(5000)).then(() => 'went')
    expect(await Promise.all([impatient, patient])).toEqual(['gave up', 'went'])
  })
})

test('when Redis is away, who waits for the budget gets an error', async () => {
  const server = await startRedis()
  onTestFinished(() => server.close())
  await using backend = await openQueueBackend({ kind: 'redis', url: server.url })
  const budget = createRequestBudget({ backend, pool: new Pool() }, 'key', { requests: 1, perMs: 1000 })
  await budget(AbortSignal.timeout(5000))
  await server.stop()
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const [failure] = await Promise.all([
    budget(new AbortController().signal).catch((error: unknown) => error),
    vi.advanceTimersByTimeAsync(10_000),
  ])
  expect(failure).toMatchObject({ code: 'queue-unavailable' })
})

/** A process that was held up uses so many slots beside those of others. */
function usedLate(requests: number): number {
  return requests * 0.1
}

/** The most requests that any stretch of `ms` holds. */
function mostWithin(ms: number, times: readonly number[]): number {
  let first = 0
  let most = 0
  for (const [last, time] of times.entries()) {
    while ((times[first] ?? time) <= time - ms) first += 1
    most = Math.max(most, last - first + 1)
  }
  return most
}

function seconds(times: readonly number[]): number {
  return ((times.at(-1) ?? 0) - (times[0] ?? 0)) / 1000
}
