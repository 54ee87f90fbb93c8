import { InvalidArgumentError } from 'commander'
import { digits } from '../directory/wording.ts'
import { DirsyncdError } from '../errors.ts'

/** As large as a number of the store. */
const LARGEST = 2_147_483_647

/** A run's number, or another whole number from 1. */
export function wholeNumber(value: string): number {
  const number = Number(value)
  if (/^\d+$/.test(value) && number <= LARGEST && number > 0) return number
  throw new InvalidArgumentError('It must be a whole number from 1 to 2147483647.')
}

/** Collects an option that may be given several times. */
export function repeated(value: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), value]
}

/** In characters. */
const LONGEST_REASON = 500

/** Why somebody decides; an empty text is no reason. Throws `usage` where it is too long to be read in a list. */
export function reasonText(value: string): string {
  const reason = value.trim()
  if (reason.length <= LONGEST_REASON) return reason
  throw new DirsyncdError(
    'usage',
    `A reason may have at most ${LONGEST_REASON} characters, and this one has ${digits(reason.length)}.`,
  )
}
