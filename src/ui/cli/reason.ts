import { DirsyncdError } from '../../base/errors.ts'
import { digits } from '../../base/wording.ts'

/** In characters. */
const LONGEST_REASON = 500

/** Throws `usage` where the reason is too long for a list. */
export function reasonText(value: string): string {
  const reason = value.trim()
  if (reason.length <= LONGEST_REASON) return reason
  throw new DirsyncdError(
    'usage',
    `A reason may have at most ${LONGEST_REASON} characters, and this one has ${digits(reason.length)}.`,
  )
}
