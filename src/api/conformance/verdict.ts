import type { Operation } from '../contract/endpoints.ts'
import type { HttpAnswer } from './answer.ts'
import type { Expectation, Mismatch } from './checks.ts'

/** The case could not be tried; the message says why. `refused`: the token may not use the endpoint at all. */
export class Unchecked extends Error {
  override readonly name = 'Unchecked'
  readonly refused: boolean

  constructor(reason: string, { refused = false }: { readonly refused?: boolean } = {}) {
    super(reason)
    this.refused = refused
  }
}

/** `differences` are from the API description, `notes` from the service in this repository. */
export interface Verdict {
  readonly differences: readonly Mismatch[]
  readonly notes: readonly Mismatch[]
  /** A server error (5xx), which may be temporary. */
  readonly serverError?: boolean
}

export interface Result extends Omit<Verdict, 'serverError'> {
  readonly operation: Operation
  /** The row of the description's table. */
  readonly number: number
  readonly method: string
  readonly path: string
  /** Such as "no token". */
  readonly probe: string
  readonly state: 'ok' | 'differs' | 'unclear' | 'not-checked'
  /** Why it was not checked, or what happened in each try if it is unclear whether the service differs. */
  readonly reason?: string
  /** The server error or missing answer before a good try. */
  readonly passingFault?: string
}

/** Compares with the service in this repository only if the answer is as the description states. */
export function judge(expectation: Expectation, answer: HttpAnswer): Verdict {
  const differences = expectation.stated(answer)
  const notes = differences.length > 0 ? [] : expectation.reference(answer)
  return { differences, notes, serverError: answer.status >= 500 }
}

export function differs(expected: string, actual: string): Verdict {
  return { differences: [{ expected, actual }], notes: [] }
}

export const NO_DIFFERENCES: Verdict = { differences: [], notes: [] }
