import formbody from '@fastify/formbody'
import Fastify, {
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify'
import { type Access, ANYBODY, guardAccess, HEADERS, isSameToken, type Viewer } from './access.ts'
import { answerErrors, asJson, isBrowser, read } from './answer-errors.ts'
import { addActions } from './pages/actions.ts'
import { addAssets } from './pages/assets.ts'
import { addDownloads } from './pages/downloads.ts'
import { addEvents } from './pages/events.ts'
import { html, type Html, path } from './pages/html.ts'
import { layout } from './pages/layout.ts'
import { runParams, signInForm, signInQuery } from './pages/params.ts'
import { addPages, type PageSources, sendPage } from './pages/routes.ts'
import { signInPage } from './pages/sign-in.ts'
import { refuseForeignForms } from './same-origin.ts'
import { signIn, signOut } from './session.ts'
import { addWatching, type Watching } from './watching.ts'

export interface PagesOptions extends PageSources {
  readonly watching: Watching
  readonly access: Access
  /** Hears who resumed a sync. */
  readonly resumed: (sync: string, by: string) => void
}

const SIGN_IN = '/sign-in'

/** The admin pages. Never listens by itself. */
export function buildPages({ watching, access, resumed, ...sources }: PagesOptions): FastifyInstance {
  const app = Fastify({ forceCloseConnections: true, frameworkErrors: refuseAddress })
  answerErrors(app, ({ message }, { viewer, params }, reply) =>
    sendProblem(message, viewer, reply, runParams.safeParse(params).data?.run),
  )
  app.setNotFoundHandler(({ viewer }, reply) =>
    sendProblem('There is no such page.', viewer, reply.status(404)),
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
  addActions(app, sources.control, resumed)
  return app
}

/** Of an address that leads to no page, whoever asks: no hook sees such a request. */
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

/** @param run the run that was asked for, or acted upon */
function sendProblem(message: string, viewer: Viewer, reply: FastifyReply, run?: number): FastifyReply {
  const isNamed = new RegExp(`\\brun ${run}\\b`, 'i').test(message)
  const title = 'That did not work'
  const body = html`<h1>${title}</h1>
    <p class="box bad" role="alert">${withLinks(message)}</p>
    ${run !== undefined && !isNamed && html`<p>${runLink(`Run ${run}`)}</p>`}
    <p><a href="/">Overview</a></p>`
  return sendPage(reply, layout({ title, body }, viewer))
}

/** A message whose runs are links, but for one that there is not. */
function withLinks(message: string): readonly (Html | string)[] {
  return message.split(/(?<!no )\b([Rr]un \d+)\b/).map((part, at) => (at % 2 === 0 ? part : runLink(part)))
}

function runLink(words: string): Html {
  return html`<a href="${path`/runs/${words.slice(4)}`}">${words}</a>`
}

const PUBLIC = { config: { isPublic: true } }

function addSignIn(app: FastifyInstance, { token, wrongToken }: Access): void {
  app.get(SIGN_IN, PUBLIC, (request, reply) => {
    const { to } = read(signInQuery, request.query)
    return sendPage(reply, layout(signInPage(to), request.viewer))
  })
  app.post(SIGN_IN, PUBLIC, async (request, reply) => {
    const { user, token: given, to = '/' } = read(signInForm, request.body)
    const wanted = await token?.()
    if (wanted === undefined || !isSameToken(given.trim(), wanted)) {
      wrongToken(request.ip)
      return sendPage(reply.status(401), layout(signInPage(to, 'This is not the token.'), request.viewer))
    }
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
