import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Freshness } from '../../../../src/sync/apply/freshness.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date', 'performance'] }))
afterEach(() => void vi.useRealTimers())

test('an answer counts from when it was asked for, and for as long as the limit', async () => {
  const freshness = new Freshness(1000)
  vi.advanceTimersByTime(900)
  await freshness.renew(async () => void vi.advanceTimersByTime(900))
  vi.advanceTimersByTime(99)
  expect(freshness.isFresh()).toBe(true)
  vi.advanceTimersByTime(1)
  expect(freshness.isFresh()).toBe(false)
})

test('a question without an answer renews nothing', async () => {
  const freshness = new Freshness(1000)
  vi.advanceTimersByTime(1000)
  await expect(freshness.renew(() => Promise.reject(new Error('away')))).rejects.toThrow('away')
  expect(freshness.isFresh()).toBe(false)
})

test.each([
  ['the monotonic clock stood still', { monotonic: 0, wall: 1000 }, false],
  ['the wall clock was set back', { monotonic: 1000, wall: -5000 }, false],
  ['the wall clock was set back a little', { monotonic: 999, wall: -5000 }, true],
])('where %s, the greater difference counts', (_, passed, isFresh) => {
  const now = { monotonic: performance.now(), wall: Date.now() }
  const asked = { monotonic: now.monotonic - passed.monotonic, wall: now.wall - passed.wall }
  expect(new Freshness(1000, asked).isFresh()).toBe(isFresh)
})
