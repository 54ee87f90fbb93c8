import type { ErrorCode } from '../../base/errors.ts'
import type { Create } from './batches.ts'

/** The outcome of one attempt. Details are sentences for the operator and hold no secret. */
export type Outcome =
  | {
      /**
       * `applied`: the API did it. `found`: a lookup found it done. `already`: the entry to delete did not exist.
       * `missing`: the entry to update did not exist.
       */
      readonly result: 'applied' | 'found' | 'already' | 'missing'
      readonly status: number | undefined
      readonly requests: number
      /** The wanted state was there before the first request: for a delete, the entry was gone. */
      readonly wasThere?: boolean | undefined
      /** Why the run must stop: the service gave the entry the values of another one. */
      readonly mixedUp?: string
    }
  /** The API shows an entry with another id. It is not sent again in this run. */
  | { readonly result: 'not-shown'; readonly status: number | undefined; readonly detail: string }
  /** The API answered 429 and did nothing. */
  | { readonly result: 'rate-limited'; readonly retryAfterMs: number }
  /** Network error, time-out or 5xx after the client's own retries; the API may have done the change. */
  | {
      readonly result: 'unavailable'
      readonly status: number | undefined
      readonly detail: string
      /** The last answer of this attempt. From the service or a proxy, it may mean that only this change fails. */
      readonly answeredBy: 'service' | 'proxy' | 'nobody'
      /** No answer in time, so the service may still be working on the change. */
      readonly timedOut?: boolean
      /** The lookup whether the change was done was answered with 429. */
      readonly retryAfterMs?: number
    }
  /** The API refused the entry for its content. */
  | { readonly result: 'refused'; readonly status: number | undefined; readonly detail: string }
  /** The token lacks the scope, or the API forbids changes of this entry. */
  | { readonly result: 'forbidden'; readonly status: number | undefined; readonly detail: string }
  | { readonly result: 'stop'; readonly code: ErrorCode; readonly detail: string }

export interface SharedOutcome {
  readonly changes: readonly Create[]
  /** `undefined`: they were not sent. */
  readonly outcome: Outcome | undefined
}

/** The service did not create the entries of a batch as they were sent. */
export interface BatchFault {
  readonly id: string | undefined
  readonly detail: string
}
