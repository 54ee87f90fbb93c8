/**
 * Codes never change, because scripts, tests and the documentation use them; docs/errors.md has a section for each. A
 * command that the error stops ends with `exitCode`.
 */
const ERRORS = {
  usage: { exitCode: 64 },
  'config-invalid': { exitCode: 78 },
  'secret-unavailable': { exitCode: 78 },
  'source-unreachable': { exitCode: 1 },
  'source-refused': { exitCode: 1 },
  'source-incomplete': { exitCode: 1 },
  'directory-unreachable': { exitCode: 1 },
  'directory-unknown': { exitCode: 1 },
  'directory-unexpected': { exitCode: 1 },
  'token-refused': { exitCode: 1 },
  'scope-missing': { exitCode: 1 },
  'store-unavailable': { exitCode: 1 },
  'store-owned': { exitCode: 1 },
  'store-empty': { exitCode: 1 },
  'store-other-form': { exitCode: 1 },
  'queue-unavailable': { exitCode: 1 },
  'daemon-unreachable': { exitCode: 1 },
  'run-unknown': { exitCode: 1 },
  rejected: { exitCode: 1 },
  'sync-paused': { exitCode: 1 },
  'service-unavailable': { exitCode: 1 },
  'id-unknown': { exitCode: 1 },
  interrupted: { exitCode: 1 },
  internal: { exitCode: 1 },
} as const

export type ErrorCode = keyof typeof ERRORS

export const ERROR_CODES = Object.keys(ERRORS) as readonly ErrorCode[]

/** The message is one sentence: what is wrong, where, and what to do. */
export class DirsyncdError extends Error {
  override readonly name = 'DirsyncdError'
  readonly code: ErrorCode
  readonly exitCode: number

  /** @param options.exitCode where it is not that of the code */
  constructor(code: ErrorCode, message: string, options: { cause?: unknown; exitCode?: number } = {}) {
    const { exitCode, ...others } = options
    super(message, others)
    this.code = code
    this.exitCode = exitCode ?? ERRORS[code].exitCode
  }
}

/** Of any thrown value; never a stack trace. */
export function sentence(error: unknown): string {
  if (error instanceof AggregateError && error.message === '' && error.errors.length > 0) {
    return sentence(error.errors[0])
  }
  return error instanceof Error ? error.message || error.name : String(error)
}

export function exitCodeOf(error: unknown): number {
  return error instanceof DirsyncdError ? error.exitCode : 1
}

/** Codes of certificates whose authority is unknown here. */
export const UNTRUSTED_CERTIFICATES: readonly string[] = [
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
]

const NETWORK_REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'the connection was reset',
  EPIPE: 'the connection was closed while sending',
  ETIMEDOUT: 'the connection timed out',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
  ENOTFOUND: 'the host name is unknown',
  EAI_AGAIN: 'the host name could not be looked up (DNS does not answer)',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  CERT_NOT_YET_VALID: 'its certificate is not valid yet',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is self-signed and not trusted here',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate comes from an authority that is not trusted here',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate comes from an authority that is not trusted here',
  UNABLE_TO_GET_ISSUER_CERT: 'its certificate comes from an authority that is not trusted here',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'its certificate comes from an authority that is not trusted here',
  EPROTO: 'it does not speak TLS there',
  ERR_SSL_WRONG_VERSION_NUMBER: 'it does not speak TLS there',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'it does not speak TLS there',
}

/** Of a failed system call or handshake, such as `ECONNREFUSED`; `undefined` for other errors. */
export function systemCode(error: unknown): string | undefined {
  if (error instanceof AggregateError && error.errors.length > 0) return systemCode(error.errors[0])
  if (!(error instanceof Error) || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}

const FILE_REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'it does not exist',
  ENOTDIR: 'a part of its path is no folder',
  EACCES: 'this user may not read it',
  EPERM: 'this user may not read it',
  EISDIR: 'it is a folder',
}

/** The system's own message for unknown codes. */
export function fileReason(error: unknown): string {
  return FILE_REASONS[systemCode(error) ?? ''] ?? sentence(error)
}

const WRITE_REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'its folder does not exist',
  ENOTDIR: 'a part of its path is no folder',
  EACCES: 'this user may not write there',
  EPERM: 'this user may not write there',
  EISDIR: 'it is a folder',
  EROFS: 'it is on a disk that is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk has no room left for this user',
}

/** The system's own message for unknown codes. */
export function whyUnwritable(error: unknown): string {
  return WRITE_REASONS[systemCode(error) ?? ''] ?? sentence(error)
}

interface OtherHost {
  readonly cert?: { readonly subjectaltname?: string; readonly subject?: { readonly CN?: string } }
}

function otherHost(error: unknown): string {
  const { cert } = error as OtherHost
  // Old certificates have their name only there.
  const names = cert?.subjectaltname?.replaceAll(/(DNS|IP Address):/g, '') ?? cert?.subject?.CN
  const which = names === undefined ? '' : ` (it is for ${names}); connect by such a name`
  return `its certificate is for another host${which}`
}

/** `undefined` for an error that is not a network failure. */
export function networkReason(error: unknown): string | undefined {
  const code = systemCode(error) ?? ''
  return code === 'ERR_TLS_CERT_ALTNAME_INVALID' ? otherHost(error) : NETWORK_REASONS[code]
}

/** Follows the file's name: `does not exist`. */
export function whyUnreadable(error: unknown): string {
  const code = systemCode(error)
  if (code === 'ENOENT') return 'does not exist'
  if (code === 'EACCES' || code === 'EPERM') return 'may not be read by this user'
  if (code === 'EISDIR') return 'is a folder'
  return `cannot be read (${code ?? 'unknown error'})`
}
