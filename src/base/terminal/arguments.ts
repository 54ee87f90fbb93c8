import { InvalidArgumentError } from 'commander'

/** The largest `integer` of PostgreSQL, of which run numbers and the ids of the API are. */
const MAX_ID = 2_147_483_647

/** A run's number or an id. */
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
