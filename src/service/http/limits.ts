import rateLimit from '@fastify/rate-limit'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { tokenOf } from '../access-token.ts'
import { Problem, tooManyRequests } from './problem.ts'
import { hashToken } from '../store/tokens.ts'

/** At most this many requests in `per` milliseconds. */
export interface RateLimit {
  readonly requests: number
  readonly per: number
}

/**
 * Runs the authentication of a request within the limits. Throws a `Problem` (too-many-requests): before it when the
 * limit is already reached, or after it when this request exceeds the limit.
 */
export type Limits = <Result>(request: FastifyRequest, authenticate: () => Promise<Result>) => Promise<Result>

export const NO_LIMITS: Limits = (_request, authenticate) => authenticate()

/** How many recently valid tokens are remembered; a hash takes some 100 bytes. */
const MAX_VALID_KEYS = 10_000

/**
 * Limits the requests of each token, and for each address (IPv6: each /64) the requests without a valid token. Above
 * the limit of an address the store is queried only for recently valid tokens, so that one misbehaving client does not
 * stop the others behind the same address. Each process counts for itself.
 */
export function createLimits(app: FastifyInstance, { requests, per }: RateLimit): Limits {
  type Count = ReturnType<FastifyInstance['createRateLimit']>
  let counts: { readonly token: Count; readonly address: Count } | undefined
  app.register(rateLimit, { global: false, max: requests, timeWindow: per }).after(() => {
    counts = {
      token: app.createRateLimit({ keyGenerator: keyOf }),
      address: app.createRateLimit({}),
    }
  })
  const validKeys = createRecentKeys(MAX_VALID_KEYS)

  return async (request, authenticate) => {
    if (counts === undefined) throw new Error('the app is not ready')
    const key = keyOf(request)
    await refuseAbove(counts.token(request, { increment: false }))
    if (!validKeys.has(key)) await refuseAbove(counts.address(request, { increment: false }))
    const result = await authenticate().catch(async (error: unknown) => {
      if (!(error instanceof Problem) || error.code !== 'token-refused') throw error
      validKeys.forget(key)
      await refuseAbove(counts!.address(request))
      throw error
    })
    validKeys.add(key)
    await refuseAbove(counts.token(request))
    return result
  }
}

/** The hash of the token; empty without a token, and this empty key is never remembered or counted. */
function keyOf(request: FastifyRequest): string {
  const token = tokenOf(request.headers.authorization)
  return token === undefined ? '' : hashToken(token)
}

async function refuseAbove(
  counted: ReturnType<ReturnType<FastifyInstance['createRateLimit']>>,
): Promise<void> {
  const count = await counted
  if (!count.isAllowed && count.isExceeded) throw tooManyRequests(count.ttl)
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
