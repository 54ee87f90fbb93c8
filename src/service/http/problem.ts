import type { z } from 'zod'

/** The code is the last part of the problem's `type`. */
export const PROBLEMS = {
  malformed: { status: 400, title: 'The request is malformed' },
  'device-id-invalid': { status: 400, title: 'The device id is missing or too long' },
  'token-refused': { status: 401, title: 'The token is missing, unknown or expired' },
  'scope-missing': { status: 403, title: 'The token lacks the scope' },
  'not-permitted': { status: 403, title: 'The resource does not permit this' },
  'not-found': { status: 404, title: 'There is no such resource' },
  'method-not-allowed': { status: 405, title: 'The path has no such method' },
  'request-timeout': { status: 408, title: 'The request did not arrive in time' },
  'external-id-taken': { status: 409, title: 'The external id is taken' },
  'not-supported': { status: 409, title: 'The resource does not support this' },
  'body-too-large': { status: 413, title: 'The body is too large' },
  'path-too-long': { status: 414, title: 'The path or the query is too long' },
  'media-type-unsupported': { status: 415, title: 'The media type is not supported' },
  'value-not-allowed': { status: 422, title: 'A value is not allowed' },
  'too-many-requests': { status: 429, title: 'Too many requests' },
  'headers-too-large': { status: 431, title: 'The headers are too large' },
  internal: { status: 500, title: 'The service failed' },
  unavailable: { status: 503, title: 'The service is not available' },
} as const

export type ProblemCode = keyof typeof PROBLEMS

/** The field is named like `email` or `users[3].email`. */
export interface FieldError {
  readonly field: string
  readonly message: string
}

/** RFC 9457, `application/problem+json`. */
export interface ProblemBody {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly detail: string
  readonly errors?: readonly FieldError[]
}

export const PROBLEM_TYPE = 'application/problem+json'

export interface ProblemOptions {
  readonly errors?: readonly FieldError[]
  readonly headers?: Readonly<Record<string, string>>
  readonly cause?: unknown
}

/** Becomes the answer; the message is the problem's `detail`. */
export class Problem extends Error {
  override readonly name = 'Problem'
  readonly code: ProblemCode
  readonly errors: readonly FieldError[]
  readonly headers: Readonly<Record<string, string>>

  constructor(code: ProblemCode, detail: string, options: ProblemOptions = {}) {
    super(detail, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.errors = options.errors ?? []
    this.headers = options.headers ?? {}
  }

  get status(): number {
    return PROBLEMS[this.code].status
  }
}

export function problemType(code: ProblemCode): string {
  return `urn:access-management:problem:${code}`
}

export function problemBody(problem: Problem): ProblemBody {
  const { status, title } = PROBLEMS[problem.code]
  const body = { type: problemType(problem.code), title, status, detail: problem.message }
  return problem.errors.length === 0 ? body : { ...body, errors: problem.errors }
}

/** Per answer. */
export const MAX_ERRORS = 100

/** The detail is the first messages. More errors than `MAX_ERRORS` only count as "many". */
export function fieldProblem(
  code: 'malformed' | 'external-id-taken' | 'value-not-allowed',
  errors: readonly FieldError[],
): Problem {
  const shown = errors.slice(0, 3).map((error) => `${error.field} ${error.message}`)
  const more = errors.length > MAX_ERRORS ? 'many' : errors.length - shown.length
  const rest = errors.length > shown.length ? `, and ${more} more` : ''
  return new Problem(code, `${shown.join('; ')}${rest}.`, { errors: errors.slice(0, MAX_ERRORS) })
}

export function messageOf(issue: z.core.$ZodIssue): string {
  if (issue.code === 'invalid_type') return `must be of type ${issue.expected}`
  if (issue.code === 'too_small' && issue.origin === 'string') return 'must not be empty'
  return issue.message
}

/** In milliseconds, at least. */
export function tooManyRequests(wait: number): Problem {
  const seconds = Math.max(1, Math.ceil(wait / 1000))
  return new Problem('too-many-requests', `There are too many requests; try again in ${seconds} s.`, {
    headers: { 'retry-after': String(seconds) },
  })
}

export function notFound(): Problem {
  return new Problem('not-found', 'Nothing with this address exists in the organization.')
}
