import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { drawFault, type Faults, type FaultShare } from './faults.ts'
import { Problem, tooManyRequests } from '../http/problem.ts'
import { createRateLimiter } from '../http/rate-limiter.ts'
import type { RequestRecord } from '../http/record.ts'

/**
 * Injects a randomly drawn fault or answers 429 above the limit, and notes it in the record. `drop-after` is only noted
 * here; the app cuts the connection after the work.
 */
export function createFaultInjector(
  faults: Faults,
): (request: FastifyRequest, reply: FastifyReply, record: RequestRecord) => Promise<void> {
  const limiter = faults.limit && createRateLimiter(faults.limit)
  return async (request, reply, record) => {
    const wait = limiter?.take('all') ?? 0
    if (wait > 0) {
      record.fault = 'limit'
      throw tooManyRequests(wait)
    }
    const fault = drawFault(faults)
    record.fault = fault?.kind
    if (fault?.kind !== 'drop-before') return apply(fault)
    reply.hijack()
    request.raw.socket.destroy()
  }
}

async function apply(fault: FaultShare | undefined): Promise<void> {
  if (fault?.kind === '500')
    throw new Problem('internal', 'The service injected this failure because of --faults.')
  if (fault?.kind === '429') throw tooManyRequests(fault.wait)
  // The timer alone does not keep the process alive.
  if (fault?.kind === 'latency') await sleep(fault.wait, undefined, { ref: false })
}
