import type { X509Certificate } from 'node:crypto'
import type { Socket } from 'node:net'
import { checkServerIdentity, connect as connectTls, type TLSSocket } from 'node:tls'
import { DirsyncdError } from '../../../base/errors.ts'
import type { LdapSourceOptions } from '../options.ts'
import { connectPlain, established } from './connect.ts'
import { limitsOf, startTls } from './connection.ts'
import type { Endpoint } from './endpoint.ts'
import { connectProblem } from './tls-problem.ts'
import { Wire } from './wire.ts'

/** For an operator who decides whether the server is the right one. */
export interface ServerCertificate {
  readonly subject: string
  readonly issuer: string
  /** ISO 8601, UTC. */
  readonly validFrom: string
  readonly validTo: string
  readonly names: readonly string[]
  /** SHA-256, as `openssl x509 -fingerprint` writes it: `AB:CD:…`. */
  readonly fingerprint: string
  /** The last certificate of the chain that the server sends: the one to trust. May be the server's own. */
  readonly anchor: CertificateAnchor
}

export interface CertificateAnchor {
  readonly subject: string
  readonly fingerprint: string
  readonly pem: string
  /** It is not the server's own, so a renewed certificate is trusted too. */
  readonly isAuthority: boolean
}

/**
 * Reads the certificate of an untrusted server. Nothing is sent over this connection, which is closed at once. Rejects
 * like `openConnection`, also where the certificate is for another host: trusting it would not help.
 */
export async function lookAtCertificate(
  endpoint: Endpoint,
  timeouts: LdapSourceOptions['timeouts'],
  signal: AbortSignal,
): Promise<ServerCertificate> {
  const limits = limitsOf(timeouts)
  const look = (over: Socket) => {
    const { host, servername } = endpoint.tls
    const tls = connectTls({
      host,
      ...(servername !== undefined && { servername }),
      socket: over,
      rejectUnauthorized: false,
    })
    const step = { event: 'secureConnect', what: 'connecting with TLS', option: 'handshake' } as const
    return established(tls, step, endpoint, limits.handshakeMs, signal)
  }
  const direct = await connectPlain(endpoint, limits.connectMs, signal)
  if (endpoint.encryption === 'ldaps') return closing(await look(direct), endpoint)
  const wire = new Wire({ socket: direct, ifLost: undefined }, endpoint.url, limits, signal)
  try {
    return closing(await startTls(wire, endpoint, limits.handshakeMs, look), endpoint)
  } finally {
    wire.close()
  }
}

function closing(socket: TLSSocket, { url, host }: Endpoint): ServerCertificate {
  try {
    const chain = chainOf(socket)
    const [own] = chain
    if (own === undefined) throw new DirsyncdError('source-refused', `${url} shows no certificate`)
    const otherHost = checkServerIdentity(host, own.toLegacyObject())
    if (otherHost !== undefined)
      throw new DirsyncdError('source-refused', `${url} cannot be used: ${connectProblem(otherHost)}`)
    return certificateOf(own, chain.at(-1) ?? own)
  } finally {
    socket.on('error', () => undefined).destroy()
  }
}

/** A server sends few; the bound ends a circle. */
const LONGEST_CHAIN = 10

/** The server's own certificate, and each that has signed the one before. Unrelated ones are left out. */
function chainOf(socket: TLSSocket): readonly X509Certificate[] {
  const chain: X509Certificate[] = []
  let next = socket.getPeerX509Certificate()
  while (next !== undefined && chain.length < LONGEST_CHAIN) {
    const before = chain.at(-1)
    if (before !== undefined && !hasSigned(next, before)) break
    chain.push(next)
    if (next.fingerprint256 === next.issuerCertificate?.fingerprint256) break
    next = next.issuerCertificate
  }
  return chain
}

function hasSigned(authority: X509Certificate, certificate: X509Certificate): boolean {
  return authority.ca && certificate.checkIssued(authority) && certificate.verify(authority.publicKey)
}

function certificateOf(own: X509Certificate, anchor: X509Certificate): ServerCertificate {
  return {
    subject: oneLine(own.subject),
    issuer: oneLine(own.issuer),
    validFrom: own.validFromDate.toISOString(),
    validTo: own.validToDate.toISOString(),
    names: namesOf(own),
    fingerprint: own.fingerprint256,
    anchor: {
      subject: oneLine(anchor.subject),
      fingerprint: anchor.fingerprint256,
      pem: anchor.toString(),
      isAuthority: anchor !== own,
    },
  }
}

/** Node writes each part of a name on a line of its own. */
function oneLine(name: string): string {
  return name.split('\n').join(', ') || 'no name'
}

/** Old certificates, and Samba's self-made ones, have their name only in the subject. */
function namesOf({ subjectAltName, subject }: X509Certificate): string[] {
  const text = subjectAltName ?? /^CN=(.+)$/m.exec(subject)?.[1] ?? ''
  return text
    .split(', ')
    .map((name) => name.replace(/^(DNS|IP Address):/, ''))
    .filter((name) => name !== '')
}
