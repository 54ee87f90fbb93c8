import { endpoints, type Operation } from '../contract/endpoints.ts'
import type { Mismatch } from './checks.ts'

/** The case cannot be tried; the message says why. */
export class SkipCase extends Error {
  override readonly name = 'SkipCase'
}

/** A request got no answer or a server error (5xx), which may be temporary. */
export class RequestFailed extends Error {
  override readonly name = 'RequestFailed'
  readonly operation: Operation
  readonly mismatch: Mismatch
  readonly isAnswered: boolean

  /** `failure`: the status, or the reason why no answer came. */
  constructor(operation: Operation, failure: number | string, options?: ErrorOptions) {
    const isAnswered = typeof failure === 'number'
    const what = isAnswered ? `answered ${failure}` : `got no answer: ${failure}`
    super(`#${endpoints[operation].number} ${what}`, options)
    this.operation = operation
    this.mismatch = { expected: isAnswered ? 'no server error (5xx)' : 'an answer', actual: `${failure}` }
    this.isAnswered = isAnswered
  }
}

export interface Result {
  readonly operation: Operation
  /** The row of the description's table. */
  readonly number: number
  readonly method: string
  readonly path: string
  /** Such as "no token". */
  readonly probe: string
  readonly state: 'ok' | 'differs' | 'not-checked'
  readonly differences: readonly Mismatch[]
  /** A capability that the service lacks and the description does not require. */
  readonly unstated?: Mismatch
  /** Why it was not checked. */
  readonly reason?: string
}
