import type { LockedRun } from '../../store/fenced-run.ts'
import type { ListFault } from '../../core/plan/outcome.ts'
import { REFUSED_IN_ROW } from './refusals.ts'

/** Shared by all chunks of a run in this process. */
export class RunInProcess {
  /** Aborted when another process has the run. */
  readonly overtaken = new AbortController()
  /** Refused changes of the run so far, and how many of them before the last successful change was sent. */
  refused = 0
  #refusedBeforeSuccess = 0
  /** The largest batch that the service seems to accept. */
  longestList = Number.POSITIVE_INFINITY
  #hasForgiven = false

  get isRefused(): boolean {
    return this.refused - this.#refusedBeforeSuccess >= REFUSED_IN_ROW
  }

  /** A single missing entry may be the reason itself; a second one shows that batches are. */
  forgives({ isSingle }: ListFault): boolean {
    if (isSingle !== true || this.#hasForgiven) return false
    this.#hasForgiven = true
    return true
  }

  /** The store may not have the last refusals that this process saw. */
  see({ refused, refused_before_success: before }: LockedRun): void {
    this.refused = Math.max(this.refused, refused)
    this.#refusedBeforeSuccess = Math.max(this.#refusedBeforeSuccess, before)
  }

  succeed(refusedBefore: number): void {
    this.#refusedBeforeSuccess = Math.max(this.#refusedBeforeSuccess, refusedBefore)
  }
}
