import rateLimit from '@fastify/rate-limit'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { tokenOf } from '../access-token.ts'
import { Problem, tooManyRequests } from './problem.ts'
import { hashToken } from '../store/tokens.ts'

/** At most so many requests in a stretch of `per` milliseconds. */
export interface RateLimit {
  readonly requests: number
  readonly per: number
}

/**
 * Runs the authentication of a request within the limits: throws a `Problem` (too-many-requests) before it where there is
 * no use in trying, and after it where the request is one too many.
 */
export type Limits = <Result>(request: FastifyRequest, authenticate: () => Promise<Result>) => Promise<Result>

export const NO_LIMITS: Limits = (_request, authenticate) => authenticate()

/** Tokens that were good a short while ago; a hash takes some 100 bytes. */
const REMEMBERED = 10_000

/**
 * So many requests in a stretch of time for each token, known by its hash, and as many that fail the authentication
 * for each address (for IPv6: each /64). An address that is above its limit does not get the store asked any more, but for
 * tokens that were good before: whoever shares the address with a client gone wild goes on working. The counts are
 * those of this process.
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
  const good = createMemory(REMEMBERED)

  return async (request, authenticate) => {
    if (counts === undefined) throw new Error('the app is not ready')
    const key = keyOf(request)
    await refuseAbove(counts.token(request, { increment: false }))
    if (!good.has(key)) await refuseAbove(counts.address(request, { increment: false }))
    const result = await authenticate().catch(async (error: unknown) => {
      if (!(error instanceof Problem) || error.code !== 'token-refused') throw error
      good.forget(key)
      await refuseAbove(counts!.address(request))
      throw error
    })
    good.add(key)
    await refuseAbove(counts.token(request))
    return result
  }
}

/** Empty for a request without a token, which nobody remembers as good and no count goes up for. */
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

interface Memory {
  has(key: string): boolean
  add(key: string): void
  forget(key: string): void
}

/** The newest keys, at most so many. */
function createMemory(size: number): Memory {
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
