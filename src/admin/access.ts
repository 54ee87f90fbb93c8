import { hash, timingSafeEqual } from 'node:crypto'
import { BlockList, isIP } from 'node:net'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { isBrowser } from './answer-errors.ts'
import { withQuery } from './pages/html.ts'
import { sessionUser } from './session.ts'

/** Who may see what a listener shows. */
export interface Access {
  /** Names under which it may be asked for, besides addresses and `localhost`; lower case. */
  readonly hosts: readonly string[]
  /** Reads the token that every request needs. Without it, and without a proxy, everybody may see everything. */
  readonly token: (() => Promise<string>) | undefined
  /** A reverse proxy that names the user in a header. */
  readonly proxy: { readonly header: string; readonly networks: readonly string[] } | undefined
  /** Hears of the address that showed a wrong token. */
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
  }
}

/** Who asks. */
export interface Viewer {
  /** Undefined where nobody has to say who he is. */
  readonly user: string | undefined
  /** Signed in on the page for it, so he can sign out. */
  readonly hasSession: boolean
}

export const ANYBODY: Viewer = { user: undefined, hasSession: false }

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
  const proxyUser = proxiesOf(access)
  app.decorateRequest('viewer')
  app.addHook('onRequest', async (request, reply) => {
    reply.headers(HEADERS)
    request.viewer = ANYBODY
    const { isOpen = false, isPublic = false } = request.routeOptions.config
    if (isOpen) return
    if (!isKnownHost(request, access)) return reply.status(421).send({ message: UNKNOWN_HOST })
    const { token, proxy, wrongToken } = access
    const named = proxyUser(request)
    if (named !== undefined) request.viewer = { user: named, hasSession: false }
    if (isPublic || named !== undefined || (token === undefined && proxy === undefined)) return
    if (token === undefined) return reply.status(401).send({ message: NO_USER })
    const viewer = viewerBy(request, await token())
    if (viewer === undefined) {
      if (request.headers.authorization !== undefined) wrongToken(request.ip)
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
const NO_USER = 'Ask through the reverse proxy: it names the user in the header of admin.userHeader.'
const NO_TOKEN =
  'A token is needed: as the password, with any user name, or as the header authorization: Bearer TOKEN.'

function isKnownHost({ host }: FastifyRequest, { hosts }: Access): boolean {
  const name = URL.parse(`http://${host}`)?.hostname ?? ''
  const isAddress = isIP(name.replace(/^\[|\]$/g, '')) !== 0
  return isAddress || name === 'localhost' || hosts.includes(name)
}

/** The user for whom a proxy asks. */
function proxiesOf({ proxy }: Access): (request: FastifyRequest) => string | undefined {
  if (proxy === undefined) return () => undefined
  const trusted = new BlockList()
  for (const network of proxy.networks) {
    const [address = '', prefix] = network.split('/')
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
    trusted.addSubnet(address, Number(prefix ?? (family === 'ipv6' ? 128 : 32)), family)
  }
  return ({ socket: { remoteAddress = '' }, headers }) => {
    const user = headers[proxy.header]
    if (typeof user !== 'string' || user.trim() === '' || isIP(remoteAddress) === 0) return undefined
    const isTrusted = trusted.check(remoteAddress, isIP(remoteAddress) === 6 ? 'ipv6' : 'ipv4')
    return isTrusted ? user.trim() : undefined
  }
}

/** Who shows the token, in the request itself or when he signed in. */
function viewerBy({ headers }: FastifyRequest, token: string): Viewer | undefined {
  const user = sessionUser(headers.cookie, token)
  if (user !== undefined) return { user, hasSession: true }
  const given = givenToken(headers.authorization ?? '')
  if (given === undefined || !isSameToken(given.token, token)) return undefined
  return { user: given.user, hasSession: false }
}

export function isSameToken(given: string, token: string): boolean {
  return timingSafeEqual(digest(given), digest(token))
}

function digest(text: string): Buffer {
  return hash('sha256', text, 'buffer')
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
