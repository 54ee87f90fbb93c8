import { errors } from 'undici'

/** Why an exchange broke off, in words. */
export interface NetworkProblem {
  readonly reason: string
  /** Worth another try within seconds. A certificate does not become valid by asking again. */
  readonly transient: boolean
}

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'the connection was reset',
  EPIPE: 'the connection was closed while sending',
  ETIMEDOUT: 'the connection timed out',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
  ENOTFOUND: 'the host name is unknown',
  EAI_AGAIN: 'the host name could not be looked up (DNS does not answer)',
  UND_ERR_CONNECT_TIMEOUT: 'no connection within the time-out',
  UND_ERR_HEADERS_TIMEOUT: 'no answer within the time-out',
  UND_ERR_BODY_TIMEOUT: 'the answer stopped in the middle',
  UND_ERR_SOCKET: 'the connection was closed before the whole answer came',
  UND_ERR_CLOSED: 'the client has been closed',
  UND_ERR_DESTROYED: 'the client has been closed',
  UND_ERR_HEADERS_OVERFLOW: 'the headers of the answer are too large',
  UND_ERR_RES_EXCEEDED_MAX_SIZE: 'the answer is larger than the client accepts',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  CERT_NOT_YET_VALID: 'its certificate is not valid yet',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is self-signed and not trusted here',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate comes from an authority that is not trusted here',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate comes from an authority that is not trusted here',
  UNABLE_TO_GET_ISSUER_CERT: 'its certificate comes from an authority that is not trusted here',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'its certificate comes from an authority that is not trusted here',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another host name',
  EPROTO: 'it does not speak TLS there (is the scheme https right?)',
  ERR_SSL_WRONG_VERSION_NUMBER: 'it does not speak TLS there (is the scheme https right?)',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'it does not speak TLS there (is the scheme https right?)',
}

const LASTING =
  /^(UND_ERR_(CLOSED|DESTROYED|HEADERS_OVERFLOW|RES_EXCEEDED_MAX_SIZE|INVALID_ARG)|ERR_TLS_|ERR_SSL_|UNABLE_TO_|EPROTO)|CERT/

/** Explains what undici, the socket, DNS or TLS threw. Codes that nobody has met yet keep their name. */
export function explainNetworkError(error: unknown): NetworkProblem {
  const code = codeOf(error)
  return { reason: REASONS[code] ?? unknownReason(error, code), transient: !LASTING.test(code) }
}

function codeOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return codeOf(error.errors[0])
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') return error.code
  return ''
}

function unknownReason(error: unknown, code: string): string {
  if (code.startsWith('ERR_SSL_')) return `the TLS handshake failed (${code})`
  if (code.startsWith('HPE_')) return 'the answer is not HTTP'
  if (error instanceof errors.InvalidArgumentError) return 'the request cannot be written as HTTP'
  if (/CERT/.test(code)) return `its certificate is not accepted (${code})`
  return code === '' ? 'the connection broke' : `the connection broke (${code})`
}
