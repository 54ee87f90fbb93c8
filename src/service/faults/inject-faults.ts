import { setTimeout as wait } from 'node:timers/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { drawFault, type Faults, type FaultShare } from './faults.ts'
import { Problem, tooManyRequests } from '../http/problem.ts'
import type { RateLimit } from '../http/limits.ts'
import type { RequestRecord } from '../http/record.ts'

/**
 * What happens to a request before any work: a fault that is drawn, or a 429 above the limit, noted in its record.
 * For `drop-after` nothing is done yet: the connection is cut when the work is done.
 */
export function createFaultInjector(
  faults: Faults,
): (request: FastifyRequest, reply: FastifyReply, record: RequestRecord) => Promise<void> {
  const limiter = faults.limit === undefined ? () => 0 : createRateLimiter(faults.limit)
  return async (request, reply, record) => {
    const over = limiter(performance.now())
    if (over > 0) {
      record.fault = 'limit'
      throw tooManyRequests(over)
    }
    const fault = drawFault(faults)
    record.fault = fault?.kind
    if (fault?.kind !== 'drop-before') return apply(fault)
    reply.hijack()
    request.raw.socket.destroy()
  }
}

async function apply(fault: FaultShare | undefined): Promise<void> {
  if (fault?.kind === '500') throw new Problem('internal', 'This failure was asked for with --faults.')
  if (fault?.kind === '429') throw tooManyRequests(fault.wait)
  // A process that has nothing else to do need not wait for it.
  if (fault?.kind === 'latency') await wait(fault.wait, undefined, { ref: false })
}

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
