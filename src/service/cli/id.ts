import { wholeNumber } from '../../base/terminal/arguments.ts'

/** Collects ids that may be given several times. */
export function repeatedId(value: string, before: readonly number[] | undefined): readonly number[] {
  return [...(before ?? []), wholeNumber(value)]
}
