import { expect, test } from 'vitest'
import { Throttle } from '../../../../src/sync/apply/throttle.ts'

function times(count: number, work: () => void): void {
  for (let n = 0; n < count; n++) work()
}

/** What is in flight after a pause in which the service refuses this many requests. */
function inFlightAfter(throttle: Throttle, refused: number): number {
  const before = throttle.pauses
  times(refused, () => throttle.refused(before))
  return throttle.limit.concurrency
}

test('halves what is in flight in each pause in which most of it is refused, down to one request', () => {
  const throttle = new Throttle(20)
  const seen = [20, 10, 5, 2, 1, 1].map((refused) => inFlightAfter(throttle, refused))
  expect(seen).toEqual([10, 5, 2, 1, 1, 1])
  expect(throttle.pauses).toBe(6)
})

test('has as much in flight as before where the service refuses one request here and there', () => {
  const throttle = new Throttle(20)
  expect([1, 3, 10].map((refused) => inFlightAfter(throttle, refused))).toEqual([20, 20, 20])
})

test('halves once in a pause, however many are refused', () => {
  expect(inFlightAfter(new Throttle(20), 100)).toBe(10)
})

test('counts what all chunks in flight are told as one pause', () => {
  const throttle = new Throttle(20)
  times(5, () => throttle.pause(0))
  throttle.refused(0)
  expect({ pauses: throttle.pauses, inFlight: throttle.limit.concurrency }).toEqual({
    pauses: 1,
    inFlight: 20,
  })
})

test('has one more in flight after every hundred answers, never more than at first', () => {
  const throttle = new Throttle(3)
  expect(inFlightAfter(throttle, 3)).toBe(1)
  times(99, () => throttle.answered())
  expect(throttle.limit.concurrency).toBe(1)
  throttle.answered()
  expect(throttle.limit.concurrency).toBe(2)
  times(1000, () => throttle.answered())
  expect(throttle.limit.concurrency).toBe(3)
})

test('lets as many run at once as it says', async () => {
  const throttle = new Throttle(4)
  inFlightAfter(throttle, 4)
  let now = 0
  let most = 0
  await Promise.all(
    Array.from({ length: 20 }, () =>
      throttle.limit(async () => {
        most = Math.max(most, (now += 1))
        await Promise.resolve()
        now -= 1
      }),
    ),
  )
  expect(most).toBe(2)
})
