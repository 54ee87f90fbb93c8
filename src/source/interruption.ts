import { DirsyncdError } from '../base/errors.ts'

/** The signal's reason where that is a `DirsyncdError`, otherwise a new error. */
export function interruption(signal: AbortSignal, message: string): DirsyncdError {
  const reason: unknown = signal.reason
  return reason instanceof DirsyncdError
    ? reason
    : new DirsyncdError('interrupted', message, { cause: reason })
}
