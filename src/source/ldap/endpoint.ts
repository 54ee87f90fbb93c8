import { X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import type { ConnectionOptions } from 'node:tls'
import { DirsyncdError, sentence } from '../../errors.ts'
import type { LdapSourceOptions } from './options.ts'

/** Where to connect, parsed and checked once. */
export interface Endpoint {
  /** For sentences: scheme, host and port. */
  readonly url: string
  readonly host: string
  readonly port: number
  readonly encryption: 'ldaps' | 'starttls' | 'none'
  /** With the certificate checked against the host of the URL, for StartTLS too. */
  readonly tls: ConnectionOptions
}

/** Throws `config-invalid`, naming the key. */
export function parseEndpoint(options: Pick<LdapSourceOptions, 'url' | 'tls'>): Endpoint {
  const url = parseUrl(options.url)
  const secure = url.protocol === 'ldaps:'
  if (secure && options.tls.startTls) {
    throw new DirsyncdError(
      'config-invalid',
      'tls.startTls: it is for ldap:// URLs, and ldaps:// has TLS from the start',
    )
  }
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  const port = url.port === '' ? (secure ? 636 : 389) : Number(url.port)
  const encryption = secure ? 'ldaps' : options.tls.startTls ? 'starttls' : 'none'
  const ca = options.tls.ca === undefined ? {} : { ca: checkedCertificates(options.tls.ca) }
  const servername = isIP(host) === 0 ? { servername: host } : {}
  return {
    url: `${url.protocol}//${url.hostname}:${port}`,
    host,
    port,
    encryption,
    tls: { host, ...servername, ...ca },
  }
}

function parseUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !['ldap:', 'ldaps:'].includes(url.protocol) || url.hostname === '') {
    throw new DirsyncdError(
      'config-invalid',
      `url: "${text}" is not like ldap://host:389 or ldaps://host:636`,
    )
  }
  if (url.username !== '' || url.password !== '') {
    throw new DirsyncdError(
      'config-invalid',
      'url: a user or password does not belong here, use bind.dn and bind.password',
    )
  }
  if (!['', '/'].includes(url.pathname) || url.search !== '' || url.hash !== '') {
    throw new DirsyncdError(
      'config-invalid',
      `url: "${text}" has more than host and port, use users.base for a DN`,
    )
  }
  return url
}

/** Node takes a text without any certificate in silence, and then trusts nobody, with a misleading error. */
function checkedCertificates(pem: string): string[] {
  const certificates = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g)
  if (certificates === null)
    throw new DirsyncdError('config-invalid', 'tls.ca: there is no PEM certificate in it')
  try {
    return certificates.map((certificate) => new X509Certificate(certificate).toString())
  } catch (cause) {
    throw new DirsyncdError('config-invalid', `tls.ca: a certificate in it is broken (${sentence(cause)})`, {
      cause,
    })
  }
}
