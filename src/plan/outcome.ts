import type { ErrorCode } from '../errors.ts'

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
      /** The entry to create was in the directory, and not because an earlier request had created it. */
      readonly wasThere?: boolean | undefined
    }
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
      /** A look whether the change was done was answered with 429. */
      readonly retryAfterMs?: number
    }
  /** The API refused the entry for its own content. */
  | { readonly result: 'refused'; readonly status: number | undefined; readonly detail: string }
  /** The token lacks the scope, or the API forbids changes of this entry. */
  | { readonly result: 'forbidden'; readonly status: number | undefined; readonly detail: string }
  /** The whole run must stop. */
  | { readonly result: 'stop'; readonly code: ErrorCode; readonly detail: string }
