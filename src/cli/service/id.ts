import { InvalidArgumentError } from 'commander'
import { MAX_ID } from '../../compose/service-resources.ts'

/** The id of something in the service. */
export function idOf(value: string): number {
  const id = Number(value)
  if (/^\d+$/.test(value) && id >= 1 && id <= MAX_ID) return id
  throw new InvalidArgumentError(`It must be a whole number from 1 to ${MAX_ID}.`)
}

/** Collects ids that may be given several times. */
export function repeatedId(value: string, before: readonly number[] | undefined): readonly number[] {
  return [...(before ?? []), idOf(value)]
}
