import { errors } from 'undici'
import { networkReason, systemCode, UNTRUSTED_CERTIFICATES } from '../../base/errors.ts'
import type { Failure } from './api-error.ts'
import { ProxyUnreachable } from './dispatcher.ts'

export interface NetworkProblem {
  readonly reason: string
  /** Whether a retry within seconds may help. It does not help against an invalid certificate. */
  readonly transient: boolean
  readonly place?: Failure['place']
}

const REASONS: Readonly<Record<string, string>> = {
  UND_ERR_CONNECT_TIMEOUT: 'no connection within the time-out',
  UND_ERR_HEADERS_TIMEOUT: 'no answer within the time-out',
  UND_ERR_BODY_TIMEOUT: 'the answer stopped in the middle',
  UND_ERR_SOCKET: 'the connection was closed before the whole answer came',
  UND_ERR_PRX_CONN: 'the proxy closed the connection before the service was reached',
  UND_ERR_HEADERS_OVERFLOW: 'the headers of the answer are too large',
  UND_ERR_RES_EXCEEDED_MAX_SIZE: 'the answer is larger than the client accepts',
}

const PERMANENT =
  /^(UND_ERR_(HEADERS_OVERFLOW|RES_EXCEEDED_MAX_SIZE|INVALID_ARG)|ERR_TLS_|ERR_SSL_|UNABLE_TO_|EPROTO)|CERT/

const PLACES: Readonly<Record<string, Failure['place']>> = {
  UND_ERR_BODY_TIMEOUT: 'answer',
  UND_ERR_SOCKET: 'answer',
  UND_ERR_PRX_CONN: 'proxy',
  ...Object.fromEntries(UNTRUSTED_CERTIFICATES.map((code) => [code, 'certificate'] as const)),
}

/** For errors of undici, the socket, DNS or TLS. The reason of an unknown code contains the code. */
export function explainNetworkError(error: unknown): NetworkProblem {
  if (error instanceof ProxyUnreachable) {
    const { reason, transient, place } = explainNetworkError(error.cause)
    return {
      reason: `${error.message} cannot be reached: ${reason}`,
      transient,
      place: place === 'certificate' ? place : 'proxy',
    }
  }
  const code = systemCode(error) ?? ''
  return {
    reason: REASONS[code] ?? networkReason(error) ?? unknownReason(error, code),
    transient: !PERMANENT.test(code),
    place: PLACES[code] ?? (proxyAnswer(error) === undefined ? undefined : 'proxy'),
  }
}

/** The status with which a proxy refused to connect; undici has no code for it. */
function proxyAnswer(error: unknown): string | undefined {
  return /^Proxy response \((\d+)\)/.exec(error instanceof Error ? error.message : '')?.[1]
}

function unknownReason(error: unknown, code: string): string {
  const refusal = proxyAnswer(error)
  if (refusal !== undefined) return `the proxy refused to connect to it (${refusal})`
  if (code.startsWith('ERR_SSL_')) return `the TLS handshake failed (${code})`
  if (code.startsWith('HPE_')) return 'the answer is not HTTP'
  if (error instanceof errors.InvalidArgumentError) return 'the request cannot be written as HTTP'
  if (/CERT/.test(code)) return `its certificate is not accepted (${code})`
  return code === '' ? 'the connection broke' : `the connection broke (${code})`
}
