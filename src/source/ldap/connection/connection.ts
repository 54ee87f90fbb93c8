import type { Socket } from 'node:net'
import { type Certificate, TLSSocket } from 'node:tls'
import { ExtendedRequest, UnbindRequest } from 'ldapts'
import { DirsyncdError } from '../../../base/errors.ts'
import type { Log } from '../../../base/log/log.ts'
import type { LdapEntry } from '../entry.ts'
import { authenticate, type Credentials } from './bind.ts'
import { connectPlain, encrypt } from './connect.ts'
import type { Endpoint } from './endpoint.ts'
import type { LdapSourceOptions } from '../options.ts'
import { isOutage, resultInWords, SUCCESS } from './result.ts'
import { askWhoAmI, readRootDse, requireSynchronized } from './root-dse.ts'
import { type Doing, type OnResult, Wire } from './wire.ts'

const AN_HOUR_MS = 3_600_000

const START_TLS = '1.3.6.1.4.1.1466.20037'

export interface TlsFacts {
  readonly protocol: string
  readonly cipher: string
  readonly subject: string
  readonly issuer: string
  /** In milliseconds since 1970; NaN where it is missing. */
  readonly expiresMs: number
}

export interface LdapConnection extends Disposable {
  readonly wire: Wire
  readonly endpoint: Endpoint
  readonly address: string
  readonly tls: TlsFacts | undefined
  /** As shown to this account; `undefined` where it is hidden. */
  readonly rootDse: LdapEntry | undefined
  /** `dn:cn=reader,…` or `u:EXAMPLE\reader`; empty for an anonymous one, `undefined` where the server does not tell. */
  readonly identity: string | undefined
}

export interface Told {
  readonly log: Log
  readonly onResult?: OnResult | undefined
}

export type ConnectionOptions = Pick<LdapSourceOptions, 'bind' | 'timeouts'>

/** Each step once and bounded in time. Rejects with `source-unreachable` or `source-refused`. */
export async function openConnection(
  endpoint: Endpoint,
  { bind, timeouts }: ConnectionOptions,
  { client, ...secret }: Credentials,
  signal: AbortSignal,
  { log, onResult }: Told,
): Promise<LdapConnection> {
  const limits = limitsOf(timeouts)
  const secure = (over: Socket) => encrypt(over, endpoint, client, limits.handshakeMs, signal)
  const direct = await connectPlain(endpoint, limits.connectMs, signal)
  const first = endpoint.encryption === 'ldaps' ? await secure(direct) : direct
  const ifLost = client.cert === undefined ? 'perhaps it demands tls.certificate and tls.key' : undefined
  const plain = 'perhaps this port is for ldaps://'
  const line = { socket: first, ifLost: endpoint.encryption === 'ldaps' ? ifLost : plain }
  const { address = direct.remoteAddress ?? endpoint.host } = endpoint
  const wire = new Wire(line, endpoint.url, limits, signal, onResult)
  try {
    const starting = endpoint.encryption === 'starttls'
    const socket = starting ? await startTls(wire, endpoint, limits.handshakeMs, secure) : first
    if (starting) wire.moveTo({ socket, ifLost })
    if (bind !== undefined) await authenticate(wire, endpoint, bind, secret, limits.bindMs)
    const rootDse = await readRootDse(wire, endpoint.url, limits.bindMs)
    requireSynchronized(endpoint.url, rootDse)
    const identity = await askWhoAmI(wire, endpoint.url, rootDse, limits.bindMs)
    if (bind !== undefined && identity === '') throw nobody(endpoint)
    log.debug(
      { url: endpoint.url, encryption: endpoint.encryption, bind: bind?.dn, identity },
      'connected to the source',
    )
    const tls = tlsOf(socket)
    return { wire, endpoint, address, tls, rootDse, identity, [Symbol.dispose]: () => wire.close(unbind) }
  } catch (error) {
    wire.close()
    throw error
  }
}

export function limitsOf({
  connectMs,
  handshakeMs = connectMs,
  bindMs = connectMs,
  answerMs,
  firstAnswerMs = answerMs,
  readMs = AN_HOUR_MS,
}: LdapSourceOptions['timeouts']): Required<LdapSourceOptions['timeouts']> {
  return { connectMs, handshakeMs, bindMs, firstAnswerMs, answerMs, readMs }
}

function unbind(messageId: number): UnbindRequest {
  return new UnbindRequest({ messageId })
}

/** Servers silently show less to anonymous clients, and hidden users would count as gone. */
function nobody({ url }: Endpoint): DirsyncdError {
  const remedy = 'correct what the server makes of this reader'
  return new DirsyncdError(
    'source-refused',
    `${url} took the bind and still treats the reader as anonymous; ${remedy}`,
  )
}

/** Requests StartTLS and begins it with `secure`. Throws `source-refused` where the server does not offer it. */
export async function startTls(
  wire: Wire,
  endpoint: Endpoint,
  ms: number,
  secure: (over: Socket) => Promise<TLSSocket>,
): Promise<TLSSocket> {
  const doing: Doing = {
    code: 'source-unreachable',
    what: 'asking for StartTLS',
    within: { ms, option: 'handshake' },
  }
  const result = await wire.exchange((messageId) => new ExtendedRequest({ messageId, oid: START_TLS }), doing)
  if (result.operation !== 'extended' || result.code !== SUCCESS) {
    const words = resultInWords(result.code, result.diagnostic)
    const remedy = isOutage(result.code) ? '' : '; use ldaps://, or let its administrator turn TLS on'
    throw new DirsyncdError(
      isOutage(result.code) ? 'source-unreachable' : 'source-refused',
      `${endpoint.url} refused StartTLS: ${words}${remedy}`,
    )
  }
  return secure(wire.release(doing))
}

function tlsOf(socket: Socket): TlsFacts | undefined {
  if (!(socket instanceof TLSSocket)) return undefined
  const { subject, issuer, valid_to: end } = socket.getPeerCertificate()
  return {
    protocol: socket.getProtocol() ?? 'TLS',
    cipher: socket.getCipher().standardName,
    subject: nameOf(subject),
    issuer: nameOf(issuer),
    expiresMs: Date.parse(end),
  }
}

function nameOf(certificate: Partial<Certificate> | undefined): string {
  const name = [certificate?.CN ?? certificate?.OU, certificate?.O].flat()
  return name.filter((part) => part !== undefined).join(', ') || 'unnamed'
}
