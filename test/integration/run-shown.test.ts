import { beforeEach, describe, expect, test } from 'vitest'
import type { Sighting } from '../../src/core/entries/recheck.ts'
import type { DecisionRequest } from '../../src/operations/control.ts'
import { overviewOf } from '../../src/operations/overview.ts'
import type { RunRecord } from '../../src/store/runs.ts'
import { endText, stateText } from '../../src/ui/messages/ends.ts'
import { renderReport } from '../../src/ui/cli/render/report.ts'
import type { SyncHarness, SyncHarnessOptions } from '../support/sync-harness.ts'
import { useTestBed } from '../support/test-bed.ts'

const bed = useTestBed('shown')
const { company, hire, fire } = bed

let harness: SyncHarness
/** What the recheck finds of each id. */
let sighting: (id: string) => Sighting

async function open(more: Partial<SyncHarnessOptions> = {}): Promise<void> {
  harness = await bed.openWithWorker({ maxUserDeletes: 1, recheck: (id) => sighting(id), ...more })
  expect(await harness.sync()).toMatchObject({ state: 'done' })
}

beforeEach(() => {
  sighting = () => 'absent'
  hire('a', 'b', 'c', 'd', 'e', 'f')
  company.groups.set('g', { name: 'Group', members: ['a', 'b', 'c', 'd', 'e', 'f'] })
})

const only = (...users: string[]) => ({ scope: { users, groups: [] } })
const view = async ({ run }: Pick<RunRecord, 'run'>) => (await harness.control.run(run))!
const report = async (run: RunRecord) => renderReport(await view(run), { all: false }).join('\n')
const decide = (does: 'approve' | 'reject', { run }: RunRecord, more: Partial<DecisionRequest> = {}) =>
  harness.control[does]({ run, by: 'ana', ...more })

describe('a run of single users that has nothing to do', () => {
  test('is done, whatever is put off of others', async () => {
    await open()
    fire('a', 'b')
    sighting = () => 'present'
    const whole = await harness.sync()
    expect([await harness.blocked(whole), await harness.exitCode(whole)]).toEqual([
      ['delete-user a seen-again', 'delete-user b seen-again'],
      4,
    ])
    const limited = await harness.sync(only('f'))
    expect([await harness.blocked(limited), await harness.exitCode(limited)]).toEqual([[], 0])
    expect(endText(await view(limited))).toBe('no changes')
  })

  test('asks nothing about others, and an approval of its number decides nothing about them', async () => {
    await open()
    hire('z')
    company.groups.set('g', { name: 'Group', members: [] })
    const whole = await harness.sync()
    expect([await harness.blocked(whole), await harness.exitCode(whole)]).toEqual([
      ['set-members g group-emptied'],
      3,
    ])
    const limited = await harness.sync(only('z'))
    expect(await view(limited)).toMatchObject({ state: 'done', questions: 0, reasons: [] })
    expect(await harness.exitCode(limited)).toBe(0)
    await expect(decide('approve', limited)).rejects.toThrow('nothing to decide about')
  })
})

describe('of a question, the number is that of its changes', () => {
  test('which have several values or members', async () => {
    await open()
    fire('a', 'b')
    company.users.set('c', { name: 'Other', email: 'other@example.org' })
    company.groups.set('g', { name: 'Group', members: [] })
    const held = await harness.sync()
    const shown = await view(held)
    expect(shown).toMatchObject({
      counts: { asking: { 'delete-user': 2, 'set-members': 1 } },
      questions: 3,
      open: { 'delete-user': 2, 'set-members': 1 },
    })
    await expect(decide('approve', held)).rejects.toThrow('max-deletes-users (2)')
    await expect(decide('approve', held)).rejects.toThrow('group-emptied (1)')
  })

  test('without memberships that end with their user', async () => {
    const other = await bed.openWithWorker({ sync: 'shown-other' })
    await other.sync()
    fire('a', 'b')
    harness = await bed.openWithWorker({ grace: { deleteAfter: { user: { ms: 86_400_000 } } } })
    const first = await harness.sync()
    expect(await harness.blocked(first)).toEqual(
      ['a', 'b'].map((id) => `delete-user ${id} grace first-contact`),
    )
    expect(await view(first)).toMatchObject({ questions: 2, open: { 'delete-user': 2 } })
  })
})

test('a question about memberships of users whose delete is delayed lists their groups', async () => {
  await open({ grace: { deleteAfter: { user: { ms: 86_400_000 } } } })
  const { setup } = harness.parts
  const memberships = { ...setup.limits.memberships, maxDeletes: 1 }
  Object.assign(setup, { limits: { ...setup.limits, memberships } })
  fire('a', 'b')
  const held = await harness.sync()
  expect(await harness.blocked(held)).toEqual([
    'set-members g max-deletes-memberships',
    'delete-user a grace',
    'delete-user b grace',
  ])
  expect(await report(held)).toMatch(
    /Needs approval:\n {2}max-deletes-memberships \(1\): 2 of 6 memberships would be removed, limit 1\n/,
  )
})

describe('of a run that was decided in part', () => {
  test('only what is open needs approval, and all of it is listed', async () => {
    await open()
    fire('a', 'b', 'c')
    const held = await harness.sync()
    await decide('reject', held, { ids: ['a'] })
    await decide('approve', held, { ids: ['b'] })
    const lines = (await report(held)).split('\n')
    const section = (title: string) =>
      lines.slice(lines.indexOf(title)).slice(1, lines.slice(lines.indexOf(title)).indexOf(''))
    expect(section('Needs approval:').filter((line) => line.includes('delete user'))).toEqual([
      expect.stringContaining('- delete user   c'),
    ])
    expect(section('Asked about, no longer open:').filter((line) => line.includes('delete user'))).toEqual([
      expect.stringContaining('- delete user   a'),
      expect.stringContaining('- delete user   b'),
    ])
    expect(stateText(await view(held))).toBe('needs approval')
    await decide('reject', held)
    expect(stateText(await view(held))).toBe('decided')
    expect(await report(held)).not.toContain('Needs approval')
  })

  test('an e-mail whose owner keeps it waits for no decision', async () => {
    await open()
    fire('a', 'b', 'c')
    company.users.set('d', { name: 'Person d', email: 'a@example.org' })
    const held = await harness.sync()
    expect(await report(held)).toMatch(
      /Waits for the decision:\n +~ update user {3}d .*\(the e-mail of a\)\n/,
    )
    await decide('reject', held, { ids: ['a'], reason: 'on leave' })
    const said =
      /rejected \(1\): "a" keeps the e-mail, because its delete was rejected by ana at .* in run \d+: on leave\n +~ update user {3}d/
    for (const run of [held, await harness.sync()]) {
      expect(await report(run)).toMatch(said)
      expect(await report(run)).not.toContain('Waits for the decision')
    }
  })
})

test('a held run whose questions ended by themselves does not look held', async () => {
  await open()
  fire('a', 'b', 'c')
  const held = await harness.sync()
  hire('a', 'b', 'c')
  await harness.sync()
  const now = await view(held)
  expect(stateText(now)).toBe('held, no open question')
  expect(endText(now)).toContain('what it asked about is not open any more')
})

describe('a decision about a run that asks nothing', () => {
  test('names the reason that an approval takes', async () => {
    await open({ grace: { deleteAfter: { user: { ms: 86_400_000 } } } })
    fire('a')
    const run = await harness.sync()
    await expect(decide('approve', run)).rejects.toThrow(
      `needs their reason: \`dirsyncd approve ${run.run} --code grace\`.`,
    )
    await harness.approve(run.run, { code: 'grace', isAll: undefined })
    expect([...(await bed.seen()).users.keys()]).not.toContain('a')
  })

  test.each<[string, Partial<DecisionRequest>]>([
    ['a plain approval', {}],
    ['an approval of the reason', { code: 'policy' }],
    ['an approval of the change', { ids: ['a'] }],
  ])('names what no decision ends: %s', async (_, request) => {
    await open({ rules: { policy: 'upsert' } })
    fire('a')
    const run = await harness.sync()
    await expect(decide('approve', run, request)).rejects.toThrow(
      `No decision ends the block policy: \`dirsyncd runs ${run.run}\` says what does.`,
    )
  })
})

test('rejections of several operators are counted, with the last one and the run that lists them', async () => {
  await open()
  fire('a', 'b', 'c')
  const held = await harness.sync()
  await decide('reject', held, { ids: ['a'], reason: 'on leave' })
  await harness.control.reject({ run: held.run, by: 'bob', ids: ['b', 'c'], reason: 'ask HR' })
  const next = await harness.sync()
  const today = new Date().toISOString().slice(0, 10)
  expect(endText(await view(next))).toBe(
    `no changes; 3 deletions of users are rejected (run ${next.run} lists them, the last by bob on ${today})`,
  )
  expect(await report(next)).toMatch(/by ana at .*: on leave\n(.|\n)*by bob at .*: ask HR\n/)
})

async function overview() {
  const watched = { sync: bed.sync, target: bed.target, origin: 'none', place: 'none' }
  return (await overviewOf(bed.db, [{ ...watched, next: undefined, due: () => undefined }]))[0]
}

test('the overview is not well while changes wait for a better read', async () => {
  await open()
  fire('a', 'b')
  sighting = () => 'present'
  const { run } = await harness.sync()
  expect(await overview()).toMatchObject({
    state: 'doubted',
    doubted: { run, blocks: [{ code: 'seen-again', changes: 2 }] },
  })
  hire('a', 'b')
  await harness.sync()
  expect(await overview()).toMatchObject({ state: 'ok', doubted: null })
})
