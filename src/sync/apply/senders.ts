import type { Create } from '../../core/plan/batches.ts'
import type { Change } from '../../core/plan/change.ts'
import type { ListFault, Outcome, SharedOutcome } from '../../core/plan/outcome.ts'
import type { CanaryTimes } from '../../queue/times.ts'

export interface HowToSend {
  /** Look with GET before anything is sent. */
  readonly check: boolean
  /** Called before each request; what it throws keeps the request from being sent. */
  readonly beforeRequest: () => void
}

/** Applies one change. Never throws for what the API answers. */
export type ApplyChange = (change: Change, how: HowToSend, signal: AbortSignal) => Promise<Outcome>

export interface HowToSendList extends HowToSend {
  /** Asked before each list is sent; on `false`, what is left is not sent. */
  readonly maySend: () => boolean
  /** Told when lists are to be shorter, or to end. */
  readonly onListFault: (fault: ListFault) => void
  /** How long entries are waited for that the service says to have created, in milliseconds. */
  readonly patience: CanaryTimes['look']
}

/**
 * Creates several entries of one kind, whose ids differ, with as few requests as the service allows, and tells what
 * becomes of each. Never throws for what the API answers.
 */
export type CreateTogether = (
  changes: readonly Create[],
  how: HowToSendList,
  signal: AbortSignal,
) => AsyncIterable<SharedOutcome>

/** How changes reach the directory of one sync. */
export interface Senders {
  readonly applyChange: ApplyChange
  readonly createTogether: CreateTogether
  /** The most entries that one request creates. */
  readonly createBatch: number
}
