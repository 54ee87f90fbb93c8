import type { FastifyInstance, FastifyRequest } from 'fastify'

const HARMLESS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * Refuses changing requests from foreign pages: browsers send passwords and sessions along with them. A program sends no
 * origin, so it must show the token itself; otherwise a request forged through it could decide about a plan.
 */
export function refuseForeignForms(app: FastifyInstance): void {
  app.addHook('onRequest', async (request, reply) => {
    if (HARMLESS.has(request.method) || isOwn(request)) return
    return reply.status(403).send({ code: 'foreign-form', message: FOREIGN })
  })
}

const FOREIGN = 'This form is not of dirsyncd, so nothing was changed.'

function isOwn({ headers, host, viewer }: FastifyRequest): boolean {
  const site = headers['sec-fetch-site']
  if (site !== undefined) return site === 'same-origin'
  const { origin } = headers
  if (origin !== undefined) return URL.parse(origin)?.host === host
  return viewer.by === 'token'
}
