import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { addDecision } from '../../src/store/ledgers.ts'
import { addRun } from '../../src/store/runs.ts'
import {
  claimDelivery,
  forgetNotifications,
  lookAndStore,
  settleDelivery,
  waitingDeliveries,
} from '../../src/operations/notifications.ts'
import { TARGET, useTestStore } from '../support/test-store.ts'

const bed = useTestStore()

const MINUTE = 60_000

/** Tells once that something goes on, as `evaluate` does. */
type Evaluate = Parameters<typeof lookAndStore>[3]

async function once(_trx: unknown, { conditions, now }: Parameters<Evaluate>[1]): ReturnType<Evaluate> {
  const condition = { sync: bed.sync, event: 'asking', since: now, amount: 4, toldAt: now, endsAt: now }
  return {
    conditions: [condition],
    notifications: conditions.length > 0 ? [] : [notification('asking')],
  }
}

function notification(subject: string) {
  return { event: 'asking', sync: bed.sync, run: 7, subject, text: `the text of ${subject}` }
}

function look(evaluate: Parameters<typeof lookAndStore>[3] = once, channels: readonly string[] = [bed.sync]) {
  return lookAndStore(bed.db, [bed.sync], () => channels, evaluate)
}

async function tell(...subjects: readonly string[]): Promise<void> {
  await look(async () => ({ conditions: [], notifications: subjects.map(notification) }))
}

async function claim(claimMs = MINUTE) {
  const claimed = await claimDelivery(bed.db, bed.sync, claimMs)
  return claimed === undefined ? 'nothing' : 'waitMs' in claimed ? 'waits' : claimed
}

test('however many look at once, a notification is made once', async () => {
  const looks = await Promise.allSettled(Array.from({ length: 8 }, () => look()))
  expect(new Set(looks.map(({ status }) => status))).toEqual(new Set(['fulfilled']))
  expect(await waitingDeliveries(bed.db)).toContainEqual({
    channel: bed.sync,
    waiting: 1,
    waitMs: expect.any(Number),
  })
  await look(async (_trx, { conditions }) => {
    expect(conditions).toMatchObject([
      { sync: bed.sync, event: 'asking', amount: 4, endsAt: expect.any(Date) },
    ])
    return { conditions: [], notifications: [] }
  })
})

function runsOfSync(db: typeof bed.db) {
  return sql`SELECT count(*)::int AS runs FROM dirsyncd.runs WHERE sync = ${bed.sync}`.execute(db)
}

test('a look sees one moment of the store, whatever others write meanwhile', async () => {
  await look(async (trx) => {
    const before = await runsOfSync(trx)
    await addRun(bed.db, { sync: bed.sync, target: TARGET, mode: 'sync', trigger: 'demand' })
    expect((await runsOfSync(trx)).rows).toEqual(before.rows)
    return { conditions: [], notifications: [] }
  })
})

test('what is known of other syncs stays', async () => {
  await look()
  await lookAndStore(
    bed.db,
    ['another'],
    () => [],
    async (_trx, { conditions }) => {
      expect(conditions).toEqual([])
      return { conditions: [], notifications: [] }
    },
  )
  await look(async (_trx, { conditions }) => {
    expect(conditions).toHaveLength(1)
    return { conditions: [], notifications: [] }
  })
})

test('a channel delivers in order, one at a time, and goes on after a process that is gone', async () => {
  await tell('first', 'second')
  const first = await claim(300)
  expect(first).toMatchObject({ subject: 'first', text: 'the text of first', run: 7, attempts: 1 })
  expect(await claim()).toBe('waits')
  await expect.poll(() => claim()).toMatchObject({ subject: 'first', attempts: 2 })
  const { notification: number } = first as { notification: string }
  const of = { notification: number, channel: bed.sync }

  await settleDelivery(bed.db, of, { state: 'waiting', waitMs: 200, detail: 'gone \u0000' })
  expect(await claim()).toBe('waits')
  const waiting = (await waitingDeliveries(bed.db)).find(({ channel }) => channel === bed.sync)
  expect(waiting).toMatchObject({ waiting: 2 })
  expect(waiting!.waitMs).toBeGreaterThan(0)
  await expect.poll(() => claim()).toMatchObject({ subject: 'first', attempts: 3 })
  await settleDelivery(bed.db, of, { state: 'given-up', detail: 'no' })
  expect(await claim()).toMatchObject({ subject: 'second', attempts: 1 })
})

test('decisions are told once, and not those that were made before somebody wanted to know', async () => {
  const runOf = (sync: string) => addRun(bed.db, { sync, target: TARGET, mode: 'sync', trigger: 'demand' })
  const decide = (sync: string, run: number, by: string) =>
    addDecision(
      bed.db,
      { sync, target: TARGET, origin: 'sync' },
      { run, does: 'approve', selection: {}, by, reason: '' },
      { keys: 1, open: 0 },
    )
  const seen: string[] = []
  const see = (sync: string) =>
    lookAndStore(
      bed.db,
      [sync],
      () => [],
      async (_trx, { decisions }) => {
        seen.push(...decisions.map((each) => `${each.by} ${each.run} ${each.sync}`))
        return { conditions: [], notifications: [] }
      },
    )
  const other = `${bed.sync}-other`
  const [run, another] = [await runOf(bed.sync), await runOf(other)]
  await decide(bed.sync, run, 'before')
  await see(bed.sync)
  await see(other)
  await decide(other, another, 'eve')
  await decide(bed.sync, run, 'ana')
  for (let times = 0; times < 3; times++) await see(bed.sync)
  expect(seen).toEqual([`ana ${run} ${bed.sync}`])
  // Another daemon may look after the other sync, and later.
  for (let times = 0; times < 3; times++) await see(other)
  expect(seen.slice(1)).toEqual([`eve ${another} ${other}`])
})

test('what is old, and what waits for a channel that is gone, is forgotten', async () => {
  await tell('old', 'new')
  await sql`UPDATE dirsyncd.notifications SET created_at = now() - interval '2 days' WHERE subject = 'old'
    AND sync = ${bed.sync}`.execute(bed.db)
  await forgetNotifications(bed.db, [bed.sync], 86_400_000)
  expect(await claim()).toMatchObject({ subject: 'new' })
  await forgetNotifications(bed.db, ['others'], 86_400_000)
  expect(await claim()).toBe('nothing')
})
