import { expect, test } from 'vitest'
import { pastDue, repeatOptions } from '../../../src/sync/schedule.ts'

const cron = (pattern: string, timezone?: string) => ({ kind: 'cron', pattern, timezone }) as const

test.each([
  ['every quarter of an hour', cron('0 */15 * * * *'), '2026-03-10T12:20:00Z', '2026-03-10T11:45:00.000Z'],
  [
    'at eight on workdays, on a Monday',
    cron('0 0 8 * * 1-5', 'UTC'),
    '2026-03-09T07:00:00Z',
    '2026-03-04T08:00:00.000Z',
  ],
  [
    'at eight in Zagreb',
    cron('0 0 8 * * *', 'Europe/Zagreb'),
    '2026-07-10T07:00:00Z',
    '2026-07-08T06:00:00.000Z',
  ],
  ['once a year', cron('0 0 0 1 1 *', 'UTC'), '2026-07-10T07:00:00Z', '2024-01-01T00:00:00.000Z'],
])('a sync that runs %s has been called for three times', (_what, schedule, now, due) => {
  expect(pastDue(schedule, 'corp', new Date(now)).toISOString()).toBe(due)
})

test('a sync with an interval is called for at its own offset', () => {
  const schedule = { kind: 'interval', everyMs: 600_000 } as const
  const { offset } = repeatOptions(schedule, 'corp') as { offset: number }
  const now = new Date('2026-03-10T12:00:00Z')
  const due = pastDue(schedule, 'corp', now)
  expect((due.getTime() - offset) % 600_000).toBe(0)
  const past = now.getTime() - due.getTime()
  expect([past >= 1_200_000, past < 1_800_000]).toEqual([true, true])
})
