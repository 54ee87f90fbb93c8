import { isIP } from 'node:net'
import type { ConnectionOptions } from 'node:tls'
import { certificatesIn } from '../../../base/certificates.ts'
import { DirsyncdError } from '../../../base/errors.ts'
import { isThisMachine } from '../../../base/this-machine.ts'
import type { LdapSourceOptions } from '../options.ts'

export interface Endpoint {
  /** For sentences: scheme, host and port. */
  readonly url: string
  readonly host: string
  /** The address to connect to; left out: any address of the host. */
  readonly address?: string
  readonly port: number
  readonly encryption: 'ldaps' | 'starttls' | 'none'
  /** The certificate is checked against the host of the URL, for StartTLS too. */
  readonly tls: ConnectionOptions & { readonly ca?: string[] }
}

/** The ports of global catalogs, which answer for the whole forest with a part of the attributes. */
const GLOBAL_CATALOG: ReadonlySet<number> = new Set([3268, 3269])

export function isGlobalCatalog({ port }: Pick<Endpoint, 'port'>): boolean {
  return GLOBAL_CATALOG.has(port)
}

/** Every server of the source, in order. Throws `config-invalid`, naming the key. */
export function parseEndpoints(
  options: Pick<LdapSourceOptions, 'url' | 'tls' | 'bind'>,
): readonly [Endpoint, ...Endpoint[]] {
  const urls = typeof options.url === 'string' ? [options.url] : options.url
  const [first, ...others] = urls.map((url) => parseEndpoint({ url, tls: options.tls }))
  if (first === undefined) throw invalid('url: the list is empty, so name at least one server')
  const endpoints = [first, ...others] as const
  const twice = others.find(({ url }, index) => endpoints.slice(0, index + 1).some((one) => one.url === url))
  if (twice !== undefined) throw invalid(`url: ${twice.url} is there twice`)
  if (options.tls.startTls && endpoints.every(({ encryption }) => encryption === 'ldaps'))
    throw invalid('tls.startTls: it is for ldap:// URLs, and ldaps:// has TLS from the start')
  checkClientCertificate(endpoints, options)
  for (const endpoint of endpoints) requirePrivacy(endpoint, options.bind)
  return endpoints
}

/** Throws `config-invalid` unless the connection is encrypted, local, or allowed by name in the options. */
export function requirePrivacy(endpoint: Endpoint, bind: LdapSourceOptions['bind']): void {
  if (bind === undefined || bind.external === true || bind.allowPlainText === true) return
  if (endpoint.encryption !== 'none' || isThisMachine(endpoint.host)) return
  const remedy = 'use ldaps:// or tls.startTls, or allow it with bind.allowPlainText: true'
  throw invalid(
    `bind: the password of "${bind.dn}" would cross the network in the clear to ${endpoint.url}; ${remedy}`,
  )
}

function checkClientCertificate(
  endpoints: readonly Endpoint[],
  { tls, bind }: Pick<LdapSourceOptions, 'tls' | 'bind'>,
): void {
  const [has, lacks] = tls.key === undefined ? ['certificate', 'key'] : ['key', 'certificate']
  if ((tls.key === undefined) !== (tls.certificate === undefined))
    throw invalid(`tls.${has}: it has no use without tls.${lacks}`)
  if (bind?.external !== true) return
  const clear = endpoints.find(({ encryption }) => encryption === 'none')
  if (tls.certificate === undefined) throw invalid('bind.external: it needs tls.certificate and tls.key')
  if (clear !== undefined) throw invalid(`bind.external: it needs TLS, and ${clear.url} has none`)
}

function parseEndpoint(options: {
  readonly url: string
  readonly tls: Pick<LdapSourceOptions['tls'], 'ca' | 'startTls'>
}): Endpoint {
  const url = parseUrl(options.url)
  const secure = url.protocol === 'ldaps:'
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  const port = url.port === '' ? (secure ? 636 : 389) : Number(url.port)
  const encryption = secure ? 'ldaps' : options.tls.startTls ? 'starttls' : 'none'
  // A named certificate is trusted, also where it is not a CA but the server's own, or an intermediate one.
  const ca =
    options.tls.ca === undefined ? {} : { ca: certificatesIn(options.tls.ca), allowPartialTrustChain: true }
  const servername = isIP(host) === 0 ? { servername: host } : {}
  return {
    url: `${url.protocol}//${url.hostname.toLowerCase()}:${port}`,
    host,
    port,
    encryption,
    tls: { host, ...servername, ...ca },
  }
}

function parseUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !['ldap:', 'ldaps:'].includes(url.protocol) || url.hostname === '')
    throw invalid(`url: "${text}" is not like ldap://host:389 or ldaps://host:636`)
  if (url.username !== '' || url.password !== '')
    throw invalid('url: a user or password does not belong here, use bind.dn and bind.password')
  if (!['', '/'].includes(url.pathname) || url.search !== '' || url.hash !== '')
    throw invalid(`url: "${text}" has more than host and port, use users.base for a DN`)
  return url
}

function invalid(message: string): DirsyncdError {
  return new DirsyncdError('config-invalid', message)
}
