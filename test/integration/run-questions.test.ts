import { sql } from 'kysely'
import { beforeEach, describe, expect, test } from 'vitest'
import type { NewRun, RunRecord } from '../../src/store/runs.ts'
import type { SyncHarness } from '../support/sync-harness.ts'
import { useTestBed } from '../support/test-bed.ts'

const bed = useTestBed('questions')
const { hire, fire } = bed

let harness: SyncHarness

beforeEach(async () => {
  hire('a', 'b', 'c', 'd', 'e', 'f')
  harness = await bed.openWithWorker({ maxUserDeletes: 1 })
  await harness.sync()
})

const view = async ({ run }: RunRecord) => (await harness.control.run(run))!

const there = async () => [...(await bed.seen()).users.keys()].toSorted().join('')

/** What a run shows, each as `STATE OP ID`. */
const shown = async (run: RunRecord) =>
  (await view(run)).changes.map(({ state, change }) => `${state} ${change.op} ${change.id}`)

const only = (...users: string[]) => ({ scope: { users, groups: [] } })

test('a run that asks shows which users it would delete, with the reason, and its number is asked about', async () => {
  fire('a', 'b', 'c')
  const held = await harness.sync()
  expect(await view(held)).toMatchObject({
    state: 'held',
    questions: 3,
    totalChanges: 3,
    counts: { planned: {}, blocked: { 'delete-user': 3 }, asking: { 'delete-user': 3 } },
    blocks: [{ code: 'max-deletes-users', until: 'decision', stops: true, asks: null, changes: 3 }],
  })
  expect(await harness.blocked(held)).toEqual(
    ['a', 'b', 'c'].map((id) => `delete-user ${id} max-deletes-users`),
  )
  expect(await harness.exitCode(held)).toBe(3)
})

test('a plan that is held again is not stored again, and each run that asks takes the decision', async () => {
  const rows = async (table: string) => {
    const found = sql`SELECT FROM dirsyncd.runs AS r JOIN ${sql.table(`dirsyncd.${table}`)} AS t ON t.run = r.run WHERE r.sync = ${bed.sync}`
    return (await found.execute(bed.db)).rows.length
  }
  const sizes = () => Promise.all(['changes', 'change_texts', 'journal'].map(rows))
  fire('a', 'b', 'c')
  const first = await harness.sync()
  const before = await sizes()
  const later: RunRecord[] = []
  for (let times = 0; times < 5; times += 1) later.push(await harness.sync())
  expect(await sizes()).toEqual(before)
  const sets = sql`SELECT DISTINCT key_set FROM dirsyncd.shown_keys JOIN dirsyncd.runs USING (run)
    WHERE sync = ${bed.sync} AND run >= ${first.run}`
  expect((await sets.execute(bed.db)).rows).toHaveLength(1)
  for (const run of later) {
    expect(await view(run)).toMatchObject({ state: 'held', questions: 3 })
    expect(await shown(run)).toEqual(await shown(first))
  }
  await harness.approve(later[2]!.run)
  expect(await there()).toBe('def')
  expect((await view(first)).questions).toBe(0)
})

test('of a question that was asked again meanwhile, the number of the first run works, too', async () => {
  fire('a', 'b', 'c')
  const first = await harness.sync()
  hire('new')
  const second = await harness.sync()
  expect(await shown(second)).toEqual([
    'blocked create-user new',
    'blocked delete-user a',
    'blocked delete-user b',
    'blocked delete-user c',
  ])
  fire('d')
  const third = await harness.sync()
  await harness.approve(first.run, { ids: ['a', 'b'] })
  expect(await there()).toBe('cdef')
  expect([await view(second), await view(third)]).toMatchObject([{ questions: 1 }, { questions: 2 }])
})

test('what was asked stays asked, also where the guard would not object any more', async () => {
  fire('a', 'b', 'c')
  const held = await harness.sync()
  const rest = await harness.approve(held.run, { ids: ['a', 'b'] })
  expect([rest.state, await there()]).toEqual(['done', 'cdef'])
  const again = await harness.sync()
  expect([again.state, await harness.blocked(again)]).toEqual(['done', ['delete-user c asked']])
  expect([await harness.exitCode(again), await there()]).toEqual([3, 'cdef'])
  await harness.approve(again.run)
  expect(await there()).toBe('def')
})

test('a question ends with a complete run that does not want the change any more', async () => {
  fire('a', 'b', 'c')
  const held = await harness.sync()
  hire('a', 'b', 'c')
  const equal = await harness.sync()
  expect([equal.state, await harness.exitCode(equal)]).toEqual(['done', 0])
  expect(await view(held)).toMatchObject({ questions: 0 })
  await expect(harness.control.approve({ run: held.run, by: 'ada' })).rejects.toThrow(
    `Run ${held.run} has nothing to decide about`,
  )
})

test('a dry run asks nothing, and shows what a sync would ask', async () => {
  fire('a', 'b')
  const plan = await harness.requestRun({ mode: 'plan' })
  await harness.executor.workOn(bed.sync, plan)
  expect(await harness.getRun(plan)).toMatchObject({
    state: 'planned',
    blocks: [{ code: 'max-deletes-users', changes: 2 }],
  })
  expect(await view(await harness.getRun(plan))).toMatchObject({ questions: 0 })
  await harness.approve(plan, { ids: ['a'] })
  expect(await there()).toBe('bcdef')
})

test('the number of a dry run approves all that it would ask', async () => {
  fire('a', 'b')
  const plan = await harness.requestRun({ mode: 'plan' })
  await harness.executor.workOn(bed.sync, plan)
  await harness.approve(plan)
  expect(await there()).toBe('cdef')
})

test('the number of a dry run decides once: what is asked again later is no part of it', async () => {
  fire('a', 'b')
  const plan = await harness.requestRun({ mode: 'plan' })
  await harness.executor.workOn(bed.sync, plan)
  await harness.approve(plan, { ids: ['a'] })
  expect(await there()).toBe('bcdef')
  hire('a')
  await harness.sync(only('a'))
  await expect(harness.approve(plan, { ids: ['a'] })).rejects.toThrow('nothing to decide about')
  await harness.approve(plan)
  expect(await there()).toBe('acdef')
  hire('b')
  await harness.sync()
  fire('a', 'b')
  for (const does of ['approve', 'reject'] as const)
    await expect(harness.control[does]({ run: plan, by: 'ana', isAll: true })).rejects.toThrow(
      'nothing to decide about',
    )
  expect([(await harness.sync()).state, await there()]).toEqual(['held', 'abcdef'])
})

test('what is approved is no part of what a plan asks', async () => {
  fire('a', 'b')
  const held = await harness.sync()
  const asks = async () => {
    const plan = await harness.requestRun({ mode: 'plan' })
    await harness.executor.workOn(bed.sync, plan)
    return (await harness.getRun(plan)).blocks?.map(({ code, changes }) => `${code} ${changes}`)
  }
  expect(await asks()).toEqual(['max-deletes-users 2'])
  await harness.control.approve({ run: held.run, by: 'ada' })
  expect(await asks()).toEqual([])
  fire('c', 'd')
  expect(await asks()).toEqual(['max-deletes-users 2'])
})

test('of ids of which one is decided already the others are decided; an id that was not shown decides nothing', async () => {
  fire('a', 'b', 'c')
  const { run } = await harness.sync()
  await harness.approve(run, { ids: ['a'] })
  await expect(harness.approve(run, { ids: ['b', 'x'] })).rejects.toThrow('shows no such change of "x"')
  expect(await there()).toBe('bcdef')
  await harness.approve(run, { ids: ['a', 'b'] })
  expect(await there()).toBe('cdef')
})

describe('a run of single users', () => {
  test('asks about these alone, beside what a whole run asked', async () => {
    fire('a', 'b', 'c')
    const whole = await harness.sync()
    hire('a')
    fire('d', 'e')
    const limited = await harness.sync(only('d', 'e'))
    expect(await harness.blocked(limited)).toEqual([
      'delete-user d max-deletes-users',
      'delete-user e max-deletes-users',
    ])
    expect([await view(whole), await view(limited)]).toMatchObject([{ questions: 3 }, { questions: 2 }])
    await harness.approve(limited.run)
    expect(await there()).toBe('abcf')
  })

  test('shows what a whole run asked of them', async () => {
    fire('a', 'b', 'c')
    await harness.sync()
    const limited = await harness.sync(only('a', 'b'))
    expect(await view(limited)).toMatchObject({ questions: 2 })
    await harness.approve(limited.run)
    expect(await there()).toBe('cdef')
  })
})

test.each<[string, Partial<NewRun>]>([
  ['a plan', { mode: 'plan' }],
  ['a run of single users', only('a')],
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
  expect(runs[2]).toMatchObject({ mode: 'sync', scope: null })
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
