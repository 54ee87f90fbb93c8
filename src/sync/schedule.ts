import { hash } from 'node:crypto'
import { Cron } from 'croner'
import { nextCronTime, type RepeatOptions } from '../queue/runs.ts'

/** When a sync runs: a cron expression in a time zone, or an interval. */
export type Schedule =
  | { readonly kind: 'cron'; readonly pattern: string; readonly timezone: string | undefined }
  | { readonly kind: 'interval'; readonly everyMs: number }

/**
 * The same schedule with an offset of its own for each sync, so that a hundred syncs "every 15 minutes" do not all
 * knock at once: a second of the minute for cron, a part of the interval otherwise. A cron expression that names its
 * second is taken as it is.
 */
export function repeatOptions(schedule: Schedule, sync: string): RepeatOptions {
  const spread = Number.parseInt(hash('sha256', sync).slice(0, 8), 16)
  if (schedule.kind === 'interval') {
    return { every: schedule.everyMs, offset: spread % schedule.everyMs }
  }
  const fields = schedule.pattern.trim().split(/\s+/)
  const pattern = fields.length === 5 ? `${spread % 60} ${fields.join(' ')}` : fields.join(' ')
  return schedule.timezone === undefined ? { pattern } : { pattern, tz: schedule.timezone }
}

/** A sync that has not been read since so many of its times is late. */
const MISSED = 3

/** When the schedule calls for this sync next; `undefined` where it never does. */
export function nextCall(schedule: Schedule, sync: string, now: Date): Date | undefined {
  const repeat = repeatOptions(schedule, sync)
  if (!('every' in repeat)) {
    const millis = nextCronTime(now.getTime(), repeat)
    return millis === undefined ? undefined : new Date(millis)
  }
  const { every, offset } = repeat
  return new Date((Math.floor((now.getTime() - offset) / every) + 1) * every + offset)
}

/** The time since which the schedule has called for this sync three times. */
export function pastDue(schedule: Schedule, sync: string, now: Date): Date {
  const repeat = repeatOptions(schedule, sync)
  if ('every' in repeat) {
    const { every, offset } = repeat
    const last = Math.floor((now.getTime() - offset) / every) * every + offset
    return new Date(last - (MISSED - 1) * every)
  }
  const { pattern, tz } = repeat
  const cron = new Cron(pattern, {
    paused: true,
    mode: '5-or-6-parts',
    ...(tz !== undefined && { timezone: tz }),
  })
  // A schedule may begin to call only years from now.
  return cron.previousRuns(MISSED, now).at(-1) ?? new Date(0)
}
