import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { type ConnectionOptions, connect as connectTls, type TLSSocket } from 'node:tls'
import { DirsyncdError, sentence } from '../../../base/errors.ts'
import { interruption } from '../../interruption.ts'
import type { Endpoint } from './endpoint.ts'
import { certificateDemand, connectProblem, isCertificateProblem } from './tls-problem.ts'

/** TCP keep-alive after so long without a byte; firewalls drop silent connections. */
const KEEP_ALIVE_MS = 30_000

/** Rejects with `source-unreachable` or the signal's reason. */
export async function connectPlain(endpoint: Endpoint, ms: number, signal: AbortSignal): Promise<Socket> {
  const { host, address = host, port } = endpoint
  const socket = connect({ host: address, port, keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_MS })
  return established(
    socket,
    { event: 'connect', what: 'connecting', option: 'connect' },
    endpoint,
    ms,
    signal,
  )
}

/** Starts TLS, checks the server's certificate and presents the client's, if there is one. */
export async function encrypt(
  socket: Socket,
  endpoint: Endpoint,
  client: Pick<ConnectionOptions, 'cert' | 'key'>,
  ms: number,
  signal: AbortSignal,
): Promise<TLSSocket> {
  const step = { event: 'secureConnect', what: 'connecting with TLS', option: 'handshake' } as const
  // Explicit, because NODE_TLS_REJECT_UNAUTHORIZED=0 in the environment would switch the check off.
  const tls = connectTls({ ...endpoint.tls, ...client, socket, rejectUnauthorized: true })
  return established(tls, step, endpoint, ms, signal)
}

interface Step {
  readonly event: 'connect' | 'secureConnect'
  readonly what: string
  /** The key in `timeouts`. */
  readonly option: string
}

export async function established<S extends Socket>(
  socket: S,
  { event, what, option }: Step,
  { url, encryption, tls }: Endpoint,
  ms: number,
  signal: AbortSignal,
): Promise<S> {
  const overdue = new AbortController()
  // After a blocked event loop, timers run before the connection event.
  const timer = setTimeout(() => setImmediate(() => overdue.abort()), ms)
  const closed = new AbortController()
  const onClose = () => closed.abort(new Error('the server closed the connection'))
  socket.once('close', onClose)
  try {
    await once(socket, event, { signal: AbortSignal.any([signal, overdue.signal, closed.signal]) })
    socket.off('close', onClose)
    return socket
  } catch (error) {
    socket.on('error', () => undefined).destroy()
    if (signal.aborted) throw interruption(signal, `${url}: interrupted while ${what}`)
    const demand = certificateDemand(error)
    if (demand !== undefined) throw new DirsyncdError('source-refused', `${url} refused TLS: ${demand}`)
    const problem = closed.signal.aborted ? sentence(closed.signal.reason) : connectProblem(error, tls.ca)
    const silent = overdue.signal.aborted ? `no answer within ${ms / 1000} s (timeouts.${option})` : problem
    const refused = event === 'secureConnect' && encryption === 'ldaps' && !isCertificateProblem(error)
    const why = refused ? `${silent}; perhaps this port is for ldap:// with tls.startTls` : silent
    throw new DirsyncdError('source-unreachable', `${url} cannot be reached (${what}): ${why}`, {
      cause: error,
    })
  } finally {
    clearTimeout(timer)
  }
}
