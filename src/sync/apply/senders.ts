import type { Create } from '../../core/plan/batches.ts'
import type { Change } from '../../core/plan/change.ts'
import type { BatchFault, Outcome, SharedOutcome } from '../../core/plan/outcome.ts'

interface HowToSend {
  /** Look the entry up with GET first. */
  readonly check: boolean
  /** Called before each request; an error that it throws prevents the request. */
  readonly beforeRequest: () => void
}

/** Never throws for an answer of the API. */
export type ApplyChange = (change: Change, how: HowToSend, signal: AbortSignal) => Promise<Outcome>

interface HowToSendBatch extends HowToSend {
  /** Called before each write; on `false`, the rest is not sent. */
  readonly maySend: () => boolean
  readonly onFault: (fault: BatchFault) => void
}

/** Creates entries of one kind with different ids, yielding each outcome. Never throws for an answer of the API. */
export type CreateBatch = (
  changes: readonly Create[],
  how: HowToSendBatch,
  signal: AbortSignal,
) => AsyncIterable<SharedOutcome>

export interface Senders {
  readonly applyChange: ApplyChange
  readonly createBatch: CreateBatch
  /** The most creates in one request. */
  readonly batchSize: number
}
