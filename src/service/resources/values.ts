import { z } from 'zod'
import { MAX_ID } from '../../api/contract/values.ts'
import { parseDuration } from '../../base/duration.ts'

export const id = wholeNumber(1)

export const count = wholeNumber(0)

function wholeNumber(least: number): z.ZodInt {
  const error = `must be a whole number from ${least} to ${MAX_ID}`
  return z.int({ error }).min(least, { error }).max(MAX_ID, { error })
}

/** PostgreSQL stores no NUL. */
export const text = z
  .string()
  .min(1, { error: 'must not be empty' })
  .refine((value) => value.trim() !== '', { error: 'must not be empty' })
  .refine((value) => !value.includes('\0'), { error: 'must be text without a NUL character' })
  .refine((value) => value.isWellFormed(), { error: 'must be well-formed Unicode' })

export const name = text.max(255, { error: 'must not be longer than 255 characters' })

export const url = z.url({ protocol: /^https?$/, error: 'must be an http or https URL' })

/** ISO 8601 with an offset, so that `Date` reads it everywhere alike. */
export const isoTime = z.iso.datetime({ offset: true, error: 'must be a time such as 2030-01-31T00:00:00Z' })

/** A hundred years: `Date` and the store have no times much further away. */
const LONGEST_MS = 36_500 * 86_400_000

/** A duration counts from the time of loading. */
export const timeOrDuration = z.string().refine(isTimeOrDuration, {
  error: 'must be a duration such as "30d", 36500d at most, or a time such as "2030-01-31T00:00:00Z"',
})

export function isTimeOrDuration(value: string): boolean {
  const duration = parseDuration(value)
  return duration === undefined ? isoTime.safeParse(value).success : duration <= LONGEST_MS
}

/** A duration counts back from `now`. */
export function resolvePastTime(value: string, now: Date): Date {
  const ago = parseDuration(value)
  return ago === undefined ? new Date(value) : new Date(now.getTime() - ago)
}
