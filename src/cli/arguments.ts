import { InvalidArgumentError } from 'commander'

/** A run's number, or another whole number from 1. */
export function wholeNumber(value: string): number {
  const number = Number(value)
  if (/^\d+$/.test(value) && Number.isSafeInteger(number) && number > 0) return number
  throw new InvalidArgumentError('It must be a whole number from 1.')
}

/** Collects an option that may be given several times. */
export function repeated(value: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), value]
}
