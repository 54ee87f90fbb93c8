import type { RateLimit } from '../http/limits.ts'

/**
 * A sliding window over the requests that were let through. Called once per request with the time in milliseconds;
 * returns 0 to let it through, or the milliseconds after which the next one has a place.
 */
export function createRateLimiter({ requests, per }: RateLimit): (now: number) => number {
  const passed: number[] = []
  return (now) => {
    while (passed.length > 0 && passed[0]! <= now - per) passed.shift()
    if (passed.length >= requests) return passed[0]! + per - now
    passed.push(now)
    return 0
  }
}
