import { REFUSED_IN_ROW } from './refused-changes.ts'

/** After so many batches in a row that were not created as sent, the rest of the run goes singly. */
const MOST_BATCH_FAULTS = 3

/** Shared by all chunks of a run in this process. */
export class RunInProcess {
  /** Aborted when another process has the run. */
  readonly overtaken = new AbortController()
  /** Answers 403 since the last success that this process knows of. */
  refusedInRow = 0
  #batchFaults = 0

  get isRefused(): boolean {
    return this.refusedInRow >= REFUSED_IN_ROW
  }

  get sendsBatches(): boolean {
    return this.#batchFaults < MOST_BATCH_FAULTS
  }

  /** Returns whether this was the last batch of the run. */
  seeBatch(isAsSent: boolean): boolean {
    const before = this.sendsBatches
    if (before) this.#batchFaults = isAsSent ? 0 : this.#batchFaults + 1
    return before && !this.sendsBatches
  }
}
