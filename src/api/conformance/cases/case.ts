import type { Endpoint, Operation } from '../../contract/endpoints.ts'
import { baseRequest } from '../base.ts'
import type { Expectation } from '../checks.ts'
import type { ApiRequest } from '../request.ts'
import type { Probing } from '../probing.ts'
import { judge, type Verdict } from '../verdict.ts'

export interface Case {
  readonly name: string
  /** The result is meaningless unless the token may use the endpoint. */
  readonly needsScope: boolean
  /** The service may close the connection instead of answering. */
  readonly mayClose?: boolean
  /** Throws `Unchecked` if the case cannot be tried. */
  readonly try: (probing: Probing) => Promise<Verdict>
}

export interface Row {
  readonly operation: Operation
  readonly endpoint: Endpoint
}

export function changed(
  { operation }: Row,
  name: string,
  change: (probing: Probing) => ApiRequest,
  expectation: Expectation,
  options: Partial<Pick<Case, 'needsScope' | 'mayClose'>> = {},
): Case {
  return {
    name,
    needsScope: true,
    ...options,
    async try(probing) {
      const different = change(probing)
      const { form, ...base } = await baseRequest(probing, operation)
      // Another body replaces the whole form.
      const body = different.body === undefined && form !== undefined ? { form } : {}
      const params = { ...base.params, ...different.params }
      return judge(expectation, await probing.send(operation, { ...base, ...body, ...different, params }))
    },
  }
}
