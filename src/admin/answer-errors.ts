import type { FastifyInstance } from 'fastify'
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

/** Every error becomes a code and a sentence. */
export function answerErrors(app: FastifyInstance): void {
  app.setErrorHandler((error, _request, reply) => {
    const code =
      error instanceof DirsyncdError ? error.code : error instanceof z.ZodError ? 'usage' : 'internal'
    const status = STATUSES.get(code) ?? 400
    const message = error instanceof z.ZodError ? faultsOf(error) : sentence(error)
    return reply.status(status).send({ code, message })
  })
}

/** Zod's own message is JSON. */
function faultsOf({ issues }: z.ZodError): string {
  return issues.map(({ path, message }) => [path.join('.'), message].filter(Boolean).join(': ')).join('; ')
}
