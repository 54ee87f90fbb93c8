import { DirsyncdError } from '../errors.ts'

/** The error of a read that was told to stop; the signal's reason is passed on where it is one of ours. */
export function interruption(signal: AbortSignal, message: string): DirsyncdError {
  const reason: unknown = signal.reason
  return reason instanceof DirsyncdError
    ? reason
    : new DirsyncdError('interrupted', message, { cause: reason })
}
