/**
 * The table of every error that a person or a caller can meet. The code is stable: scripts, tests and the
 * documentation name it. The exit code is what a command ends with when the error reaches it.
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
  'queue-unavailable': { exitCode: 1 },
  'lease-lost': { exitCode: 1 },
  'run-unknown': { exitCode: 1 },
  'run-failed': { exitCode: 1 },
  'service-unavailable': { exitCode: 1 },
  interrupted: { exitCode: 1 },
  internal: { exitCode: 1 },
} as const

export type ErrorCode = keyof typeof ERRORS

/** An error whose message is one sentence for a person: what is wrong, where, and what to do. */
export class DirsyncdError extends Error {
  override readonly name = 'DirsyncdError'
  readonly code: ErrorCode

  constructor(code: ErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.code = code
  }

  get exitCode(): number {
    return ERRORS[this.code].exitCode
  }
}

/** The one sentence that a person gets to see of any thrown value; never a stack trace. */
export function sentence(error: unknown): string {
  if (error instanceof AggregateError && error.message === '' && error.errors.length > 0) {
    return sentence(error.errors[0])
  }
  return error instanceof Error ? error.message || error.name : String(error)
}

/** The exit code that a command ends with when this value was thrown. */
export function exitCodeOf(error: unknown): number {
  return error instanceof DirsyncdError ? error.exitCode : 1
}
