import formbody from '@fastify/formbody'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { type Access, guardAccess, isSameToken } from './access.ts'
import { answerErrors } from './answer-errors.ts'
import { addActions } from './pages/actions.ts'
import { addAssets } from './pages/assets.ts'
import { addDownloads } from './pages/downloads.ts'
import { addEvents } from './pages/events.ts'
import { html } from './pages/html.ts'
import { layout } from './pages/layout.ts'
import { signInForm, signInQuery } from './pages/params.ts'
import { addPages, type PageSources, sendPage } from './pages/routes.ts'
import { signInPage } from './pages/sign-in.ts'
import { refuseForeignForms } from './same-origin.ts'
import { signIn, signOut } from './session.ts'
import { addWatching, type Watching } from './watching.ts'

export interface PagesOptions extends PageSources {
  readonly watching: Watching
  readonly access: Access
}

const SIGN_IN = '/sign-in'

/** The admin pages. Never listens by itself. */
export function buildPages({ watching, access, ...sources }: PagesOptions): FastifyInstance {
  const app = Fastify({ forceCloseConnections: true })
  answerErrors(app, ({ message }, request, reply) => sendProblem(message, request, reply))
  app.setNotFoundHandler((request, reply) =>
    sendProblem('There is no such page.', request, reply.status(404)),
  )
  guardAccess(app, access, SIGN_IN)
  refuseForeignForms(app, access)
  void app.register(formbody)
  addWatching(app, watching)
  addAssets(app)
  addSignIn(app, access)
  addPages(app, sources)
  addDownloads(app, sources.browse)
  addEvents(app, sources.browse)
  addActions(app, sources.control)
  return app
}

function sendProblem(message: string, { viewer }: FastifyRequest, reply: FastifyReply): FastifyReply {
  const title = 'That did not work'
  const body = html`<h1>${title}</h1>
    <p class="box bad" role="alert">${message}</p>
    <p><a href="/">Overview</a></p>`
  return sendPage(reply, layout({ title, body }, viewer))
}

const PUBLIC = { config: { isPublic: true } }

function addSignIn(app: FastifyInstance, { token }: Access): void {
  app.get(SIGN_IN, PUBLIC, (request, reply) => {
    const { to } = signInQuery.parse(request.query)
    return sendPage(reply, layout(signInPage(to), request.viewer))
  })
  app.post(SIGN_IN, PUBLIC, async (request, reply) => {
    const { user, token: given, to = '/' } = signInForm.parse(request.body)
    const wanted = await token?.()
    if (wanted === undefined || !isSameToken(given.trim(), wanted))
      return sendPage(reply.status(401), layout(signInPage(to, 'This is not the token.'), request.viewer))
    const isSecure = request.headers['x-forwarded-proto'] === 'https'
    return reply.header('set-cookie', signIn(user, wanted, isSecure)).redirect(ownPath(to), 303)
  })
  app.post('/sign-out', PUBLIC, (_request, reply) =>
    reply.header('set-cookie', signOut()).redirect(SIGN_IN, 303),
  )
}

/** A path of this listener: nobody is sent to another one after he has signed in. */
function ownPath(to: string): string {
  return /^\/(?![/\\])[!-~]*$/.test(to) ? to : '/'
}
