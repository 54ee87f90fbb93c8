/** `per` is in milliseconds. */
export interface RateLimit {
  readonly requests: number
  readonly per: number
}

/** Both methods return the milliseconds to wait; 0 below the limit. */
export interface RateLimiter {
  waitOf(key: string | number): number
  /** Counts one request, unless it has to wait. */
  take(key: string | number): number
}

/** Some 10 MB, and more than the addresses with which one client could evict others. */
const MAX_KEYS = 100_000

/**
 * The first request of a key begins a window of `per` milliseconds with `requests` requests. `now` is a clock in
 * milliseconds.
 */
export function createRateLimiter(
  { requests, per }: RateLimit,
  now: () => number = () => performance.now(),
): RateLimiter {
  /** In the order of their ends, because all windows are equally long. */
  const windows = new Map<string | number, { readonly end: number; count: number }>()

  function dropEnded(): void {
    for (const [key, { end }] of windows) {
      if (end > now()) return
      windows.delete(key)
    }
  }

  function waitOf(key: string | number): number {
    dropEnded()
    const window = windows.get(key)
    return window === undefined || window.count < requests ? 0 : window.end - now()
  }

  return {
    waitOf,
    take(key) {
      const wait = waitOf(key)
      if (wait > 0) return wait
      const window = windows.get(key)
      if (window === undefined) {
        const [oldest] = windows.keys()
        if (windows.size >= MAX_KEYS && oldest !== undefined) windows.delete(oldest)
        windows.set(key, { end: now() + per, count: 1 })
      } else {
        window.count += 1
      }
      return 0
    },
  }
}
