import type { z } from 'zod'
import type { Endpoint } from '../contract/endpoints.ts'
import type { HttpAnswer } from './answer.ts'

/** The texts complete the sentence "expected …, got …". */
export interface Mismatch {
  readonly expected: string
  readonly actual: string
}

/** Empty if the answer is as the API description states. */
export type Check = (answer: HttpAnswer) => readonly Mismatch[]

export const noCheck: Check = () => []

/** Stops at the first check with a mismatch. */
export function firstFailing(...checks: readonly Check[]): Check {
  return (answer) => {
    for (const check of checks) {
      const mismatches = check(answer)
      if (mismatches.length > 0) return mismatches
    }
    return []
  }
}

export function allOf(...checks: readonly Check[]): Check {
  return (answer) => checks.flatMap((check) => check(answer))
}

export function status(wanted: number): Check {
  return ({ status: got }) => (got === wanted ? [] : [{ expected: `status ${wanted}`, actual: `${got}` }])
}

export const success: Check = ({ status: got }) =>
  got >= 200 && got < 300 ? [] : [{ expected: 'a success (2xx)', actual: `${got}` }]

export const refusal: Check = ({ status: got }) =>
  got >= 400 && got < 500 ? [] : [{ expected: 'a refusal (4xx)', actual: `${got}` }]

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

const tokenExpiry: Check = (answer) => {
  const value = answer.header('x-token-expires-in')
  if (value === undefined) return [{ expected: 'the header x-token-expires-in', actual: 'none' }]
  return Number.isFinite(Number(value))
    ? []
    : [{ expected: 'a number in x-token-expires-in', actual: `"${value.slice(0, 40)}"` }]
}

export function field(name: string, value: unknown): Check {
  return (answer) => {
    const got = (answer.json as Record<string, unknown> | null | undefined)?.[name]
    return got === value
      ? []
      : [{ expected: `${name} ${JSON.stringify(value)}`, actual: JSON.stringify(got) ?? 'none' }]
  }
}

export function fields(values: Readonly<Record<string, unknown>>): Check {
  return allOf(...Object.entries(values).map(([name, value]) => field(name, value)))
}

/** A read must succeed with a body that fits the contract. */
export function reads({ response }: Endpoint, more: Check = noCheck): Check {
  const body = response === undefined ? noCheck : shape(response)
  return firstFailing(status(200), allOf(firstFailing(body, more), tokenExpiry))
}

/** A write must succeed; the description shows neither its exact status nor, except that of #17, its body. */
export function writes(body: Check = noCheck): Check {
  return firstFailing(success, allOf(body, tokenExpiry))
}
