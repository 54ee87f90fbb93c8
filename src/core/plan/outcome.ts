import type { ErrorCode } from '../../base/errors.ts'
import type { Create } from './batches.ts'

/** The outcome of one attempt to apply a change. Details are sentences for a person and hold no secret. */
export type Outcome =
  | {
      /**
       * `applied`: the API did it. `found`: a check found it done. `already`: the entry to delete did not exist.
       * `missing`: the entry to update did not exist.
       */
      readonly result: 'applied' | 'found' | 'already' | 'missing'
      readonly status: number | undefined
      readonly requests: number
      /** What the change wants was there before its first request: for a delete, that the entry is gone. */
      readonly wasThere?: boolean | undefined
      /** The service gave the entry what was sent for another one: why the run must stop. */
      readonly mixedUp?: string
    }
  /**
   * The API accepted it together with others and shows none of them; it may show them late. Or it shows an entry with
   * another id. So it is not sent again in this run.
   */
  | { readonly result: 'not-shown'; readonly status: number | undefined; readonly detail: string }
  /** The API answered 429 and did nothing. */
  | { readonly result: 'rate-limited'; readonly retryAfterMs: number }
  /** Network error, time-out or 5xx after the client's own retries; the API may have done the change. */
  | {
      readonly result: 'unavailable'
      readonly status: number | undefined
      readonly detail: string
      /**
       * Who answered last during this attempt. If the service did, perhaps only this change fails; so it may be with
       * the web page of a proxy.
       */
      readonly answeredBy: 'service' | 'proxy' | 'nobody'
      /** Nobody answered the change in time, so the service may still be doing it. */
      readonly timedOut?: boolean
      /** A look whether the change was done was answered with 429. */
      readonly retryAfterMs?: number
    }
  /** The API refused the entry for its own content. */
  | { readonly result: 'refused'; readonly status: number | undefined; readonly detail: string }
  /** The token lacks the scope, or the API forbids changes of this entry. */
  | { readonly result: 'forbidden'; readonly status: number | undefined; readonly detail: string }
  /** The whole run must stop. */
  | { readonly result: 'stop'; readonly code: ErrorCode; readonly detail: string }

/** What one answer said of some of the creates that were sent together. */
export interface SharedOutcome {
  readonly changes: readonly Create[]
  /** `undefined`: they were not sent. */
  readonly outcome: Outcome | undefined
}

/** What a service did with a list of new entries that makes the next ones shorter. */
export interface ListFault {
  /** No longer list is to be sent; 1 ends lists. */
  readonly entries: number
  /** The entry that shows it, where there is one. */
  readonly id: string | undefined
  /** What was sent, and what the service did. */
  readonly detail: string
  /** Only one entry of the list was missing, which may be its own fault. */
  readonly isSingle?: boolean
}
