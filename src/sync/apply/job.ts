import type { Queue } from 'bullmq'
import type { Op } from '../../core/plan/change.ts'
import type { RunKey } from '../../store/run-types.ts'

/**
 * A hint that these changes of a run wait, and the whole payload of its job. It proves nothing: at the claim, the store
 * decides what remains to do and whether the run is still the current one.
 */
export interface ChunkJob extends RunKey {
  readonly first: number
  readonly last: number
  /** How many of these changes waited when the job was added. */
  readonly count: number
  readonly tail: boolean
  /** One change that is sent alone, because many changes of the run were refused. */
  readonly probe?: true
}

/** Attempts before a change goes to the retry stage. */
export const PHASE_ATTEMPTS = 2
/** Attempts in all before a change fails. */
export const ATTEMPTS = 5

/** Each sync has its own queue, so that it can be paused alone. */
export function changesQueueName(sync: string): string {
  return `changes-${sync}`
}

export async function enqueueChunks(
  queue: Queue<ChunkJob>,
  chunks: readonly { readonly op: Op; readonly job: ChunkJob }[],
): Promise<void> {
  await queue.addBulk(chunks.map(({ op, job }) => ({ name: op, data: job })))
}
