import { MAX_ID } from '../api/contract/values.ts'
import { type FieldError, MAX_ERRORS } from './http/problem.ts'

/** Of one value: PostgreSQL cannot index much more, and an external id must fit into a path. */
const MAX_BYTES = 2048

/** An `undefined` value is not written. */
export interface WrittenValues {
  readonly external_id?: string | undefined
  readonly email?: string | undefined
  readonly name?: string | undefined
  readonly employee_id?: string | undefined
  readonly external_member_ids?: readonly string[] | undefined
}

/**
 * One error for each forbidden value, but no more for members than an answer shows. `prefix` precedes the names of the
 * fields.
 */
export function valueErrors(
  values: WrittenValues,
  allowedDomains: readonly string[],
  prefix: string = '',
): FieldError[] {
  const errors: FieldError[] = []
  const check = (field: string, message: string | undefined) => {
    if (message !== undefined) errors.push({ field: `${prefix}${field}`, message })
  }
  if (values.external_id !== undefined) check('external_id', externalIdError(values.external_id))
  if (values.email !== undefined) check('email', emailError(values.email, allowedDomains))
  if (values.name !== undefined) check('name', nameError(values.name))
  if (values.employee_id !== undefined) check('employee_id', textError(values.employee_id))
  for (const [index, id] of (values.external_member_ids ?? []).entries()) {
    const message = externalIdError(id)
    if (message !== undefined) check(`external_member_ids[${index}]`, message)
    if (errors.length > MAX_ERRORS) return errors
  }
  return errors
}

export function subscriptionErrors(values: {
  readonly name?: string | undefined
  readonly position?: number | undefined
}): FieldError[] {
  const { name, position = 0 } = values
  const errors: FieldError[] = []
  const nameMessage = name === undefined ? undefined : nameError(name)
  if (nameMessage !== undefined) errors.push({ field: 'name', message: nameMessage })
  if (position < 0 || position > MAX_ID) {
    errors.push({ field: 'position', message: `must be from 0 to ${MAX_ID}` })
  }
  return errors
}

/** Clients and proxies change a path with an empty segment, `.` or `..`. */
function externalIdError(id: string): string | undefined {
  if (id === '') return 'must not be empty'
  if (id === '.' || id === '..') return `must not be "${id}", which the path of a URL cannot contain`
  return textError(id)
}

function emailError(email: string, allowedDomains: readonly string[]): string | undefined {
  const at = email.lastIndexOf('@')
  if (email.length > 254 || !/^[^\s\p{Cc}@"(),:;<>[\\\]]{1,64}@[^\s\p{Cc}@]+$/u.test(email)) {
    return 'is not an e-mail address'
  }
  const domain = canonicalDomain(email.slice(at + 1))
  if (!allowedDomains.some((allowed) => canonicalDomain(allowed) === domain)) {
    return 'is outside the allowed domains of the organization'
  }
  return textError(email)
}

function canonicalDomain(domain: string): string {
  return domain.normalize('NFC').toLowerCase()
}

function nameError(name: string): string | undefined {
  if (name.trim() === '') return 'must not be empty'
  return textError(name)
}

/** What PostgreSQL could not store unchanged. */
function textError(text: string): string | undefined {
  if (text.includes('\0')) return 'must not hold a NUL character'
  if (!text.isWellFormed()) return 'must be well-formed Unicode'
  // A character has at most three bytes, so a short text need not be counted.
  if (text.length * 3 > MAX_BYTES && Buffer.byteLength(text) > MAX_BYTES)
    return `must not be longer than ${MAX_BYTES} bytes`
  return undefined
}

/** Splits a name before its last word; a single word is the last name. */
export function splitPersonName(name: string | null): { first: string | null; last: string | null } {
  const words = name?.trim().split(/\s+/) ?? []
  const last = words.pop() ?? null
  return { first: words.length === 0 ? null : words.join(' '), last: last === '' ? null : last }
}
