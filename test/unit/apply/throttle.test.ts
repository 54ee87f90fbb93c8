import { expect, test } from 'vitest'
import { Throttle } from '../../../src/apply/throttle.ts'

function answer(throttle: Throttle, times: number): void {
  for (let n = 0; n < times; n++) throttle.answered()
}

test('halves what is in flight after each pause, down to one request', () => {
  const throttle = new Throttle(20)
  const seen = [1, 2, 3, 4, 5, 6].map(() => {
    throttle.pause(throttle.pauses)
    return throttle.limit.concurrency
  })
  expect(seen).toEqual([10, 5, 2, 1, 1, 1])
})

test('counts what all chunks in flight are told as one pause', () => {
  const throttle = new Throttle(20)
  const before = throttle.pauses
  for (let n = 0; n < 20; n++) throttle.pause(before)
  expect({ pauses: throttle.pauses, inFlight: throttle.limit.concurrency }).toEqual({
    pauses: 1,
    inFlight: 10,
  })
})

test('has one more in flight after every hundred answers since the last pause, never more than at first', () => {
  const throttle = new Throttle(3)
  throttle.pause(throttle.pauses)
  answer(throttle, 99)
  throttle.pause(throttle.pauses)
  answer(throttle, 99)
  expect(throttle.limit.concurrency).toBe(1)
  answer(throttle, 1)
  expect(throttle.limit.concurrency).toBe(2)
  answer(throttle, 1000)
  expect(throttle.limit.concurrency).toBe(3)
})

test('lets as many run at once as it says', async () => {
  const throttle = new Throttle(4)
  throttle.pause(throttle.pauses)
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
