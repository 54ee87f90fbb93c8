import { type IncomingMessage, METHODS } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Problem, problemBody, PROBLEM_TYPE } from './problem.ts'

/** A name or an address, with or without a port; empty where the target of the request has no host. */
const HOST = /^(?:\[[\da-f:.]+\]|[\w.~!$&'()*+;=%-]*)(?::\d*)?$/i

/**
 * Refuses, with a problem as body, what HTTP demands to refuse: HTTP/1.1 without a usable Host (Node must not require
 * it: its answer has no body), a body with a content coding, and an `Expect` other than `100-continue`.
 */
export function enforceHttpRules(app: FastifyInstance): void {
  app.addHook('onRequest', async ({ raw }) => {
    const hosts = hostsOf(raw)
    if (hosts.length === 0 && raw.httpVersion === '1.1') {
      throw new Problem('malformed', 'The header Host is missing.')
    }
    if (hosts.length > 1 || !hosts.every((host) => HOST.test(host))) {
      throw new Problem('malformed', 'The header Host must be one name or address.')
    }
  })
  app.addHook('preParsing', async (request) => refuseCodedBody(request))
  app.server.on('checkExpectation', (_request, response) => {
    const problem = new Problem('malformed', 'The header Expect may only be 100-continue.')
    response.writeHead(problem.status, { 'content-type': PROBLEM_TYPE, connection: 'close' })
    response.end(JSON.stringify(problemBody(problem)))
  })
}

/** Every Host of a request: `headers` has only the first. */
function hostsOf({ rawHeaders }: IncomingMessage): string[] {
  return rawHeaders.filter((_, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === 'host')
}

function refuseCodedBody({ headers }: FastifyRequest): void {
  const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
  const { 'content-encoding': coding = 'identity' } = headers
  if (!hasBody || coding.toLowerCase() === 'identity') return
  throw new Problem('media-type-unsupported', 'The body must not be compressed or otherwise encoded.', {
    headers: { 'accept-encoding': 'identity' },
  })
}

/** The path of a request whose target is a whole address, as it is sent to a proxy. */
export function pathOfTarget(target: string): string {
  const path = target.replace(/^https?:\/\/[^/?#]*/i, '')
  return path === target || path.startsWith('/') ? path : `/${path}`
}

/** Knows every method of HTTP, so that `refuseOtherMethods` refuses each. */
export function knowAllMethods(app: FastifyInstance): void {
  const known = app.supportedMethods
  for (const method of METHODS) if (!known.includes(method)) app.addHttpMethod(method)
}

/** Answers 405 to every other method of the path. HEAD works where GET does. */
export function refuseOtherMethods(app: FastifyInstance, url: string, methods: readonly string[]): void {
  const allowed = methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
  const allow = allowed.join(', ')
  const refuse = async () => {
    throw new Problem('method-not-allowed', `This path has only ${allow}.`, { headers: { allow } })
  }
  const others = app.supportedMethods.filter((method) => !allowed.includes(method))
  // Before the body is looked at.
  app.route({ method: others, url, onRequest: refuse, handler: refuse })
}
