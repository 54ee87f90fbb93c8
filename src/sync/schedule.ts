import { hash } from 'node:crypto'
import { cronOf, type RepeatOptions } from '../queue/runs.ts'

type Schedule =
  | { readonly kind: 'cron'; readonly pattern: string; readonly timezone: string | undefined }
  | { readonly kind: 'interval'; readonly everyMs: number }

/**
 * Gives each sync an offset of its own, so that a hundred syncs "every 15 minutes" do not start at once: a second of
 * the minute for cron, a part of the interval otherwise. A cron expression with seconds is left as it is.
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

/** A sync that missed so many of its times is late. */
const MISSED = 3

/** `undefined` where the schedule has no next time. */
export function nextCall(schedule: Schedule, sync: string, now: Date): Date | undefined {
  const repeat = repeatOptions(schedule, sync)
  if (!('every' in repeat)) return cronOf(repeat).nextRun(now) ?? undefined
  const { every, offset } = repeat
  return new Date((Math.floor((now.getTime() - offset) / every) + 1) * every + offset)
}

/** The time since which the schedule was due three times. */
export function pastDue(schedule: Schedule, sync: string, now: Date): Date {
  const repeat = repeatOptions(schedule, sync)
  if ('every' in repeat) {
    const { every, offset } = repeat
    const last = Math.floor((now.getTime() - offset) / every) * every + offset
    return new Date(last - (MISSED - 1) * every)
  }
  // A schedule may begin only years from now.
  return cronOf(repeat).previousRuns(MISSED, now).at(-1) ?? new Date(0)
}
