import type { FastifyInstance, FastifyRequest } from 'fastify'

const HARMLESS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * Refuses whatever would change something and comes from a page of somebody else: browsers send passwords and sessions
 * along with it. A program that is no browser does not say where it comes from, so it has to show the token itself:
 * otherwise a request that somebody else makes it send could decide about a plan.
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
