import { hash, timingSafeEqual } from 'node:crypto'
import { BlockList, isIP } from 'node:net'
import type { FastifyInstance, FastifyRequest } from 'fastify'

/** Who may see what a listener shows. */
export interface Access {
  /** Names under which it may be asked for, besides addresses and `localhost`; lower case. */
  readonly hosts: readonly string[]
  /** Reads the token that every request needs. Without it, and without a proxy, everybody may see everything. */
  readonly token: (() => Promise<string>) | undefined
  /** A reverse proxy that names the user in a header. */
  readonly proxy: { readonly header: string; readonly networks: readonly string[] } | undefined
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whoever reaches the listener may ask, by any name and without a token. */
    readonly isOpen?: boolean
  }
}

const HEADERS = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
}

/** A page may load its style, by its digest, and nothing else. */
export function contentPolicy(style: string): string {
  const styleHash = hash('sha256', style, 'base64')
  return `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`
}

const NOTHING = "default-src 'none'; frame-ancestors 'none'"

/**
 * Lets only those in who may come in, and has browsers take nothing for what it is not. A page of a stranger whose name
 * suddenly leads to this machine (DNS rebinding) asks under its own name, which is refused.
 */
export function guardAccess(app: FastifyInstance, access: Access): void {
  const isProxy = proxiesOf(access)
  app.addHook('onRequest', async (request, reply) => {
    reply.headers({ ...HEADERS, 'content-security-policy': NOTHING })
    if (request.routeOptions.config.isOpen === true) return
    if (!isKnownHost(request, access)) return reply.status(421).send({ message: UNKNOWN_HOST })
    const { token, proxy } = access
    if ((token === undefined && proxy === undefined) || isProxy(request)) return
    if (token === undefined) return reply.status(401).send({ message: NO_USER })
    if (await isTokenOf(request, token)) return
    reply.header('www-authenticate', 'Basic realm="dirsyncd", charset="UTF-8"')
    return reply.status(401).send({ message: NO_TOKEN })
  })
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

/** Whether a proxy asks for a user. */
function proxiesOf({ proxy }: Access): (request: FastifyRequest) => boolean {
  if (proxy === undefined) return () => false
  const trusted = new BlockList()
  for (const network of proxy.networks) {
    const [address = '', prefix] = network.split('/')
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
    trusted.addSubnet(address, Number(prefix ?? (family === 'ipv6' ? 128 : 32)), family)
  }
  return ({ socket: { remoteAddress = '' }, headers }) => {
    const user = headers[proxy.header]
    if (typeof user !== 'string' || user.trim() === '' || isIP(remoteAddress) === 0) return false
    return trusted.check(remoteAddress, isIP(remoteAddress) === 6 ? 'ipv6' : 'ipv4')
  }
}

async function isTokenOf({ headers }: FastifyRequest, read: () => Promise<string>): Promise<boolean> {
  const given = givenToken(headers.authorization ?? '')
  if (given === undefined) return false
  return timingSafeEqual(digest(given), digest(await read()))
}

function digest(text: string): Buffer {
  return hash('sha256', text, 'buffer')
}

function givenToken(authorization: string): string | undefined {
  const [, scheme = '', value = ''] = /^(\S+) +(.*)$/.exec(authorization.trim()) ?? []
  if (scheme.toLowerCase() === 'bearer') return value
  if (scheme.toLowerCase() !== 'basic') return undefined
  const pair = Buffer.from(value, 'base64').toString('utf8')
  return pair.slice(pair.indexOf(':') + 1)
}
