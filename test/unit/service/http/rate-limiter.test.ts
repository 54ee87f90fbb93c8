import { describe, expect, test } from 'vitest'
import { parseIp } from '../../../../src/service/events/ip-address.ts'
import { clientKey } from '../../../../src/service/http/client-address.ts'
import { createRateLimiter } from '../../../../src/service/http/rate-limiter.ts'

/** A limiter of two requests in a second, and the clock to set for it. */
function limiterAt() {
  let time = 0
  const limiter = createRateLimiter({ requests: 2, per: 1000 }, () => time)
  return (at: number, key = 'a') => {
    time = at
    return limiter.take(key)
  }
}

describe('a rate limit', () => {
  test('lets so many through in its time, and then says how long to wait', () => {
    const take = limiterAt()
    expect([take(0), take(600), take(700), take(999)]).toEqual([0, 0, 300, 1])
    expect([take(1000), take(1001), take(1600), take(2000)]).toEqual([0, 0, 400, 0])
  })

  test('counts each key for itself', () => {
    const take = limiterAt()
    expect([take(0, 'a'), take(0, 'a'), take(0, 'b'), take(1, 'a')]).toEqual([0, 0, 0, 999])
  })

  test('asking how long to wait counts nothing', () => {
    const limiter = createRateLimiter({ requests: 1, per: 1000 })
    expect([limiter.waitOf('a'), limiter.waitOf('a'), limiter.take('a')]).toEqual([0, 0, 0])
    expect(limiter.waitOf('a')).toBeGreaterThan(900)
  })

  test('forgets the oldest key when there are too many', () => {
    const limiter = createRateLimiter({ requests: 1, per: 1000 }, () => 0)
    limiter.take('oldest')
    for (let number = 1; number < 100_000; number += 1) limiter.take(number)
    expect([limiter.waitOf('oldest'), limiter.take(0), limiter.waitOf('oldest')]).toEqual([1000, 0, 0])
  })
})

test.each([
  ['192.0.2.1', '192.0.2.1', true],
  ['192.0.2.1', '192.0.2.2', false],
  ['192.0.2.1', '::ffff:192.0.2.1', true],
  ['2001:db8:0:1::1', '2001:db8:0:1:ffff::2', true],
  ['2001:db8:0:1::1', '2001:db8:0:2::1', false],
])('%s and %s are one client: %s', (first, second, same) => {
  expect(clientKey(parseIp(first)) === clientKey(parseIp(second))).toBe(same)
})
