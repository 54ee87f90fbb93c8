import type { z } from 'zod'
import { type Form, MAX_ENTRIES } from '../../contract/endpoints.ts'
import type { Steps } from '../../directory/steps.ts'
import { type FieldError, fieldProblem, MAX_ERRORS, messageOf } from './problem.ts'

/** So many values of a list are checked at once, which takes about a millisecond. */
const PART = 1000

interface Fault extends FieldError {
  /** Whether the value is of a wrong type; one of the right type that is not allowed is not malformed. */
  readonly malformed: boolean
}

/**
 * The fields of a form, or the entries of its list, checked against the contract. Goes on after a fault, but not after
 * more than an answer shows. Throws a `Problem`.
 */
export function* checkForm({ list, fields }: Form, body: unknown): Steps<unknown> {
  const given = body ?? {}
  if (!isRecord(given)) {
    throw fieldProblem('malformed', [{ field: 'body', message: 'must be a form or a JSON object' }])
  }
  const faults: Fault[] = []
  const checked =
    list === undefined
      ? yield* checkFields(fields, given, '', faults)
      : yield* checkEntries(fields, entriesOf(list, given), list, faults)
  if (faults.length === 0) return checked
  const errors = faults.map(({ field, message }) => ({ field, message }))
  throw fieldProblem(faults.some(({ malformed }) => malformed) ? 'malformed' : 'value-not-allowed', errors)
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
  faults: Fault[],
): Steps<unknown[]> {
  const checked: unknown[] = []
  for (const [index, entry] of entries.entries()) {
    checked.push(yield* checkFields(schema, entry, `${list}[${index}]`, faults))
    yield
  }
  return checked
}

/** The schema sees only the fields that it knows, with the first part of a long list; the other parts follow. */
function* checkFields(
  schema: z.ZodObject,
  fields: unknown,
  at: string,
  faults: Fault[],
): Steps<Record<string, unknown> | undefined> {
  if (!isRecord(fields)) return check(schema, fields, at, faults)
  const known: Record<string, unknown> = {}
  const longLists: [string, unknown[]][] = []
  for (const name of Object.keys(schema.shape)) {
    if (!Object.hasOwn(fields, name)) continue
    const value = fields[name]
    const isLong = Array.isArray(value) && value.length > PART
    known[name] = isLong ? value.slice(0, PART) : value
    if (isLong) longLists.push([name, value])
  }
  const checked = check(schema, known, at, faults)
  for (const [name, list] of longLists) {
    const field = schema.shape[name] as z.ZodType<unknown[]>
    for (let start = PART; start < list.length && faults.length <= MAX_ERRORS; start += PART) {
      yield
      const part = check(
        field,
        list.slice(start, start + PART),
        at === '' ? name : `${at}.${name}`,
        faults,
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
  faults: Fault[],
  start: number = 0,
): T | undefined {
  const result = schema.safeParse(value, { reportInput: true })
  if (result.success) return result.data
  faults.push(...result.error.issues.map((issue) => faultOf(issue, at, start)))
  return undefined
}

function faultOf(issue: z.core.$ZodIssue, at: string, start: number): Fault {
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
