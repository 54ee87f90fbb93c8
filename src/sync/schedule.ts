import { hash } from 'node:crypto'
import type { RepeatOptions } from '../queue/runs.ts'

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
