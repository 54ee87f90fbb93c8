import type { Endpoint, Operation } from '../../contract/endpoints.ts'
import { baseRequest } from '../base.ts'
import type { Expectation } from '../checks.ts'
import type { ApiRequest } from '../request.ts'
import { isNoAnswer, type Probing } from '../probing.ts'
import { judge, type Verdict } from '../verdict.ts'

/** One thing to try with one endpoint. */
export interface Case {
  readonly name: string
  /** Says nothing about the service unless the token may use the endpoint. */
  readonly needsScope: boolean
  /** Throws `Unchecked` where it cannot be tried. */
  readonly try: (probing: Probing) => Promise<Verdict>
}

/** The row that cases are made for. */
export interface Row {
  readonly operation: Operation
  readonly endpoint: Endpoint
}

interface ChangeOptions {
  readonly needsScope?: boolean
  /** A service may close the connection rather than read on. */
  readonly mayClose?: boolean
}

/** A case of one request: one that succeeds, but for what is changed. */
export function changed(
  { operation }: Row,
  name: string,
  change: (probing: Probing) => ApiRequest,
  expectation: Expectation,
  options: ChangeOptions = {},
): Case {
  const { needsScope = true, mayClose = false } = options
  return {
    name,
    needsScope,
    async try(probing) {
      const different = change(probing)
      const { form, ...base } = await baseRequest(probing, operation)
      // The form is replaced as a whole by another body.
      const body = different.body === undefined && form !== undefined ? { form } : {}
      const params = { ...base.params, ...different.params }
      try {
        return judge(expectation, await probing.send(operation, { ...base, ...body, ...different, params }))
      } catch (error) {
        if (!mayClose || !isNoAnswer(error) || !error.closed) throw error
        return { differences: [], notes: [{ expected: 'an answer', actual: 'a closed connection' }] }
      }
    },
  }
}
