import { InvalidArgumentError } from 'commander'

/** The largest `integer` of PostgreSQL, the type of run numbers and of the API's ids. */
const MAX_ID = 2_147_483_647

export function wholeNumber(value: string): number {
  const number = Number(value)
  if (/^\d+$/.test(value) && number <= MAX_ID && number > 0) return number
  throw new InvalidArgumentError(`It must be a whole number from 1 to ${MAX_ID}.`)
}

/** Refuses an empty text, which an unset variable of a script gives. */
export function named(value: string): string {
  if (value.trim() !== '') return value
  throw new InvalidArgumentError('It must not be empty.')
}

export function repeated(value: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), value]
}

export function repeatedName(value: string, before: readonly string[] | undefined): readonly string[] {
  return repeated(named(value), before)
}
