import type { FieldError } from './http/problem.ts'

/** Bytes of one value: PostgreSQL cannot index much more, and an external id must fit into a path. */
const MAX_BYTES = 2048

/** The values of a user or group that somebody wants to write; what is `undefined` is not written. */
export interface WrittenValues {
  readonly external_id?: string | undefined
  readonly email?: string | undefined
  readonly name?: string | undefined
  readonly employee_id?: string | undefined
  readonly external_member_ids?: readonly string[] | undefined
}

/** What is not allowed in these values, each fault with its field; `at` is put before the names of the fields. */
export function valueErrors(
  values: WrittenValues,
  allowedDomains: readonly string[],
  at: string = '',
): FieldError[] {
  const errors: FieldError[] = []
  const check = (field: string, message: string | undefined) => {
    if (message !== undefined) errors.push({ field: `${at}${field}`, message })
  }
  if (values.external_id !== undefined) check('external_id', externalIdFault(values.external_id))
  if (values.email !== undefined) check('email', emailFault(values.email, allowedDomains))
  if (values.name !== undefined) check('name', nameFault(values.name))
  if (values.employee_id !== undefined) check('employee_id', textFault(values.employee_id))
  for (const [index, id] of (values.external_member_ids ?? []).entries()) {
    check(`external_member_ids[${index}]`, externalIdFault(id))
  }
  return errors
}

/** The largest number that the store takes. */
const MAX_INTEGER = 2_147_483_647

/** What is not allowed in the values of a subscription that somebody wants to write. */
export function subscriptionErrors(values: {
  readonly name?: string | undefined
  readonly position?: number | undefined
}): FieldError[] {
  const { name, position = 0 } = values
  const errors: FieldError[] = []
  const fault = name === undefined ? undefined : nameFault(name)
  if (fault !== undefined) errors.push({ field: 'name', message: fault })
  if (position < 0 || position > MAX_INTEGER) {
    errors.push({ field: 'position', message: `must be from 0 to ${MAX_INTEGER}` })
  }
  return errors
}

/** An id is a segment of a path: clients and proxies turn an empty one, `.` and `..` into another path. */
function externalIdFault(id: string): string | undefined {
  if (id === '') return 'must not be empty'
  if (id === '.' || id === '..') return `must not be "${id}", which no path can carry`
  return textFault(id)
}

function emailFault(email: string, allowedDomains: readonly string[]): string | undefined {
  const at = email.lastIndexOf('@')
  if (email.length > 254 || !/^[^\s\p{Cc}@"(),:;<>[\\\]]{1,64}@[^\s\p{Cc}@]+$/u.test(email)) {
    return 'is not an e-mail address'
  }
  const domain = canonicalDomain(email.slice(at + 1))
  if (!allowedDomains.some((allowed) => canonicalDomain(allowed) === domain)) {
    return 'is outside the allowed domains of the organization'
  }
  return textFault(email)
}

function canonicalDomain(domain: string): string {
  return domain.normalize('NFC').toLowerCase()
}

function nameFault(name: string): string | undefined {
  if (name.trim() === '') return 'must not be empty'
  return textFault(name)
}

/** What the store could not keep as it is. */
function textFault(text: string): string | undefined {
  if (text.includes('\0')) return 'must not hold a NUL character'
  if (!text.isWellFormed()) return 'must be well-formed Unicode'
  if (Buffer.byteLength(text) > MAX_BYTES) return `must not be longer than ${MAX_BYTES} bytes`
  return undefined
}

/** All but the last word and the last word of a name; of a single word only the last name. */
export function splitPersonName(name: string | null): { first: string | null; last: string | null } {
  const words = name?.trim().split(/\s+/) ?? []
  const last = words.pop() ?? null
  return { first: words.length === 0 ? null : words.join(' '), last: last === '' ? null : last }
}
