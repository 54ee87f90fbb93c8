import type { ErrorCode } from '../errors.ts'

/** What one try to apply a change came to. Texts are sentences for a person and hold no secret. */
export type Outcome =
  | {
      /**
       * `applied`: the API did it. `found`: it was so before anything was sent. `already`: nothing was left to delete.
       * `missing`: nothing was there to update.
       */
      readonly result: 'applied' | 'found' | 'already' | 'missing'
      readonly status: number | undefined
      readonly requests: number
    }
  /** The API asked to come back later and did nothing. */
  | { readonly result: 'rate-limited'; readonly retryAfterMs: number }
  /** Network, time-out or 5xx after the client's own retries; the API may have done it all the same. */
  | {
      readonly result: 'unavailable'
      readonly status: number | undefined
      readonly detail: string
      /** The API answered while this was tried: it may be this one change that it cannot do. */
      readonly answers: boolean
    }
  /** The API refused the entry for its own content. */
  | { readonly result: 'refused'; readonly status: number | undefined; readonly detail: string }
  /** The token lacks the scope, or the API guards just this entry. */
  | { readonly result: 'forbidden'; readonly status: number | undefined; readonly detail: string }
  /** Nothing of this run can go on. */
  | { readonly result: 'stop'; readonly code: ErrorCode; readonly detail: string }
