import type { Queue } from 'bullmq'
import type { Op } from '../../core/plan/change.ts'
import type { RunKey } from '../../store/run-types.ts'

/**
 * A hint that these changes of a run wait, and the whole payload of its job. It promises nothing: what of them is to be
 * done, and whether the run is still the current one, is decided by the store when a worker claims them.
 */
export interface ChunkJob extends RunKey {
  /** Numbers of changes. */
  readonly first: number
  readonly last: number
  /** How many of the changes between them waited when the job was added. */
  readonly count: number
  readonly tail: boolean
  /** One change that is tried alone, because many changes of the run were refused. */
  readonly probe?: true
}

/** Tries before a change is left to the end of the run. */
export const PHASE_ATTEMPTS = 2
/** Tries in all, after which a change has failed. */
export const ATTEMPTS = 5

/** Each sync has a queue of its own, so that it can be paused alone. */
export function changesQueueName(sync: string): string {
  return `changes-${sync}`
}

/** Adds one job for each chunk, named after what it does. */
export async function enqueueChunks(
  queue: Queue<ChunkJob>,
  chunks: readonly { readonly op: Op; readonly job: ChunkJob }[],
): Promise<void> {
  await queue.addBulk(chunks.map(({ op, job }) => ({ name: op, data: job })))
}
