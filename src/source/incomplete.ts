import { DirsyncdError } from '../base/errors.ts'

/** The source may hold more than what was read, so nothing is deleted for it. */
export function incomplete(message: string): DirsyncdError {
  return new DirsyncdError('source-incomplete', message)
}
