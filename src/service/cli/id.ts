import { wholeNumber } from '../../base/terminal/arguments.ts'

export function repeatedId(value: string, before: readonly number[] | undefined): readonly number[] {
  return [...(before ?? []), wholeNumber(value)]
}
