import type { FastifyInstance } from 'fastify'
import { Problem, problemBody, PROBLEM_TYPE } from './problem.ts'

/**
 * Refuses, with a problem as body, two requests that Node would refuse without a body: HTTP/1.1 without a Host (so
 * `requireHostHeader` must be off), and an `Expect` other than `100-continue`.
 */
export function enforceHttpRules(app: FastifyInstance): void {
  app.addHook('onRequest', async ({ raw }) => {
    if (raw.headers.host === undefined && raw.httpVersion === '1.1') {
      throw new Problem('malformed', 'The header Host is missing.')
    }
  })
  app.server.on('checkExpectation', (_request, response) => {
    const problem = new Problem('malformed', 'The header Expect may only be 100-continue.')
    response.writeHead(problem.status, { 'content-type': PROBLEM_TYPE, connection: 'close' })
    response.end(JSON.stringify(problemBody(problem)))
  })
}
