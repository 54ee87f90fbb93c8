import type { Change } from '../../core/plan/change.ts'
import type { Unmet } from '../../core/plan/needs.ts'
import type { FencedRun } from '../../store/fenced-run.ts'

/**
 * The whole payload of a job: take the next changes of the run, at most `most`. It proves nothing: at the claim, the
 * store decides what remains to do and whether the run is still the current one. So a ticket that comes twice, late or
 * never costs nothing.
 */
export interface Ticket extends Pick<FencedRun, 'run' | 'epoch'> {
  readonly most: number
}

/** Each sync has its own queue, so that it can be paused alone. */
export function changesQueueName(sync: string): string {
  return `changes-${sync}`
}

export interface Claimed {
  readonly number: number
  readonly change: Change
  readonly fingerprint: string
  /** The number of attempts, this one included. */
  readonly attempts: number
  readonly refusals: number
  readonly retry: boolean
  /** An earlier attempt has no outcome. */
  readonly unsure: boolean
  /** Nothing is sent, because a change that it needs was not made. */
  readonly unmet?: Unmet
}
