import type { RequestLimit } from '../../src/queue/pace.ts'

/** How many requests a token bucket refuses that holds `requests` tokens, is full at first and refills evenly. */
export function refusedByTokenBucket({ requests, perMs }: RequestLimit, times: readonly number[]): number {
  let tokens = requests
  let last = times[0] ?? 0
  let refused = 0
  for (const time of times) {
    tokens = Math.min(requests, tokens + ((time - last) * requests) / perMs)
    last = time
    if (tokens >= 1) tokens -= 1
    else refused += 1
  }
  return refused
}

/**
 * The share of the limit that was used, without the first and the last period, in which the processes start and end.
 */
export function shareUsed({ requests, perMs }: RequestLimit, times: readonly number[]): number {
  const from = (times[0] ?? 0) + perMs
  const to = (times.at(-1) ?? 0) - perMs
  const between = times.filter((time) => time >= from && time < to)
  return between.length / ((requests * (to - from)) / perMs)
}
