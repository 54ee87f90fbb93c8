import formbody from '@fastify/formbody'
import Fastify, {
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify'
import type { Log } from '../../base/log/log.ts'
import { type Access, ANYBODY, guardAccess, HEADERS, type Viewer } from '../http/access.ts'
import { answerErrors, asJson, isBrowser, read } from '../http/answer-errors.ts'
import { addActions } from './actions.ts'
import { addAssets } from './assets.ts'
import { addDownloads } from './downloads.ts'
import { addEvents } from './events.ts'
import { html, path } from './html.ts'
import { layout } from './layout.ts'
import { runParams, signInCodeParams, signInForm, signInQuery } from './params.ts'
import { addPages, type PageSources, sendPage } from './routes.ts'
import { signInPage } from './sign-in.ts'
import { refuseForeignForms } from '../http/same-origin.ts'
import { isSameToken } from '../http/same-token.ts'
import { sessionUser, signIn, signOut } from '../http/session.ts'
import type { SignInCode } from '../http/sign-in-code.ts'
import { addWatching, type Watching } from '../http/watching.ts'

export interface PagesOptions extends PageSources {
  readonly watching: Watching
  readonly access: Access
  readonly signInCode: SignInCode | undefined
  readonly log: Log
}

const SIGN_IN = '/sign-in'

/** Never listens by itself. */
export function buildPages({ watching, access, signInCode, log, ...sources }: PagesOptions): FastifyInstance {
  const app = Fastify({ forceCloseConnections: true, frameworkErrors: refuseAddress })
  answerErrors(app, log, ({ message }, { viewer, params, url }, reply) => {
    const run = runParams.safeParse(params).data?.run
    // The page of the run itself is no way out.
    return sendProblem(message, viewer, reply, url === `/runs/${run}` ? undefined : run)
  })
  app.setNotFoundHandler(({ viewer }, reply) =>
    sendProblem('There is no such page.', viewer, reply.status(404)),
  )
  guardAccess(app, access, SIGN_IN)
  refuseForeignForms(app)
  void app.register(formbody)
  addWatching(app, watching)
  addAssets(app)
  addSignIn(app, access, signInCode)
  addPages(app, sources)
  addDownloads(app, sources.browse)
  addEvents(app, sources.browse)
  addActions(app, sources.control, sources.browse)
  return app
}

/** Fastify calls no hook for an unknown path. */
function refuseAddress(
  { statusCode = 400 }: FastifyError,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  const message = `The address is ${statusCode === 414 ? 'too long' : 'not encoded as it should be'}.`
  void reply.status(statusCode).headers(HEADERS)
  if (isBrowser(request)) sendProblem(message, ANYBODY, reply)
  else void reply.send(asJson({ code: 'usage', message }))
}

function sendProblem(message: string, viewer: Viewer, reply: FastifyReply, run?: number): FastifyReply {
  const title = 'That did not work'
  const body = html`<h1>${title}</h1>
    <p class="box bad" role="alert">${message}</p>
    ${run !== undefined && html`<p><a href="${path`/runs/${run}`}">Run ${run}</a></p>`}
    <p><a href="/">Overview</a></p>`
  return sendPage(reply, layout({ title, body }, viewer))
}

const PUBLIC = { config: { isPublic: true } }

function addSignIn(
  app: FastifyInstance,
  { port, token, wrongToken }: Access,
  signInCode: SignInCode | undefined,
): void {
  const place = async () => ({ port, token: await token() })
  const enter = async (request: FastifyRequest, reply: FastifyReply, user: string, to: string) => {
    const isSecure = request.headers['x-forwarded-proto'] === 'https'
    return reply.header('set-cookie', signIn(user, await place(), isSecure)).redirect(ownPath(to), 303)
  }
  app.get(SIGN_IN, PUBLIC, (request, reply) => {
    const { to } = read(signInQuery, request.query)
    return sendPage(reply, layout(signInPage(to), request.viewer))
  })
  app.post(SIGN_IN, PUBLIC, async (request, reply) => {
    const { user, token: given, to = '/' } = read(signInForm, request.body)
    if (isSameToken(given.trim(), await token())) return enter(request, reply, user, to)
    wrongToken(request.clientAddress)
    return sendPage(reply.status(401), layout(signInPage(to, 'This is not the token.'), request.viewer))
  })
  // A HEAD request, with which programs check links, must not use the code up.
  app.get(`${SIGN_IN}/:code`, { ...PUBLIC, exposeHeadRoute: false }, async (request, reply) => {
    const user = signInCode?.use(read(signInCodeParams, request.params).code)
    if (user !== undefined) return enter(request, reply, user, '/')
    if (sessionUser(request.headers.cookie, await place()) !== undefined) return reply.redirect('/', 303)
    return sendPage(reply.status(401), layout(signInPage('/', USED_UP), request.viewer))
  })
  app.post('/sign-out', PUBLIC, (_request, reply) =>
    reply.header('set-cookie', signOut(port)).redirect(SIGN_IN, 303),
  )
}

const USED_UP = 'This link works once, within an hour of the start of the daemon. Sign in with the token.'

/** Only paths of this listener: no redirect to a foreign site after sign-in. */
function ownPath(to: string): string {
  return /^\/(?![/\\])[!-~]*$/.test(to) ? to : '/'
}
