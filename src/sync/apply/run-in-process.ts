import type { ListFault } from '../../core/plan/outcome.ts'
import { REFUSED_IN_ROW } from './refusals.ts'

/** Shared by all chunks of a run in this process. */
export class RunInProcess {
  /** Aborted when another process has the run. */
  readonly overtaken = new AbortController()
  /** Answers 403 since the last success that this process knows of. */
  refusedInRow = 0
  /** The largest batch that the service seems to accept. */
  longestList = Number.POSITIVE_INFINITY
  #hasForgiven = false

  get isRefused(): boolean {
    return this.refusedInRow >= REFUSED_IN_ROW
  }

  /** A single missing entry may be the reason itself; a second one shows that batches are. */
  forgives({ isSingle }: ListFault): boolean {
    if (isSingle !== true || this.#hasForgiven) return false
    this.#hasForgiven = true
    return true
  }
}
