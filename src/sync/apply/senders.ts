import type { Create } from '../../core/plan/batches.ts'
import type { Change } from '../../core/plan/change.ts'
import type { ListFault, Outcome, SharedOutcome } from '../../core/plan/outcome.ts'
import type { CanaryTimes } from '../../queue/times.ts'

export interface HowToSend {
  /** Look the entry up with GET first. */
  readonly check: boolean
  /** Called before each request; an error that it throws prevents the request. */
  readonly beforeRequest: () => void
}

/** Never throws for an answer of the API. */
export type ApplyChange = (change: Change, how: HowToSend, signal: AbortSignal) => Promise<Outcome>

export interface HowToSendList extends HowToSend {
  /** Called before each batch; on `false`, the rest is not sent. */
  readonly maySend: () => boolean
  readonly onListFault: (fault: ListFault) => void
  /** How long to wait, in milliseconds, for entries that the service claims to have created. */
  readonly patience: CanaryTimes['look']
}

/** Creates entries of one kind with different ids, yielding each outcome. Never throws for an answer of the API. */
export type CreateTogether = (
  changes: readonly Create[],
  how: HowToSendList,
  signal: AbortSignal,
) => AsyncIterable<SharedOutcome>

export interface Senders {
  readonly applyChange: ApplyChange
  readonly createTogether: CreateTogether
  readonly createBatch: number
}
