import { once } from 'node:events'
import { connect as connectTcp, type Socket } from 'node:net'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import { BindRequest, ExtendedRequest, UnbindRequest } from 'ldapts'
import { DirsyncdError, networkReason, sentence, systemCode } from '../../errors.ts'
import type { Log } from '../../log.ts'
import { interruption } from '../interruption.ts'
import type { Endpoint } from './endpoint.ts'
import type { LdapSourceOptions } from './options.ts'
import { BUSY, INVALID_CREDENTIALS, resultInWords, SUCCESS, UNAVAILABLE } from './result.ts'
import { createWire, type Doing, type Wire } from './wire.ts'

const START_TLS = '1.3.6.1.4.1.1466.20037'

export interface LdapConnection extends Disposable {
  readonly wire: Wire
  readonly endpoint: Endpoint
  /** The TLS protocol and the certificate's issuer; `undefined` without TLS. */
  readonly tls: { readonly protocol: string; readonly issuer: string } | undefined
}

export type ConnectionOptions = Pick<LdapSourceOptions, 'bind' | 'timeouts'>

/**
 * Connects, encrypts and binds, each once and bounded in time. Rejects with a `DirsyncdError`: `source-unreachable`,
 * `source-refused`, or `secret-unavailable` for an empty password.
 */
export async function openConnection(
  endpoint: Endpoint,
  options: ConnectionOptions,
  signal: AbortSignal,
  log: Log,
): Promise<LdapConnection> {
  const password = await loadPassword(options)
  const { connectMs, answerMs } = options.timeouts
  const direct = await connect(endpoint, connectMs, signal)
  const wire = createWire(direct, endpoint.url, answerMs, signal)
  try {
    const socket =
      endpoint.encryption === 'starttls' ? await startTls(wire, endpoint, connectMs, signal) : direct
    if (password !== undefined) await authenticate(wire, endpoint, password)
    log.debug(
      { url: endpoint.url, encryption: endpoint.encryption, bind: password?.dn },
      'connected to the source',
    )
    return { wire, endpoint, tls: tlsOf(socket), [Symbol.dispose]: () => wire.close(unbind) }
  } catch (error) {
    wire.close()
    throw error
  }
}

function unbind(messageId: number): UnbindRequest {
  return new UnbindRequest({ messageId })
}

interface Credentials {
  readonly dn: string
  readonly password: string
}

/** A bind with a DN and no password succeeds on most servers, as nobody. */
async function loadPassword({ bind }: ConnectionOptions): Promise<Credentials | undefined> {
  if (bind === undefined) return undefined
  const password = await bind.password()
  if (password !== '') return { dn: bind.dn, password }
  const remedy = 'LDAP servers would take that for an anonymous reader, so set it'
  throw new DirsyncdError(
    'secret-unavailable',
    `bind.password: the password of "${bind.dn}" is empty; ${remedy}`,
  )
}

async function connect(endpoint: Endpoint, connectMs: number, signal: AbortSignal): Promise<Socket> {
  const { host, port } = endpoint
  if (endpoint.encryption !== 'ldaps') {
    return established(connectTcp({ host, port }), 'connect', endpoint, connectMs, signal)
  }
  return established(connectTls({ ...endpoint.tls, port }), 'secureConnect', endpoint, connectMs, signal)
}

async function startTls(
  wire: Wire,
  endpoint: Endpoint,
  connectMs: number,
  signal: AbortSignal,
): Promise<Socket> {
  const doing: Doing = { code: 'source-unreachable', what: 'asking for StartTLS' }
  const result = await wire.exchange((messageId) => new ExtendedRequest({ messageId, oid: START_TLS }), doing)
  if (result.operation !== 'extended' || result.code !== SUCCESS) {
    const words = resultInWords(result.code, result.diagnostic)
    throw new DirsyncdError('source-refused', `${endpoint.url} refused StartTLS: ${words}`)
  }
  const secured = connectTls({ ...endpoint.tls, socket: wire.release() })
  await established(secured, 'secureConnect', endpoint, connectMs, signal)
  wire.moveTo(secured)
  return secured
}

/** Waits until the socket can be used; a socket that cannot is destroyed. */
async function established<S extends Socket>(
  socket: S,
  event: 'connect' | 'secureConnect',
  endpoint: Endpoint,
  connectMs: number,
  signal: AbortSignal,
): Promise<S> {
  const what = event === 'connect' ? 'connecting' : 'connecting with TLS'
  const timeout = AbortSignal.timeout(connectMs)
  const closed = new AbortController()
  socket.once('close', () => closed.abort(new Error('the server closed the connection')))
  try {
    await once(socket, event, { signal: AbortSignal.any([signal, timeout, closed.signal]) })
    return socket
  } catch (error) {
    socket.on('error', () => undefined).destroy()
    if (signal.aborted) throw interruption(signal, `${endpoint.url}: interrupted while ${what}`)
    const why = timeout.aborted
      ? `no answer within ${connectMs / 1000} s`
      : connectProblem(error, closed.signal)
    throw new DirsyncdError('source-unreachable', `${endpoint.url} cannot be reached (${what}): ${why}`, {
      cause: error,
    })
  }
}

const UNTRUSTED = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
])

function connectProblem(error: unknown, closed: AbortSignal): string {
  if (closed.aborted) return sentence(closed.reason)
  const code = systemCode(error) ?? ''
  if (UNTRUSTED.has(code)) return `its certificate is not trusted; give its CA in tls.ca (${sentence(error)})`
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return `its certificate is for another host (${sentence(error)})`
  return networkReason(error) ?? sentence(error)
}

/** Tried once: a second try with a wrong password only brings the account closer to being locked. */
async function authenticate(wire: Wire, endpoint: Endpoint, { dn, password }: Credentials): Promise<void> {
  const doing: Doing = { code: 'source-unreachable', what: `binding as "${dn}"` }
  const { operation, code, diagnostic } = await wire.exchange(
    (messageId) => new BindRequest({ messageId, dn, password }),
    doing,
  )
  if (operation === 'bind' && code === SUCCESS) return
  const unable = code === BUSY || code === UNAVAILABLE
  const why =
    code === INVALID_CREDENTIALS
      ? `wrong password or unknown bind DN, ${resultInWords(code, diagnostic)}`
      : resultInWords(code, diagnostic)
  throw new DirsyncdError(
    unable ? 'source-unreachable' : 'source-refused',
    `${endpoint.url} refused the bind as "${dn}": ${why}`,
  )
}

function tlsOf(socket: Socket): LdapConnection['tls'] {
  if (!isTls(socket)) return undefined
  const { issuer } = socket.getPeerCertificate()
  const name = [issuer?.CN ?? issuer?.OU, issuer?.O].flat().filter((part) => part !== undefined)
  return { protocol: socket.getProtocol() ?? 'TLS', issuer: name.join(', ') || 'unnamed' }
}

function isTls(socket: Socket): socket is TLSSocket {
  return 'encrypted' in socket
}
