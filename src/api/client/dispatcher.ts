import { type buildConnector, type Dispatcher, EnvHttpProxyAgent, Pool } from 'undici'

export interface DispatcherOptions {
  /** Scheme, host and port. */
  readonly origin: string
  readonly connections: number
  /** PEM, instead of Node's defaults. */
  readonly ca: string | undefined
  /** Not used for hosts in the environment variable NO_PROXY. */
  readonly proxy: string | undefined
  /** In milliseconds. */
  readonly timeouts: { readonly connectMs: number; readonly headersMs: number; readonly bodyMs: number }
}

export class ProxyUnreachable extends Error {
  override readonly name = 'ProxyUnreachable'
}

/** To one origin; opens no connection before the first request. */
export function createDispatcher({
  origin,
  connections,
  ca,
  proxy,
  timeouts,
}: DispatcherOptions): Dispatcher {
  const { connectMs, headersMs, bodyMs } = timeouts
  // Set here, because NODE_TLS_REJECT_UNAUTHORIZED=0 would disable the check.
  const checked = { timeout: connectMs, rejectUnauthorized: true }
  const connect = ca === undefined ? checked : { ...checked, ca }
  const options = {
    connections,
    connect,
    headersTimeout: headersMs,
    bodyTimeout: bodyMs,
    maxResponseSize: 64 * 1024 * 1024,
    // A broken HTTP/1.1 connection loses one answer; a broken HTTP/2 connection loses all answers in progress.
    allowH2: false,
  }
  if (proxy === undefined) return new Pool(origin, options)
  return new EnvHttpProxyAgent({
    ...options,
    httpProxy: proxy,
    httpsProxy: proxy,
    proxyTunnel: true,
    requestTls: connect,
    proxyTls: checked,
    // The time-out is for the proxy's answer to CONNECT.
    clientFactory: (to, given) =>
      new Pool(to, { ...nameProxyInErrors(proxy, given), headersTimeout: connectMs }),
  })
}

type Connector = buildConnector.connector

/** Without this, the errors of a proxy that is down and of a service that is down would be the same. */
function nameProxyInErrors(proxy: string, given: object): object {
  const { connect } = given as { readonly connect: Connector }
  const named: Connector = (options, done) => {
    connect(options, (...[error, socket]) => {
      if (error === null) done(null, socket)
      else done(new ProxyUnreachable(`the proxy ${proxy}`, { cause: error }), null)
    })
  }
  return { ...given, connect: named }
}
