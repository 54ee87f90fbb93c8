import { z } from 'zod'
import type { Endpoint } from '../contract/endpoints.ts'
import type { HttpAnswer } from './answer.ts'

/** The texts complete the sentence "expected …, got …". */
export interface Mismatch {
  readonly expected: string
  readonly actual: string
}

/** Empty if nothing is wrong. */
export type Check = (answer: HttpAnswer) => readonly Mismatch[]

/**
 * `stated`: what the API description states; `reference`: the answer of the service in this repository where the
 * description states nothing.
 */
export interface Expectation {
  readonly stated: Check
  readonly reference: Check
}

export const anything: Check = () => []

/** Stops at the first check with a mismatch. */
export function inTurn(...checks: readonly Check[]): Check {
  return (answer) => {
    for (const check of checks) {
      const mismatches = check(answer)
      if (mismatches.length > 0) return mismatches
    }
    return []
  }
}

export function together(...checks: readonly Check[]): Check {
  return (answer) => checks.flatMap((check) => check(answer))
}

export function status(...wanted: readonly number[]): Check {
  return (answer) =>
    wanted.includes(answer.status)
      ? []
      : [{ expected: `status ${wanted.join(' or ')}`, actual: `${answer.status}` }]
}

export const success: Check = ({ status: got }) =>
  got >= 200 && got < 300 ? [] : [{ expected: 'a success (2xx)', actual: `${got}` }]

export const refusal: Check = ({ status: got }) =>
  got >= 400 && got < 500 ? [] : [{ expected: 'a refusal (4xx)', actual: `${got}` }]

/** A success or a refusal, but no redirect and no server error. */
const decision: Check = ({ status: got }) =>
  got >= 200 && got < 500 ? [] : [{ expected: 'a success or a refusal', actual: `${got}` }]

/** Reports at most three mismatches. */
export function shape(schema: z.ZodType): Check {
  return (answer) => {
    if (answer.json === undefined) {
      return [{ expected: 'a body of JSON', actual: answer.text === '' ? 'no body' : 'something else' }]
    }
    const result = schema.safeParse(answer.json)
    if (result.success) return []
    return result.error.issues.slice(0, 3).map(({ path, message }) => ({
      expected: `${fieldName(path)} as described`,
      actual: message.replace(/^Invalid input: /, ''),
    }))
  }
}

function fieldName(path: readonly PropertyKey[]): string {
  const name = path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`)).join('')
  return name === '' ? 'a body' : name.replace(/^\./, '')
}

export const tokenExpiry: Check = (answer) => {
  const value = answer.header('x-token-expires-in')
  if (value === undefined) return [{ expected: 'the header x-token-expires-in', actual: 'none' }]
  return Number.isFinite(Number(value))
    ? []
    : [{ expected: 'a number in x-token-expires-in', actual: `"${value.slice(0, 40)}"` }]
}

const noBody: Check = ({ text }) => (text === '' ? [] : [{ expected: 'no body', actual: 'one' }])

export function field(name: string, value: unknown): Check {
  return (answer) => {
    const got = (answer.json as Record<string, unknown> | null | undefined)?.[name]
    return got === value
      ? []
      : [{ expected: `${name} ${JSON.stringify(value)}`, actual: JSON.stringify(got) ?? 'none' }]
  }
}

const problemShape = z.looseObject({
  type: z.string(),
  title: z.string(),
  status: z.int(),
  detail: z.string(),
})

/** An error answer in the format of the service in this repository. */
function problem(wanted: number): Check {
  return inTurn(status(wanted), problemType, shape(problemShape), field('status', wanted), (answer) =>
    wanted === 401 && answer.header('www-authenticate') === undefined
      ? [{ expected: 'the header www-authenticate', actual: 'none' }]
      : [],
  )
}

const problemType: Check = (answer) => {
  const type = answer.header('content-type') ?? 'no content type'
  return type.startsWith('application/problem+json')
    ? []
    : [{ expected: 'an error as application/problem+json', actual: type.replace(/;.*/, '') }]
}

/** Must not succeed; the service in this repository answers with the status `reference`. */
export function refuses(reference: number): Expectation {
  return { stated: refusal, reference: problem(reference) }
}

/** May succeed or not; the service in this repository answers with the status `reference`. */
export function decides(reference: number, more: Check = anything): Expectation {
  return {
    stated: inTurn(decision, more),
    reference: reference < 400 ? status(reference) : problem(reference),
  }
}

/** A read must succeed with a body that fits the contract. */
export function reads(endpoint: Endpoint, more: Check = anything): Expectation {
  const body = endpoint.response === undefined ? anything : shape(endpoint.response)
  return { stated: inTurn(status(200), together(inTurn(body, more), tokenExpiry)), reference: anything }
}

/** A write must succeed; its exact status, its body and `more` are checked only as `reference`. */
export function writes(endpoint: Endpoint, more: Check = anything, stated: Check = anything): Expectation {
  const body = endpoint.response === undefined ? noBody : shape(endpoint.response)
  return {
    stated: inTurn(success, together(tokenExpiry, stated)),
    reference: inTurn(status(endpoint.status), body, more),
  }
}
