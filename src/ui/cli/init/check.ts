import type { z } from 'zod'
import type { Check } from './prompts.ts'

export function checkWith(schema: z.ZodType): Check {
  return (value) => schema.safeParse(value).error?.issues[0]?.message
}

export const checkNumber: Check = (value) =>
  /^[1-9]\d{0,14}$/.test(value) ? undefined : 'must be a whole number from 1'

export const checkNotEmpty: Check = (value) => (value === '' ? 'must not be empty' : undefined)
