import { isIP } from 'node:net'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { isBrowser } from './answer-errors.ts'
import { withQuery } from '../pages/html.ts'
import { isSameToken } from './same-token.ts'
import { type SessionPlace, sessionUser } from './session.ts'
import { clientReader, type TrustedProxy } from './trusted-proxy.ts'

/** Who may see what a listener shows. */
export interface Access {
  /** Names under which it may be asked for, besides addresses and `localhost`; lower case. */
  readonly hosts: readonly string[]
  /** The listener's port. It is part of the cookie's name, because browsers send a cookie to all ports of a host. */
  readonly port: number
  /** Reads the token that every request needs for which no trusted proxy names a user. */
  readonly token: () => Promise<string>
  readonly proxy: TrustedProxy | undefined
  /** Called with the address that showed a wrong token, or as a proxy a wrong secret. */
  readonly wrongToken: (address: string) => void
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whoever reaches the listener may ask, by any name and without a token. */
    readonly isOpen?: boolean
    /** No token is needed, because nothing is told of anybody. */
    readonly isPublic?: boolean
  }

  interface FastifyRequest {
    viewer: Viewer
    clientAddress: string
  }
}

/** Who asks. */
export interface Viewer {
  /** Undefined for a program that shows the token without a name, and on public pages. */
  readonly user: string | undefined
  /** What let the request in; undefined on public pages. */
  readonly by: 'proxy' | 'session' | 'token' | undefined
}

export const ANYBODY: Viewer = { user: undefined, by: undefined }

/** Of every answer; a page has a policy of its own. */
export const HEADERS = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  // With `no-referrer`, a browser without TLS would not say that a form is of this page.
  'referrer-policy': 'same-origin',
  'cache-control': 'no-store',
}

/**
 * Lets only those in who may come in, and has browsers take nothing for what it is not. A page of a stranger whose name
 * suddenly leads to this machine (DNS rebinding) asks under its own name, which is refused.
 *
 * @param signIn the path of the page on which people sign in, where there is one
 */
export function guardAccess(app: FastifyInstance, access: Access, signIn?: string): void {
  const clientOf = clientReader(access.proxy, access.wrongToken)
  app.decorateRequest('viewer')
  app.decorateRequest('clientAddress', '')
  app.addHook('onRequest', async (request, reply) => {
    reply.headers(HEADERS)
    request.viewer = ANYBODY
    const { isOpen = false, isPublic = false } = request.routeOptions.config
    if (isOpen) return
    if (!isKnownHost(request, access)) return reply.status(421).send({ message: UNKNOWN_HOST })
    const { address, user } = await clientOf(request)
    request.clientAddress = address
    if (user !== undefined) request.viewer = { user, by: 'proxy' }
    if (isPublic || user !== undefined) return
    const viewer = viewerBy(request, { port: access.port, token: await access.token() })
    if (viewer === undefined) {
      if (request.headers.authorization !== undefined) access.wrongToken(address)
      return refuse(request, reply, signIn)
    }
    request.viewer = viewer
  })
}

/** A browser is led to the page for signing in, and then to what it asked for, or to where its form was. */
function refuse(request: FastifyRequest, reply: FastifyReply, signIn: string | undefined) {
  const { method, url } = request
  if (signIn !== undefined && isBrowser(request))
    return reply.redirect(
      withQuery(signIn, { to: method === 'GET' ? url : url.replace(/\/[^/]*$/, '') || '/' }),
      303,
    )
  reply.header('www-authenticate', 'Basic realm="dirsyncd", charset="UTF-8"')
  return reply.status(401).send({ message: NO_TOKEN })
}

const UNKNOWN_HOST =
  'This name is not among those under which dirsyncd may be asked for: add it to admin.hosts.'
const NO_TOKEN =
  'A token is needed: as the password, with any user name, or as the header authorization: Bearer TOKEN.'

function isKnownHost({ host }: FastifyRequest, { hosts }: Access): boolean {
  const name = URL.parse(`http://${host}`)?.hostname ?? ''
  const isAddress = isIP(name.replace(/^\[|\]$/g, '')) !== 0
  return isAddress || name === 'localhost' || hosts.includes(name)
}

/** Who shows the token, in the request itself or when he signed in. */
function viewerBy({ headers }: FastifyRequest, place: SessionPlace): Viewer | undefined {
  const user = sessionUser(headers.cookie, place)
  if (user !== undefined) return { user, by: 'session' }
  const given = givenToken(headers.authorization ?? '')
  if (given === undefined || !isSameToken(given.token, place.token)) return undefined
  return { user: given.user, by: 'token' }
}

function givenToken(
  authorization: string,
): { readonly token: string; readonly user: string | undefined } | undefined {
  const [, scheme = '', value = ''] = /^(\S+) +(.*)$/.exec(authorization.trim()) ?? []
  if (scheme.toLowerCase() === 'bearer') return { token: value, user: undefined }
  if (scheme.toLowerCase() !== 'basic') return undefined
  const pair = Buffer.from(value, 'base64').toString('utf8')
  const colon = pair.indexOf(':')
  return { token: pair.slice(colon + 1), user: pair.slice(0, Math.max(0, colon)).trim() || undefined }
}
