import type { Queue } from 'bullmq'
import type { Op } from '../plan/change.ts'
import type { RetryTimes } from './times.ts'

/** The whole payload of a change's job; the worker loads the rest from the store. */
export interface ChangeJob {
  readonly run: number
  readonly epoch: number
  readonly number: number
  /** Tried alone, because many changes of the run were refused. */
  readonly probe?: true
}

/** Tries before a change is left to the end of the run. */
export const PHASE_ATTEMPTS = 2
/** Tries in all, after which a change has failed. */
export const ATTEMPTS = 5

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
  changes: readonly { number: number; op: Op; refusals: number }[],
  part: 'phase' | 'tail',
  times: RetryTimes,
): Promise<void> {
  const opts =
    part === 'phase'
      ? { attempts: PHASE_ATTEMPTS, backoff: { type: 'fixed', delay: times.phase } }
      : { attempts: ATTEMPTS - PHASE_ATTEMPTS, backoff: { type: 'exponential', delay: times.tail } }
  for (let start = 0; start < changes.length; start += BULK) {
    const jobs = changes.slice(start, start + BULK).map(({ number, op, refusals }) => ({
      name: op,
      data: { run: run.run, epoch: run.epoch, number },
      opts: {
        ...opts,
        jobId: `${part}-${run.run}-${run.epoch}-${number}`,
        // A service that forbids everything for some seconds may have recovered by then.
        ...(refusals > 0 && { delay: times.tail }),
      },
    }))
    await queue.addBulk(jobs)
  }
}

/** Adds the job of a change that is tried alone, once. */
export async function enqueueProbe(
  queue: Queue<ChangeJob>,
  run: { run: number; epoch: number },
  { number, op, attempts }: { number: number; op: Op; attempts: number },
): Promise<void> {
  const jobId = `probe-${run.run}-${run.epoch}-${number}-${attempts}`
  await queue.add(op, { run: run.run, epoch: run.epoch, number, probe: true }, { jobId })
}
