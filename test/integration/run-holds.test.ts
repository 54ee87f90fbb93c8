import { sql } from 'kysely'
import { beforeEach, expect, test } from 'vitest'
import { renderReport } from '../../src/ui/cli/render/report.ts'
import { decisionsOf } from '../../src/store/decisions.ts'
import { countChanges } from '../../src/store/change-list.ts'
import type { NewRun, RunRecord } from '../../src/store/runs.ts'
import type { SyncHarness } from '../support/sync-harness.ts'
import { useTestBed } from '../support/test-bed.ts'

const bed = useTestBed('holds')
const { hire, fire } = bed

let harness: SyncHarness

beforeEach(async () => {
  hire('a', 'b', 'c', 'd', 'e', 'f')
  harness = await bed.openWithWorker({ maxUserDeletes: 1 })
  await harness.sync()
})

const stored = ({ run }: RunRecord) => countChanges(bed.db, run)
const shown = async ({ run }: RunRecord) =>
  (await harness.control.run(run))!.changes.map(({ change }) => `${change.op} ${change.id}`)

test('a plan that the open hold has is not stored again, and its run shows it', async () => {
  fire('a', 'b', 'c')
  const first = await harness.sync()
  const second = await harness.sync()
  const third = await harness.sync()
  expect([await stored(first), await stored(second), await stored(third)]).toEqual([3, 0, 0])
  const holders = await bed.db.selectFrom('dirsyncd.held_changes').select('run').execute()
  expect(holders.map(({ run }) => run)).not.toContain(third.run)
  const view = (await harness.control.run(third.run))!
  expect(view).toMatchObject({
    state: 'held',
    hold: null,
    holdRun: first.run,
    totalChanges: 3,
    undecidedChanges: 3,
    breaches: [{ code: 'max-deletes-users', changes: 3 }],
  })
  expect(await shown(third)).toEqual(await shown(first))
})

test('another plan of the same hold is stored, and shown', async () => {
  fire('a', 'b', 'c')
  const first = await harness.sync()
  hire('new')
  const second = await harness.sync()
  expect(second).toMatchObject({ hold: null, hold_run: first.run })
  expect(await shown(second)).toEqual(['create-user new', 'delete-user a', 'delete-user b', 'delete-user c'])
  fire('d')
  const third = await harness.sync()
  expect(third).toMatchObject({ hold: 'open', hold_run: third.run })
  expect(await stored(third)).toBe(5)
})

test('a hold that stays open for many runs stays the one that a person decides on, and adds nothing to the store', async () => {
  const { db } = bed
  const rows = async (table: string) => {
    const found = sql`SELECT FROM dirsyncd.runs AS r JOIN ${sql.table(table)} AS t ON t.run = r.run WHERE r.sync = ${bed.sync}`
    return (await found.execute(db)).rows.length
  }
  const sizes = () =>
    Promise.all(['changes', 'held_changes', 'journal'].map((name) => rows(`dirsyncd.${name}`)))
  fire('a', 'b', 'c')
  const first = await harness.sync()
  const before = await sizes()
  for (let run = 0; run < 10; run += 1) {
    expect(await harness.sync()).toMatchObject({ state: 'held', hold: null, hold_run: first.run })
  }
  expect(await sizes()).toEqual(before)
  expect(await harness.getRun(first.run)).toMatchObject({ hold: 'open' })
  await harness.control.approve({ run: first.run, by: 'ada' })
  expect(await harness.sync()).toMatchObject({ state: 'done' })
  expect(await rows('dirsyncd.journal')).toBe(before[2]! + 3)
})

test('who approves the hold of an earlier run approves what later runs show', async () => {
  fire('a', 'b', 'c')
  const first = await harness.sync()
  await harness.sync()
  await harness.control.approve({ run: first.run, by: 'ada' })
  expect(
    (await decisionsOf(bed.db, { sync: bed.sync, target: first.target, isUndo: false })).approved.size,
  ).toBe(3)
  expect(await harness.sync()).toMatchObject({ state: 'done' })
})

test('a run that has nothing to hold ends the open hold', async () => {
  fire('a', 'b', 'c')
  const held = await harness.sync()
  hire('a', 'b', 'c')
  expect(await harness.sync()).toMatchObject({ state: 'done', hold: null })
  expect(await harness.getRun(held.run)).toMatchObject({ hold: 'closed' })
  await expect(harness.control.approve({ run: held.run, by: 'ada' })).rejects.toThrow('had nothing to hold')
})

test('a plan says what would hold a sync, and what was approved and is not applied yet', async () => {
  fire('a', 'b')
  const held = await harness.sync()
  const decided = async () => {
    const plan = await harness.requestRun({ mode: 'plan' })
    await harness.executor.workOn(bed.sync, plan)
    return (await harness.getRun(plan)).breaches?.map((breach) => breach.decided ?? 'nothing')
  }
  expect(await decided()).toEqual(['nothing'])
  await harness.control.approve({ run: held.run, by: 'ada' })
  expect(await decided()).toEqual(['approved'])
  fire('c')
  expect(await decided()).toEqual(['nothing'])
})

const only = (...users: string[]) => ({ only: { users, groups: [] } })

test('a run of single people leaves the hold of a whole run open, and says what to decide first', async () => {
  fire('a', 'b', 'c')
  const whole = await harness.sync()
  hire('a')
  fire('d', 'e')
  const limited = await harness.sync(only('d', 'e'))
  expect(limited).toMatchObject({ state: 'held', hold: 'replaced', hold_run: whole.run })
  expect(await harness.getRun(whole.run)).toMatchObject({ hold: 'open' })
  const report = renderReport((await harness.control.run(limited.run))!, { all: false }).join('\n')
  expect(report).toContain(
    `Nothing was changed. The hold of run ${whole.run} is of the whole sync and holds other changes: decide on it first, ` +
      `with dirsyncd approve ${whole.run} or dirsyncd reject ${whole.run}, and then ask for this run again.`,
  )
  await expect(harness.control.approve({ run: limited.run, by: 'ada' })).rejects.toThrow(
    `Run ${limited.run} has no open hold: the hold of run ${whole.run} comes first, which is of the whole sync.`,
  )
  await harness.control.reject({ run: whole.run, by: 'ada' })
  const again = await harness.sync(only('d', 'e'))
  expect(again).toMatchObject({ state: 'held', hold: 'open', hold_run: again.run })
})

test('a run of single users shares the hold of a whole run that holds the same of them', async () => {
  fire('a', 'b', 'c')
  const whole = await harness.sync()
  const limited = await harness.sync(only('a', 'b'))
  expect(limited).toMatchObject({ state: 'held', hold: null, hold_run: whole.run })
  expect(await harness.getRun(whole.run)).toMatchObject({ hold: 'open' })
})

test('a whole run replaces the hold of a run of single people', async () => {
  fire('a', 'b')
  const limited = await harness.sync(only('a', 'b'))
  expect(limited).toMatchObject({ state: 'held', hold: 'open' })
  fire('c')
  const whole = await harness.sync()
  expect(whole).toMatchObject({ state: 'held', hold: 'open' })
  expect(await harness.getRun(limited.run)).toMatchObject({ hold: 'replaced', hold_run: limited.run })
  await expect(harness.control.approve({ run: limited.run, by: 'ada' })).rejects.toThrow(
    `Run ${limited.run} has no open hold: run ${whole.run} took its place, so dirsyncd runs ${whole.run} shows what waits now.`,
  )
})

test.each<[string, Partial<NewRun>]>([
  ['a plan', { mode: 'plan' }],
  ['a run of single people', only('a')],
])('the schedule adds a whole run also while %s waits', async (_, more) => {
  hire('new')
  await harness.requestRun(more)
  await harness.executor.work(bed.sync, { scheduled: true })
  const runs = await bed.db
    .selectFrom('dirsyncd.runs')
    .selectAll()
    .where('sync', '=', bed.sync)
    .orderBy('run')
    .execute()
  expect(runs.map(({ trigger, state }) => [trigger, state])).toEqual([
    ['demand', 'done'],
    ['demand', more.mode === 'plan' ? 'planned' : 'done'],
    ['schedule', 'done'],
  ])
  expect(runs[2]).toMatchObject({ mode: 'sync', only_entries: null })
})

test('the schedule adds no run while a whole run waits', async () => {
  const waiting = await harness.requestRun()
  await harness.executor.work(bed.sync, { scheduled: true })
  const { last } = await bed.db
    .selectFrom('dirsyncd.runs')
    .select(({ fn }) => fn.max('run').as('last'))
    .where('sync', '=', bed.sync)
    .executeTakeFirstOrThrow()
  expect(last).toBe(waiting)
})

/** A run whose process is gone, as those of the two runs before it. Resolves with its number. */
async function thirdKilled(): Promise<number> {
  const run = await harness.requestRun()
  const killed = { state: 'reading', interruptions: 2 } as const
  await bed.db.updateTable('dirsyncd.runs').set(killed).where('run', '=', run).execute()
  return run
}

test('a whole run that waits already knows how many runs before it were interrupted', async () => {
  const killed = await thirdKilled()
  const waiting = await harness.requestRun()
  await harness.work()
  expect((await harness.getRun(killed)).error).toMatch('the next run waits 2 minutes')
  const next = await harness.getRun(waiting)
  expect(next).toMatchObject({ state: 'waiting', interruptions: 3 })
  expect(next.begin_after!.getTime()).toBeGreaterThan(Date.now() + 60_000)
  // The clock was set back since.
  await sql`UPDATE dirsyncd.runs SET begin_after = now() + interval '1 day' WHERE run = ${waiting}`.execute(
    bed.db,
  )
  await harness.work()
  expect(await harness.getRun(waiting)).toMatchObject({ state: 'done' })
})

test('a command begins its run at once, and knows how many before it were interrupted', async () => {
  const killed = await thirdKilled()
  const asked = await harness.requestRun()
  await harness.executor.workOn(bed.sync, asked)
  expect((await harness.getRun(killed)).error).toMatch(/as with the 2 runs before: .* enough memory$/)
  expect(await harness.getRun(asked)).toMatchObject({ state: 'done', interruptions: 3 })
})
