import { Cron } from 'croner'
import { z } from 'zod'
import { parseDuration } from '../base/duration.ts'

/** An interval (`15m`) or a cron expression. */
export type Schedule =
  | { readonly kind: 'interval'; readonly everyMs: number }
  | { readonly kind: 'cron'; readonly pattern: string; readonly timezone: string | undefined }

const SHORTEST_INTERVAL_MS = 1000

/** A text with blanks or a leading `@` counts as cron. */
export function scheduleProblem(schedule: string): string | undefined {
  if (!isCron(schedule)) {
    const everyMs = parseDuration(schedule)
    if (everyMs === undefined)
      return 'must be a cron expression such as "*/15 * * * *" or an interval such as 15m'
    return everyMs < SHORTEST_INTERVAL_MS ? 'must not be shorter than 1s' : undefined
  }
  try {
    const next = new Cron(schedule, { paused: true, mode: '5-or-6-parts' }).nextRun()
    return next === null ? 'is a cron expression that never matches' : undefined
  } catch (error) {
    const why = error instanceof Error ? error.message.replace(/^CronPattern: /, '') : 'unknown form'
    return `is not a valid cron expression (${why.replace(/[.\s]+$/, '')}); an example is "*/15 * * * *"`
  }
}

export function toSchedule(schedule: string, timezone: string | undefined): Schedule {
  return isCron(schedule)
    ? { kind: 'cron', pattern: schedule.trim(), timezone }
    : { kind: 'interval', everyMs: parseDuration(schedule) ?? 0 }
}

export function isCron(schedule: string): boolean {
  return /\s/.test(schedule.trim()) || schedule.trim().startsWith('@')
}

/** {@link toSchedule} resolves the text, because the time zone is an option of its own. */
export const schedule = z
  .string()
  .check((context) => {
    const message = scheduleProblem(context.value)
    if (message !== undefined) context.issues.push({ code: 'custom', message, input: context.value })
  })
  .meta({ title: 'cron expression or interval' })

export const timezone = z
  .string()
  .refine(
    (zone) => {
      try {
        return new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone !== ''
      } catch {
        return false
      }
    },
    { error: 'must be the name of a time zone, such as Europe/Zagreb or UTC' },
  )
  .meta({ title: 'time zone' })
