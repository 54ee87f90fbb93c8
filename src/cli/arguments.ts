import { InvalidArgumentError } from 'commander'
import { MAX_ID } from '../compose/service-resources.ts'
import { digits } from '../directory/wording.ts'
import { DirsyncdError } from '../errors.ts'

/** A run's number or an id, as large as the store and the API have them. */
export function wholeNumber(value: string): number {
  const number = Number(value)
  if (/^\d+$/.test(value) && number <= MAX_ID && number > 0) return number
  throw new InvalidArgumentError(`It must be a whole number from 1 to ${MAX_ID}.`)
}

/** A file or an id, which an unset variable of a script leaves empty. */
export function named(value: string): string {
  if (value.trim() !== '') return value
  throw new InvalidArgumentError('It must not be empty.')
}

/** Collects an option that may be given several times. */
export function repeated(value: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), value]
}

/** As `repeated`, of `named`. */
export function repeatedName(value: string, before: readonly string[] | undefined): readonly string[] {
  return repeated(named(value), before)
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
