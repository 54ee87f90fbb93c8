import type { Endpoint, Operation } from '../../contract/endpoints.ts'
import { baseRequest } from '../base.ts'
import type { Check, Mismatch } from '../checks.ts'
import type { ApiRequest } from '../request.ts'
import type { Session } from '../session.ts'

export interface Case {
  readonly name: string
  /** The result is meaningless unless the token may use the endpoint. */
  readonly needsScope: boolean
  /** If false, the description does not state what the case tries. Default true. */
  readonly isStated?: boolean
  /** Throws `SkipCase` if the case cannot be tried, and `RequestFailed`. */
  readonly try: (session: Session) => Promise<readonly Mismatch[]>
}

export interface Row {
  readonly operation: Operation
  readonly endpoint: Endpoint
}

/** Checks the answer to the base request as `change` makes it. */
export function changed(
  { operation }: Row,
  name: string,
  change: (base: ApiRequest) => ApiRequest,
  check: Check,
  { needsScope = true }: Partial<Pick<Case, 'needsScope'>> = {},
): Case {
  return {
    name,
    needsScope,
    try: async (session) =>
      check(await session.send(operation, change(await baseRequest(session, operation)))),
  }
}

export function withQuery(row: Row, query: string, check: Check): Case {
  return changed(row, query, (base) => ({ ...base, query }), check)
}
