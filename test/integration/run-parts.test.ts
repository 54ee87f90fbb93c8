import { beforeEach, describe, expect, test } from 'vitest'
import { sql } from 'kysely'
import { renderReport } from '../../src/ui/cli/render/report.ts'
import type { ApproveRequest } from '../../src/operations/control.ts'
import { historyOf } from '../../src/operations/explain/history.ts'
import { createLocalControl } from '../../src/operations/local.ts'
import type { Part } from '../../src/core/plan/part/part.ts'
import type { RunRecord } from '../../src/store/runs.ts'
import type { SyncHarness } from '../support/sync-harness.ts'
import { useTestBed } from '../support/test-bed.ts'

const bed = useTestBed('parts')
const { company, hire, fire, seen } = bed

let harness: SyncHarness

beforeEach(async () => {
  harness = await bed.openWithWorker({ maxUserDeletes: 1 })
  hire('a', 'b', 'c', 'd', 'e', 'f')
  company.groups.set('g', { name: 'Group', members: ['a', 'b', 'c', 'd'] })
  await harness.sync()
})

const rename = (id: string, email = `${id}@example.org`) =>
  company.users.set(id, { name: `Renamed ${id}`, email })

const names = async () => [...(await seen()).users.values()].map(({ name }) => name).toSorted()

const emailOf = async (id: string) => (await seen()).users.get(id)?.email ?? null

const groupG = async () => (await seen()).groups.get('g')

/** The story of a user, newest first: what was done, and who approved it. */
const approversOf = async (id: string) => {
  const target = { sync: bed.sync, target: bed.target }
  const { journal } = await historyOf({ db: bed.db, target }, { kind: 'user', id })
  return journal.map(({ op, approvedBy }) => [op, approvedBy])
}

/** The last run that the story of a user names, and what it says of him. */
const lastRunOf = async (id: string) => {
  const target = { sync: bed.sync, target: bed.target }
  const { lastRun } = await historyOf({ db: bed.db, target }, { kind: 'user', id })
  return { run: lastRun?.run, codes: lastRun?.notices.map(({ code }) => code) }
}

const askFor = (run: number, part: Part) => harness.control.approve({ run, by: 'ana', part })

/** Approves a part, and returns the run that applies it and the one that holds the rest. */
async function approve({ run }: RunRecord, part: Part, more: Partial<ApproveRequest> = {}) {
  const rest = await harness.approve(run, { part, ...more })
  const [, applied] = await harness.control.runs({ sync: bed.sync, limit: 2 })
  return { applied: await harness.getRun(applied!.run), rest }
}

test('the updates of a held plan are approved, and the rest waits as a hold of its own', async () => {
  fire('a', 'b', 'c')
  rename('e')
  const held = await harness.sync()
  expect(held).toMatchObject({ state: 'held', hold: 'open' })
  const { applied, rest } = await approve(held, { names: ['updates'] }, { reason: 'they married' })
  expect(applied).toMatchObject({ state: 'done', approval_of: held.run, part: { names: ['updates'] } })
  expect(applied.counts?.planned).toEqual({ 'update-user': 1 })
  expect(await names()).toEqual([...['a', 'b', 'c', 'd', 'f'].map((id) => `Person ${id}`), 'Renamed e'])
  expect(rest).toMatchObject({ state: 'held', hold: 'open', hold_run: rest.run })
  expect(rest.digest).not.toBe(held.digest)
  expect(rest.breaches?.map(({ code, changes }) => [code, changes])).toEqual([
    ['max-deletes-users', 3],
    ['left-out', 3],
  ])
  expect(await harness.getRun(held.run)).toMatchObject({ hold: 'replaced' })
  const report = renderReport((await harness.control.run(held.run))!, { all: false }).join('\n')
  expect(report).toMatch(/Approved by ana at \d{4}-.*Z \(updates\): they married/)
  await harness.approve(rest.run)
  expect(await names()).toEqual(['Person d', 'Person f', 'Renamed e'])
})

test('changes that an approval left out are held although no guard objects, run after run, until they are decided', async () => {
  fire('a', 'b')
  hire('new')
  const held = await harness.sync()
  const { rest } = await approve(held, { names: ['deletes'] })
  expect(rest).toMatchObject({ state: 'held', breaches: [{ code: 'left-out', changes: 1 }] })
  expect(await harness.sync()).toMatchObject({ state: 'held', hold: null, hold_run: rest.run })
  hire('another')
  const more = await harness.sync()
  expect(more).toMatchObject({ state: 'held', breaches: [{ code: 'left-out', changes: 1 }] })
  expect(await names()).toEqual(['c', 'd', 'e', 'f'].map((id) => `Person ${id}`))
  await harness.control.approve({ run: rest.run, by: 'bob' })
  expect(await harness.sync()).toMatchObject({ state: 'done' })
  expect((await seen()).users.has('new')).toBe(true)
  expect(await harness.sync()).toMatchObject({ state: 'done', counts: { planned: {} } })
})

test('one user is approved together with the memberships', async () => {
  fire('a', 'b', 'c')
  hire('new', 'other')
  company.groups.set('g', { name: 'Group', members: ['d', 'e', 'new', 'other'] })
  company.groups.set('h', { name: 'House', members: ['new'] })
  const held = await harness.sync()
  const { applied } = await approve(held, { ids: ['new', 'h'] })
  expect(applied.counts?.planned).toEqual({ 'create-user': 1, 'create-group': 1, 'set-members': 2 })
  const { users, groups } = await seen()
  expect([...users.keys()].toSorted()).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'new'])
  expect(groups.get('g')?.members).toEqual(['a', 'b', 'c', 'd', 'new'])
  expect(groups.get('h')?.members).toEqual(['new'])
})

test('an e-mail is freed by an update that is not held, and not by a delete that is held', async () => {
  fire('a', 'b', 'c')
  company.users.set('e', { name: 'Person e', email: 'elsewhere@example.org' })
  company.users.set('f', { name: 'Person f', email: 'e@example.org' })
  company.users.set('d', { name: 'Person d', email: 'a@example.org' })
  const held = await harness.sync()
  const first = await approve(held, { ids: ['f'] })
  expect(first.applied.counts?.planned).toEqual({ 'update-user': 2 })
  const { users } = await seen()
  expect(users.get('f')?.email).toBe('e@example.org')
  expect(users.get('e')?.email).toBe('elsewhere@example.org')
  const second = await approve(first.rest, { ids: ['d'] })
  expect(second.applied.counts?.planned).toEqual({})
  expect((await seen()).users.get('d')?.email).toBe('d@example.org')
  const third = await approve(second.rest, { ids: ['d', 'a'] })
  expect(third.applied.counts?.planned).toEqual({ 'delete-user': 1, 'update-user': 1 })
  expect((await seen()).users.get('d')?.email).toBe('a@example.org')
})

describe('a group is renamed, and gets other members', () => {
  beforeEach(() => {
    company.groups.set('g', { name: 'Other name', members: ['e', 'f'] })
  })

  test('with the whole plan, both are written', async () => {
    expect(await harness.sync()).toMatchObject({
      state: 'done',
      counts: { planned: { 'update-group': 1, 'set-members': 1 }, outcomes: { applied: 2 } },
    })
    expect(await groupG()).toMatchObject({ name: 'Other name', members: ['e', 'f'] })
  })
})

test('what came since the approval is not applied with the part', async () => {
  fire('a', 'b')
  const held = await harness.sync()
  await harness.control.approve({ run: held.run, by: 'ana', part: { names: ['deletes'] } })
  fire('c', 'd')
  await harness.work()
  expect([...(await seen()).users.keys()].toSorted()).toEqual(['c', 'd', 'e', 'f'])
  const [rest] = await harness.control.runs({ sync: bed.sync, limit: 1 })
  expect(rest).toMatchObject({ state: 'held', counts: { planned: { 'delete-user': 2 } } })
})

describe('the approver in the history of a change', () => {
  test('is the operator who approved its part, also when another one approves the rest later', async () => {
    fire('a', 'b', 'c', 'd')
    const { run } = await harness.sync()
    await harness.control.approve({ run, by: 'root', part: { ids: ['a'] } })
    const [, part] = await harness.control.runs({ sync: bed.sync, limit: 2 })
    await harness.control.approve({ run, by: 'dbl1', part: { ids: ['a', 'b', 'c'] } })
    await harness.control.approve({ run, by: 'root', part: { ids: ['c'] } })
    await harness.control.approve({ run, by: 'all1' })
    await harness.work()
    expect(await harness.getRun(part!.run)).toMatchObject({ counts: { planned: { 'delete-user': 1 } } })
    expect(await Promise.all(['a', 'b', 'c', 'd'].map(approversOf))).toEqual(
      ['root', 'dbl1', 'dbl1', 'all1'].map((by) => [
        ['delete-user', by],
        ['create-user', null],
      ]),
    )
  })

  test('is not an operator who approves the whole plan after the part was sent', async () => {
    fire('a', 'b', 'c')
    const { run } = await harness.sync()
    await harness.control.approve({ run, by: 'root', part: { ids: ['a'] } })
    bed.proxy.intercept = async ({ method }) => {
      if (method !== 'DELETE') return undefined
      bed.proxy.intercept = () => undefined
      await harness.control.approve({ run, by: 'all1' })
      return undefined
    }
    await harness.work()
    expect(await approversOf('a')).toContainEqual(['delete-user', 'root'])
    expect(await approversOf('b')).toContainEqual(['delete-user', 'all1'])
  })
})

describe('an e-mail that changes hands', () => {
  beforeEach(() => {
    fire('a', 'f')
    company.users.set('b', { name: 'Person b', email: 'a@example.org' })
    company.users.set('new', { name: 'Person new', email: 'f@example.org' })
  })

  test('what was rejected stays so in every form, also without the e-mail, and when that is free', async () => {
    rename('c')
    const { rest } = await approve(await harness.sync(), { ids: ['c'] })
    expect(await harness.sync({ only: { users: ['new'], groups: [] } })).toMatchObject({ state: 'held' })
    await harness.control.reject({ run: rest.run, by: 'bob' })
    const unchanged = async (left: readonly string[]) => {
      expect(await harness.sync()).toMatchObject({ state: 'done', counts: { planned: {} } })
      const { users } = await seen()
      expect([...users.keys()].toSorted()).toEqual(left)
      expect(users.get('b')).toMatchObject({ email: 'b@example.org' })
    }
    await unchanged(['a', 'b', 'c', 'd', 'e', 'f'])
    await harness.approve(rest.run, { part: { names: ['deletes'] } })
    await unchanged(['b', 'c', 'd', 'e'])
    await unchanged(['b', 'c', 'd', 'e'])
    await harness.approve(rest.run)
    expect([await emailOf('b'), await emailOf('new')]).toEqual(['a@example.org', 'f@example.org'])
  })

  test('the part that frees it gives it to no user who was left out', async () => {
    const held = await harness.sync()
    const { applied, rest } = await approve(held, { names: ['deletes'] })
    expect(applied.counts?.planned).toEqual({ 'delete-user': 2 })
    expect(rest).toMatchObject({
      state: 'held',
      counts: { planned: { 'create-user': 1, 'update-user': 1 } },
    })
    expect([await emailOf('b'), (await seen()).users.has('new')]).toEqual(['b@example.org', false])
    for (const id of ['b', 'new'])
      expect(await harness.sync({ only: { users: [id], groups: [] } })).toMatchObject({ state: 'held' })
    expect([await emailOf('b'), (await seen()).users.has('new')]).toEqual(['b@example.org', false])
    await harness.approve(rest.run)
    expect([await emailOf('b'), await emailOf('new')]).toEqual(['a@example.org', 'f@example.org'])
    expect(await harness.sync()).toMatchObject({ state: 'done', counts: { planned: {} } })
  })
})

test('a part that the run does not hold, and a run without a plan on hold, are refused', async () => {
  fire('a', 'b')
  const held = await harness.sync()
  await expect(askFor(held.run, { names: ['creates'] })).rejects.toThrow(
    /holds no such change, so nothing was decided; dirsyncd runs \d+ --all/,
  )
  await expect(askFor(held.run, { ids: ['a', 'typo', ' b'] })).rejects.toThrow(
    `Run ${held.run} holds no such change of " b", "typo", so nothing was decided;`,
  )
  await expect(askFor(held.run, { names: ['deletes'], ids: ['a', 'g'] })).rejects.toThrow('change of "g",')
  expect(
    await bed.db.selectFrom('dirsyncd.decisions').select('run').where('run', '=', held.run).execute(),
  ).toEqual([])
  await expect(askFor(held.run - 1, { names: ['deletes'] })).rejects.toThrow(/has no plan on hold/)
  await expect(askFor(987_654, {})).rejects.toThrow('There is no run 987654')
  expect(await harness.getRun(held.run)).toMatchObject({
    hold: 'open',
    breaches: [{ code: 'max-deletes-users' }],
  })
})

test('a hold expires, says so, and the next run asks again', async () => {
  fire('a', 'b')
  const held = await harness.sync()
  expect(held.hold_expires_at!.getTime() - Date.now()).toBeGreaterThan(6.9 * 86_400_000)
  const report = renderReport((await harness.control.run(held.run))!, { all: false }).join('\n')
  expect(report).toMatch(/It expires at .*Z; then the next run asks again\./)
  await sql`UPDATE dirsyncd.runs SET hold_expires_at = now() - interval '1 second' WHERE run = ${held.run}`.execute(
    bed.db,
  )
  expect(await harness.control.run(held.run)).toMatchObject({ hold: 'expired' })
  const late = harness.control.approve({ run: held.run, by: 'ana' })
  await expect(late).rejects.toThrow(
    new RegExp(
      `The hold of run ${held.run} expired at .*; dirsyncd sync ${bed.sync} shows what would be held now.`,
    ),
  )
  expect((await seen()).users.size).toBe(6)
  const next = await harness.sync()
  expect(next).toMatchObject({ state: 'held', hold: 'open', hold_run: next.run })
  expect(await harness.getRun(held.run)).toMatchObject({ hold: 'expired' })
  await harness.control.approve({ run: next.run, by: 'ana' })
  expect(await harness.sync()).toMatchObject({ state: 'done' })
  expect((await seen()).users.size).toBe(4)
})

test('one of several rejected deletes is approved alone', async () => {
  fire('a', 'b', 'c')
  hire('new')
  const held = await harness.sync()
  await harness.control.reject({ run: held.run, by: 'bob' })
  await harness.sync()
  await expect(askFor(held.run, { names: ['creates'] })).rejects.toThrow(
    /No such change of run \d+ is rejected/,
  )
  const without = createLocalControl({ db: bed.db, targets: new Map(), wake: async () => undefined })
  await expect(without.approve({ run: held.run, by: 'ana' })).rejects.toThrow(
    'which this configuration does not have',
  )
  expect(await harness.getRun(held.run)).toMatchObject({ hold: 'rejected' })
  await expect(askFor(held.run, { ids: ['a', 'new'] })).rejects.toThrow('No such change of "new" of run')
  const applied = await harness.approve(held.run, { part: { ids: ['a'] } })
  expect(applied).toMatchObject({ state: 'done', counts: { planned: { 'delete-user': 1 } } })
  expect([...(await seen()).users.keys()].toSorted()).toEqual(['b', 'c', 'd', 'e', 'f', 'new'])
  expect([await lastRunOf('a'), await lastRunOf('b')]).toEqual([
    { run: applied.run, codes: [] },
    { run: applied.run - 1, codes: ['rejected'] },
  ])
  const next = await harness.sync()
  expect(next).toMatchObject({ state: 'done', counts: { planned: {}, notices: { rejected: 2 } } })
})
