import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Access } from './access.ts'

const HARMLESS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * Refuses whatever would change something and comes from a page of somebody else: browsers send passwords and sessions
 * along with it. A program that is no browser does not say where it comes from, so it has to show the token itself, and
 * where there is none it changes nothing: otherwise whoever gets another program of this machine to send a request could
 * decide about a plan.
 */
export function refuseForeignForms(app: FastifyInstance, { token }: Pick<Access, 'token'>): void {
  app.addHook('onRequest', async (request, reply) => {
    if (HARMLESS.has(request.method) || isOwn(request, token !== undefined)) return
    return reply.status(403).send({ code: 'foreign-form', message: FOREIGN })
  })
}

const FOREIGN = 'This form is not of dirsyncd, so nothing was changed.'

function isOwn({ headers, host }: FastifyRequest, hasToken: boolean): boolean {
  const site = headers['sec-fetch-site']
  if (site !== undefined) return site === 'same-origin'
  const { origin, authorization } = headers
  if (origin !== undefined) return URL.parse(origin)?.host === host
  // The token was looked at before.
  return hasToken && authorization !== undefined
}
