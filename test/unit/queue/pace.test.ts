import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createClock, paceOf, type RequestLimit, SlotsInHand } from '../../../src/queue/pace.ts'

const LIMIT = { requests: 100, perMs: 1000 }

test('the shared line has slots for 98 % of the limit', () => {
  expect(1000 / paceOf(LIMIT).interval).toBeCloseTo(98)
  expect(1000 / paceOf({ requests: 60_000, perMs: 60_000 }).interval).toBeCloseTo(980)
})

test('a slot is not used before its time', () => {
  const hand = new SlotsInHand(paceOf(LIMIT))
  hand.add([500])
  expect(hand.opensAt(450)).toBe(500)
})

test('requests that are late within the tolerance do not delay those behind them', () => {
  const pace = paceOf(LIMIT)
  const hand = new SlotsInHand(pace)
  hand.add(line(pace, 3))
  hand.use(5)
  expect(hand.opensAt(5)).toBe(pace.interval)
  hand.use(pace.interval + 9)
  expect(hand.opensAt(pace.interval + 9)).toBe(2 * pace.interval)
})

test('a process that was frozen gives up old slots, and uses the others one after the other', () => {
  const pace = paceOf(LIMIT)
  const hand = new SlotsInHand(pace)
  hand.add(line(pace, 50))
  hand.use(0)
  const frozenUntil = 300
  const times = useAll(hand, frozenUntil)
  expect(times[0]).toBe(frozenUntil)
  expect(times.length).toBe(50 - 1 - 19)
  const [, ...later] = times
  for (const [index, time] of later.entries()) {
    const before = Math.max(times[index] ?? 0, frozenUntil)
    expect(time - before).toBeGreaterThan(pace.interval * 0.98 - (index === 0 ? pace.tolerance : 0))
  }
})

test('however a process is held up, no stretch of the period has more requests than the limit', () => {
  const limits = fc.record({
    requests: fc.integer({ min: 1, max: 300 }),
    perMs: fc.constantFrom(100, 1000, 60_000),
  })
  const stalls = fc.array(
    fc.record({ after: fc.nat(60), share: fc.double({ min: 0, max: 0.5, noNaN: true }) }),
  )
  fc.assert(
    fc.property(limits, stalls, (limit, held) => {
      const pace = paceOf(limit)
      const hand = new SlotsInHand(pace)
      hand.add(line(pace, limit.requests * 4))
      const times: number[] = []
      let now = 0
      for (const { after, share } of held) {
        times.push(...useAll(hand, now, after))
        now = Math.max(now, times.at(-1) ?? 0) + share * limit.perMs
      }
      times.push(...useAll(hand, now))
      expect(crowds(limit, times)).toEqual([])
    }),
  )
})

function line({ interval }: ReturnType<typeof paceOf>, count: number): number[] {
  return Array.from({ length: count }, (_, n) => n * interval)
}

/** Uses at most `count` slots as soon as each may be used, and returns when. */
function useAll(hand: SlotsInHand, from: number, count = Infinity): number[] {
  const times: number[] = []
  let now = from
  while (times.length < count) {
    const opens = hand.opensAt(now)
    if (opens === undefined) break
    now = Math.max(now, opens)
    hand.use(now)
    times.push(now)
  }
  return times
}

/** The times of the requests that have `requests` others within the period before them. */
function crowds({ requests, perMs }: RequestLimit, times: readonly number[]): number[] {
  return times.filter((time, index) => time - (times[index - requests] ?? -Infinity) < perMs)
}

test('the quickest answer of late is believed', () => {
  const clock = createClock()
  expect(clock(1000, 1080, 51_070)).toBe(49_990)
  expect(clock(2000, 2002, 52_001)).toBe(49_999)
  expect(clock(3000, 3060, 53_010)).toBe(49_999)
})

test.each([
  ['forward', 3_600_000],
  ['back', -3_600_000],
])('a shared clock that is set %s is believed at once, however slow its answer', (_, change) => {
  const clock = createClock()
  clock(1000, 1002, 51_001)
  expect(clock(2000, 2050, 52_000 + change)).toBe(49_950 + change)
})
