import type { Queue } from 'bullmq'
import type { Op } from '../plan/change.ts'

/** The whole payload of a change's job: numbers only, the worker loads the rest from the store. */
export interface ChangeJob {
  readonly run: number
  readonly epoch: number
  readonly number: number
}

/** How often and how soon a change that failed is tried again; the client's own retries of seconds come on top. */
export interface RetrySettings {
  /** Tries before the change is left to the end of the run. */
  readonly phaseAttempts: number
  readonly phaseDelayMs: number
  /** Tries in all, after which the change has failed. */
  readonly attempts: number
  /** Before the second try in the tail; doubles with each further one. */
  readonly tailDelayMs: number
}

export const RETRY: RetrySettings = { phaseAttempts: 2, phaseDelayMs: 5000, attempts: 5, tailDelayMs: 10_000 }

/** Each sync has a queue of its own, so that it can be paused and limited alone. */
export function changesQueueName(sync: string): string {
  return `changes-${sync}`
}

const BULK = 1000

/**
 * Adds one job for each change. The id says which change of which run it is, so adding it again while the job exists
 * does nothing.
 */
export async function enqueueChanges(
  queue: Queue<ChangeJob>,
  run: { run: number; epoch: number },
  changes: readonly { number: number; op: Op }[],
  part: 'phase' | 'tail',
  retry: RetrySettings,
): Promise<void> {
  const opts =
    part === 'phase'
      ? { attempts: retry.phaseAttempts, backoff: { type: 'fixed', delay: retry.phaseDelayMs } }
      : {
          attempts: retry.attempts - retry.phaseAttempts,
          backoff: { type: 'exponential', delay: retry.tailDelayMs },
        }
  for (let start = 0; start < changes.length; start += BULK) {
    const jobs = changes.slice(start, start + BULK).map(({ number, op }) => ({
      name: op,
      data: { run: run.run, epoch: run.epoch, number },
      opts: { ...opts, jobId: `${part}-${run.run}-${run.epoch}-${number}` },
    }))
    await queue.addBulk(jobs)
  }
}
