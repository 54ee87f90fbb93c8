import { type IncomingMessage, METHODS } from 'node:http'
import { MIMEType } from 'node:util'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Problem, problemBody, PROBLEM_TYPE } from './problem.ts'

/** A name or an address, with or without a port; empty where the request target has no host. */
const HOST = /^(?:\[[\da-f:.]+\]|[\w.~!$&'()*+;=%-]*)(?::\d*)?$/i

/** Headers that may come once: Node shows the first of two, but a proxy in front may have read the second. */
const SINGLE: ReadonlySet<string> = new Set(['host', 'authorization', 'content-type'])

/**
 * Refuses with a problem what HTTP requires to refuse: HTTP/1.1 without a usable Host (Node must not require it: its
 * answer has no body), a repeated header, a body that is encoded or not UTF-8, and an `Expect` other than
 * `100-continue`.
 */
export function enforceHttpRules(app: FastifyInstance): void {
  app.addHook('onRequest', async ({ raw }) => {
    const repeated = repeatedHeader(raw)
    if (repeated !== undefined)
      throw new Problem('malformed', `The header ${repeated} is there more than once.`)
    const { host } = raw.headers
    if (host === undefined && raw.httpVersion === '1.1') {
      throw new Problem('malformed', 'The header Host is missing.')
    }
    if (host !== undefined && !HOST.test(host)) {
      throw new Problem('malformed', 'The header Host must be a name or an address.')
    }
  })
  app.addHook('preParsing', async (request) => refuseUnreadableBody(request))
  app.server.on('checkExpectation', (_request, response) => {
    const problem = new Problem('malformed', 'The header Expect may only be 100-continue.')
    response.writeHead(problem.status, { 'content-type': PROBLEM_TYPE, connection: 'close' })
    response.end(JSON.stringify(problemBody(problem)))
  })
}

function repeatedHeader({ rawHeaders }: IncomingMessage): string | undefined {
  const seen = new Set<string>()
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!
    const key = name.toLowerCase()
    if (seen.has(key)) return name
    if (SINGLE.has(key)) seen.add(key)
  }
  return undefined
}

function refuseUnreadableBody({ headers }: FastifyRequest): void {
  const {
    'transfer-encoding': transfer,
    'content-length': length = '0',
    'content-encoding': coding = 'identity',
    'content-type': type = '',
  } = headers
  if (transfer !== undefined && transfer.toLowerCase() !== 'chunked') {
    throw new Problem('malformed', 'The header Transfer-Encoding may only be chunked.')
  }
  const hasBody = transfer !== undefined || Number(length) > 0
  if (!hasBody) return
  if (coding.toLowerCase() !== 'identity') {
    throw new Problem('media-type-unsupported', 'The body must not be compressed or otherwise encoded.', {
      headers: { 'accept-encoding': 'identity' },
    })
  }
  if (!READABLE_CHARSETS.has(charsetOf(type))) {
    throw new Problem(
      'media-type-unsupported',
      'The body must be UTF-8, and Content-Type may name no other charset.',
    )
  }
}

/** Names of UTF-8 and of ASCII, which is a part of it. */
const READABLE_CHARSETS: ReadonlySet<string> = new Set(['utf-8', 'utf8', 'us-ascii'])

function charsetOf(type: string): string {
  try {
    return new MIMEType(type).params.get('charset')?.toLowerCase() ?? 'utf-8'
  } catch {
    // Fastify refuses an invalid media type.
    return 'utf-8'
  }
}

/** The request target may be a whole URL, as clients send it to a proxy. */
export function pathOfTarget(target: string): string {
  const path = target.replace(/^https?:\/\/[^/?#]*/i, '')
  return path === target || path.startsWith('/') ? path : `/${path}`
}

/** Adds every method of HTTP, so that `refuseOtherMethods` can refuse it. */
export function addAllMethods(app: FastifyInstance): void {
  const known = app.supportedMethods
  for (const method of METHODS) if (!known.includes(method)) app.addHttpMethod(method)
}

/** HEAD works where GET does. */
export function refuseOtherMethods(app: FastifyInstance, url: string, methods: readonly string[]): void {
  const allowed = methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
  const allow = allowed.join(', ')
  const refuse = async () => {
    throw new Problem('method-not-allowed', `This path has only ${allow}.`, { headers: { allow } })
  }
  const others = app.supportedMethods.filter((method) => !allowed.includes(method))
  // Before the body is read.
  app.route({ method: others, url, onRequest: refuse, handler: refuse })
}
