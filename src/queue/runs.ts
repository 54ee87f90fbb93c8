import { ErrorCode, type Queue, type RepeatOptions as BullRepeatOptions, type Worker } from 'bullmq'
import { Cron } from 'croner'
import pRetry from 'p-retry'
import type { QueueBackend } from './backend.ts'

/** A job of this queue only wakes a process; the holder of the sync's lease runs. */
export interface WakeJob {
  readonly sync: string
  /** The schedule wakes: a run is made even if none was requested. */
  readonly scheduled: boolean
}

export type RepeatOptions = { pattern: string; tz?: string } | { every: number; offset: number }

const QUEUE = 'runs'

/** Both need it: the queue plans a schedule's first job, the worker each next one. */
const SETTINGS = { repeatStrategy: nextCronTime }

/** By croner, as in the check of the configuration: BullMQ's parser does not know every expression that croner accepts. */
export function cronOf({ pattern = '', tz }: Pick<BullRepeatOptions, 'pattern' | 'tz'>): Cron {
  return new Cron(pattern, { mode: '5-or-6-parts', paused: true, ...(tz !== undefined && { timezone: tz }) })
}

/** In milliseconds since 1970. */
function nextCronTime(millis: number, repeat: BullRepeatOptions): number | undefined {
  return repeat.pattern === undefined ? undefined : cronOf(repeat).nextRun(new Date(millis))?.getTime()
}

export function openRunsQueue(backend: QueueBackend): Queue<WakeJob> {
  return backend.createQueue<WakeJob>(QUEUE, { settings: SETTINGS })
}

export async function wake(queue: Queue<WakeJob>, sync: string): Promise<void> {
  await queue.add('wake', { sync, scheduled: false })
}

/** Also removes the schedules of other syncs. */
export async function setSchedules(
  queue: Queue<WakeJob>,
  schedules: ReadonlyMap<string, RepeatOptions>,
): Promise<void> {
  for (const existing of await queue.getJobSchedulers()) {
    if (!schedules.has(existing.key)) await queue.removeJobScheduler(existing.key)
  }
  for (const [sync, repeat] of schedules) await setSchedule(queue, sync, repeat)
}

const OVERDUE_MS = 60_000

/**
 * Restores schedules that the queue has lost: all of them when Redis was emptied, or one whose next job could not be
 * added in an outage. The time of such a job has passed, as after the machine slept; its run is made now.
 */
export async function restoreSchedules(
  queue: Queue<WakeJob>,
  schedules: ReadonlyMap<string, RepeatOptions>,
): Promise<void> {
  const known = new Map((await queue.getJobSchedulers()).map(({ key, next }) => [key, next ?? 0]))
  const overdue = Date.now() - OVERDUE_MS
  for (const [sync, repeat] of schedules) {
    const next = known.get(sync)
    if (next !== undefined && next >= overdue) continue
    await setSchedule(queue, sync, repeat)
    if (next !== undefined) await queue.add('wake', { sync, scheduled: true })
  }
}

export async function setSchedule(queue: Queue<WakeJob>, sync: string, repeat: RepeatOptions): Promise<void> {
  const job = { name: 'wake', data: { sync, scheduled: true } }
  await pRetry(() => queue.upsertJobScheduler(sync, repeat, job), {
    retries: 3,
    minTimeout: 50,
    shouldRetry: ({ error }) => isPlannedMeanwhile(error),
  })
}

/** A worker, or another process that starts, has added the next job of this schedule at the same moment. */
function isPlannedMeanwhile(error: Error): boolean {
  return 'code' in error && error.code === ErrorCode.SchedulerJobIdCollision
}

/** One slot for every sync, so that a long run of one never delays another. */
export function startRunsWorker(
  backend: QueueBackend,
  slots: number,
  work: (job: WakeJob) => Promise<void>,
): Worker<WakeJob> {
  return backend.createWorker<WakeJob>(QUEUE, (job) => work(job.data), {
    concurrency: slots,
    settings: SETTINGS,
  })
}
