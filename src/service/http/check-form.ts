import type { z } from 'zod'
import { type Form, MAX_ENTRIES } from '../../api/contract/endpoints.ts'
import type { Steps } from '../../base/steps.ts'
import { type FieldError, fieldProblem, MAX_ERRORS, messageOf } from './problem.ts'

const PART = 1000

interface FormError extends FieldError {
  /** The value has a wrong type. A value of the right type that is not allowed is not malformed. */
  readonly malformed: boolean
}

/**
 * Checks against the contract. Continues after an error, until there are more errors than an answer shows. Throws a
 * `Problem`.
 */
export function* checkForm({ list, fields }: Form, body: unknown): Steps<unknown> {
  const given = body ?? {}
  if (!isRecord(given)) {
    throw fieldProblem('malformed', [{ field: 'body', message: 'must be a form or a JSON object' }])
  }
  const found: FormError[] = []
  const checked =
    list === undefined
      ? yield* checkFields(fields, given, '', found)
      : yield* checkEntries(fields, entriesOf(list, given), list, found)
  if (found.length === 0) return checked
  const errors = found.map(({ field, message }) => ({ field, message }))
  throw fieldProblem(found.some(({ malformed }) => malformed) ? 'malformed' : 'value-not-allowed', errors)
}

function entriesOf(list: string, body: Record<string, unknown>): unknown[] {
  const entries = body[list]
  if (Array.isArray(entries) && entries.length > 0 && entries.length <= MAX_ENTRIES) return entries
  throw fieldProblem('malformed', [{ field: list, message: `must be a list of 1 to ${MAX_ENTRIES} entries` }])
}

function* checkEntries(
  schema: z.ZodObject,
  entries: readonly unknown[],
  list: string,
  found: FormError[],
): Steps<unknown[]> {
  const checked: unknown[] = []
  for (const [index, entry] of entries.entries()) {
    checked.push(yield* checkFields(schema, entry, `${list}[${index}]`, found))
    yield
  }
  return checked
}

/** The schema sees only known fields, with the first part of a long list; the other parts follow. */
function* checkFields(
  schema: z.ZodObject,
  fields: unknown,
  at: string,
  found: FormError[],
): Steps<Record<string, unknown> | undefined> {
  if (!isRecord(fields)) return check(schema, fields, at, found)
  const known: Record<string, unknown> = {}
  const longLists: [string, unknown[]][] = []
  for (const name of Object.keys(schema.shape)) {
    if (!Object.hasOwn(fields, name)) continue
    const value = fields[name]
    const isLong = Array.isArray(value) && value.length > PART
    known[name] = isLong ? value.slice(0, PART) : value
    if (isLong) longLists.push([name, value])
  }
  const checked = check(schema, known, at, found)
  for (const [name, list] of longLists) {
    const field = schema.shape[name] as z.ZodType<unknown[]>
    for (let start = PART; start < list.length && found.length <= MAX_ERRORS; start += PART) {
      yield
      const part = check(
        field,
        list.slice(start, start + PART),
        at === '' ? name : `${at}.${name}`,
        found,
        start,
      )
      if (checked !== undefined && part !== undefined) (checked[name] as unknown[]).push(...part)
    }
  }
  return checked
}

/** `start` is the position of the first value, where `value` is a part of a list. */
function check<T>(
  schema: z.ZodType<T>,
  value: unknown,
  at: string,
  found: FormError[],
  start: number = 0,
): T | undefined {
  const result = schema.safeParse(value, { reportInput: true })
  if (result.success) return result.data
  found.push(...result.error.issues.map((issue) => formErrorOf(issue, at, start)))
  return undefined
}

function formErrorOf(issue: z.core.$ZodIssue, at: string, start: number): FormError {
  const [first, ...rest] = issue.path
  const path = typeof first === 'number' ? [first + start, ...rest] : issue.path
  const field = path.reduce<string>((name, part) => {
    if (typeof part === 'number') return `${name}[${part}]`
    return name === '' ? String(part) : `${name}.${String(part)}`
  }, at)
  const missing = issue.code === 'invalid_type' && issue.input === undefined
  return {
    field,
    message: missing ? 'is required' : messageOf(issue),
    malformed: issue.code === 'invalid_type' || issue.code === 'invalid_union',
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
