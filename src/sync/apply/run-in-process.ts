import type { LockedRun } from '../../store/fenced-run.ts'
import type { ListFault } from '../../core/plan/outcome.ts'
import { REFUSED_IN_ROW } from './refusals.ts'

/** What all chunks of a run in this process know together. */
export class RunInProcess {
  /** Aborted when the run is found to be another process's. */
  readonly overtaken = new AbortController()
  /** Changes of the run that were refused so far, and how many of them before the last one was sent that succeeded. */
  refused = 0
  #refusedBeforeSuccess = 0
  /** The longest list that the service seems to take in one request. */
  longestList = Number.POSITIVE_INFINITY
  #hasForgiven = false

  get isRefused(): boolean {
    return this.refused - this.#refusedBeforeSuccess >= REFUSED_IN_ROW
  }

  /** A single entry that is missing may itself be the reason; a second one shows that it is the lists. */
  forgives({ isSingle }: ListFault): boolean {
    if (isSingle !== true || this.#hasForgiven) return false
    this.#hasForgiven = true
    return true
  }

  /** Takes what the store says; it may not have the last ones that this process saw. */
  see({ refused, refused_before_success: before }: LockedRun): void {
    this.refused = Math.max(this.refused, refused)
    this.#refusedBeforeSuccess = Math.max(this.#refusedBeforeSuccess, before)
  }

  /** Takes how many had been refused when a change was sent that succeeded. */
  succeed(refusedBefore: number): void {
    this.#refusedBeforeSuccess = Math.max(this.#refusedBeforeSuccess, refusedBefore)
  }
}
