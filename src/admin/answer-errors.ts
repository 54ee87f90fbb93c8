import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { DirsyncdError, type ErrorCode, sentence } from '../errors.ts'

/** All other errors are the fault of who asks. */
const STATUSES = new Map<ErrorCode, number>([
  ['run-unknown', 404],
  ['internal', 500],
  ['store-unavailable', 503],
  ['secret-unavailable', 503],
  ['interrupted', 503],
])

export interface Problem {
  readonly status: number
  readonly code: string
  /** In a sentence. */
  readonly message: string
}

/**
 * Every error becomes a code and a sentence.
 *
 * @param sendPage shows it to a person; left out where only programs ask
 */
export function answerErrors(
  app: FastifyInstance,
  sendPage?: (problem: Problem, request: FastifyRequest, reply: FastifyReply) => FastifyReply,
): void {
  app.setErrorHandler((error, request, reply) => {
    const problem = problemOf(error)
    void reply.status(problem.status)
    const isBrowser = request.headers.accept?.includes('text/html') === true
    if (sendPage !== undefined && isBrowser) return sendPage(problem, request, reply)
    const { code, message } = problem
    return reply.send({ code, message })
  })
}

function problemOf(error: unknown): Problem {
  if (error instanceof z.ZodError) return { status: 400, code: 'usage', message: faultsOf(error) }
  if (error instanceof DirsyncdError)
    return { status: STATUSES.get(error.code) ?? 400, code: error.code, message: sentence(error) }
  // Of Fastify, about a request that it cannot read.
  const { statusCode = 500 } = error as { readonly statusCode?: number }
  return { status: statusCode, code: statusCode < 500 ? 'usage' : 'internal', message: sentence(error) }
}

/** Zod's own message is JSON. */
function faultsOf({ issues }: z.ZodError): string {
  return issues.map(({ path, message }) => [path.join('.'), message].filter(Boolean).join(': ')).join('; ')
}
