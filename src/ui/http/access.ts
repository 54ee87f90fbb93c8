import { isIP } from 'node:net'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { isBrowser } from './answer-errors.ts'
import { withQuery } from '../pages/html.ts'
import { isSameToken } from './same-token.ts'
import { type SessionPlace, sessionUser } from './session.ts'
import { clientReader, type TrustedProxy } from './trusted-proxy.ts'

export interface Access {
  /** Allowed `Host` names besides addresses and `localhost`; lower case. */
  readonly hosts: readonly string[]
  /** Part of the cookie's name, because browsers send a cookie to all ports of a host. */
  readonly port: number
  /** Every request needs the token unless a trusted proxy names a user. */
  readonly token: () => Promise<string>
  readonly proxy: TrustedProxy | undefined
  /** Called with the address that showed a wrong token, or as a proxy a wrong secret. */
  readonly wrongToken: (address: string) => void
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** No token, and any `Host` name. */
    readonly isOpen?: boolean
    /** No token: the answers name no user. */
    readonly isPublic?: boolean
  }

  interface FastifyRequest {
    viewer: Viewer
    clientAddress: string
  }
}

export interface Viewer {
  /** Undefined for a program that shows the token without a name, and on public pages. */
  readonly user: string | undefined
  /** Undefined on public pages. */
  readonly by: 'proxy' | 'session' | 'token' | undefined
}

export const ANYBODY: Viewer = { user: undefined, by: undefined }

export const HEADERS = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  // With `no-referrer`, a browser without TLS does not send the origin of a form.
  'referrer-policy': 'same-origin',
  'cache-control': 'no-store',
}

/**
 * Authentication, and the headers against sniffing and framing. In DNS rebinding, a foreign page asks under its own
 * host name, which is refused.
 *
 * @param signIn path of the sign-in page, if there is one
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

/** A browser goes to the sign-in page, then to the page it asked for, or to the page of its form. */
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
