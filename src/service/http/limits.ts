import type { FastifyRequest } from 'fastify'
import { tokenOf } from '../access-token.ts'
import { clientIp, clientKey } from './client-address.ts'
import { Problem, tooManyRequests } from './problem.ts'
import { createRateLimiter, type RateLimit } from './rate-limiter.ts'
import { hashToken } from '../store/tokens.ts'

/**
 * Throws a `Problem` (too-many-requests) before the authentication if the limit is already reached, and after it if
 * this request exceeds the limit.
 */
export type Limits = <Result>(request: FastifyRequest, authenticate: () => Promise<Result>) => Promise<Result>

export const NO_LIMITS: Limits = (_request, authenticate) => authenticate()

/** A hash takes some 100 bytes. */
const MAX_VALID_KEYS = 10_000

/**
 * Limits the requests of each token, and for each address (IPv6: each /64) the requests without a valid token. Above
 * the limit of an address, the store is queried only for recently valid tokens, so that one misbehaving client does not
 * block others behind the same address. Each process counts separately.
 */
export function createLimits(limit: RateLimit): Limits {
  const byToken = createRateLimiter(limit)
  const byAddress = createRateLimiter(limit)
  const validKeys = createRecentKeys(MAX_VALID_KEYS)

  return async (request, authenticate) => {
    const key = keyOf(request)
    const address = clientKey(clientIp(request))
    refuseToWait(byToken.waitOf(key))
    if (!validKeys.has(key)) refuseToWait(byAddress.waitOf(address))
    const result = await authenticate().catch((error: unknown) => {
      if (!(error instanceof Problem) || error.code !== 'token-refused') throw error
      validKeys.forget(key)
      refuseToWait(byAddress.take(address))
      throw error
    })
    validKeys.add(key)
    refuseToWait(byToken.take(key))
    return result
  }
}

/** The hash of the token; empty without a token, and this empty key is never remembered or counted. */
function keyOf(request: FastifyRequest): string {
  const token = tokenOf(request.headers.authorization)
  return token === undefined ? '' : hashToken(token)
}

/** Throws a `Problem` (too-many-requests) unless `wait` is 0 milliseconds. */
export function refuseToWait(wait: number): void {
  if (wait > 0) throw tooManyRequests(wait)
}

interface RecentKeys {
  has(key: string): boolean
  add(key: string): void
  forget(key: string): void
}

/** The newest keys, at most `size`. */
function createRecentKeys(size: number): RecentKeys {
  const keys = new Set<string>()
  return {
    has: (key) => keys.has(key),
    add(key) {
      if (keys.has(key)) return
      const [oldest] = keys
      if (keys.size >= size && oldest !== undefined) keys.delete(oldest)
      keys.add(key)
    },
    forget: (key) => void keys.delete(key),
  }
}
