import { loadStates } from '../../src/store/check-states.ts'
import { absentFor, changeStates } from '../support/check-states.ts'
import { blockText } from '../../src/ui/messages/blocks.ts'
import { sql } from 'kysely'
import { beforeEach, describe, expect, test } from 'vitest'
import type { ServerEvidence } from '../../src/core/entries/position.ts'
import { forEachInSteps } from '../../src/base/steps.ts'
import type { Sighting } from '../../src/core/entries/recheck.ts'
import type { Places, SourceSnapshot } from '../../src/core/entries/snapshot.ts'
import { claim } from '../../src/sync/apply/claim.ts'
import { FencedRun } from '../../src/store/fenced-run.ts'
import { findRun, listRuns, type RunRecord } from '../../src/store/runs.ts'
import { beginFenced } from '../support/fenced.ts'
import type { SyncHarness, SyncHarnessOptions } from '../support/sync-harness.ts'
import { useTestBed } from '../support/test-bed.ts'

const SALES = ['s1', 's2', 's3', 's4', 's5', 's6']

const bed = useTestBed('evidence')
const { company, hire, call } = bed

let server: ServerEvidence | undefined
let places: Map<string, string>
let unreadable: number

beforeEach(() => {
  server = undefined
  places = new Map()
  unreadable = 0
  hire(...SALES, 'o1', 'o2', 'o3')
  company.groups.set('g', { name: 'Everybody', members: [...company.users.keys()] })
})

/** They are in no answer of the source any more: gone, or not to be seen. */
function lose(...ids: readonly string[]): void {
  for (const id of ids) company.users.delete(id)
  const members = company.groups.get('g')?.members.filter((id) => company.users.has(id)) ?? []
  company.groups.set('g', { name: 'Everybody', members })
}

/** Ends each run that writes at its first create. */
function refuseToken(): void {
  bed.proxy.intercept = ({ method }) => (method === 'POST' ? { status: 401, answer: {} } : undefined)
}

/** Users whose id begins with `s` are in the unit sales, unless they were moved. */
function placesOf(ids: Iterable<string>): Places {
  return {
    each: (visit) =>
      forEachInSteps(ids, (id) =>
        visit(id, `ou=${places.get(id) ?? (id.startsWith('s') ? 'sales' : 'labs')},dc=org`),
      ),
  }
}

function withEvidence(snapshot: SourceSnapshot): SourceSnapshot {
  return {
    ...snapshot,
    server,
    unreadable,
    places: { user: placesOf(snapshot.seen.user), group: placesOf(snapshot.seen.group) },
  }
}

const of = () => ({ sync: bed.sync, target: bed.target })
const states = () => loadStates(bed.db, of())

const start = (options: Partial<SyncHarnessOptions> = {}) =>
  bed.openWithWorker({ asRead: withEvidence, ...options })

/** Makes one run in a process of its own. */
async function syncOnce(options: Partial<SyncHarnessOptions> = {}): Promise<void> {
  const harness = await start(options)
  await harness.sync()
  await harness[Symbol.asyncDispose]()
}

/** Begins a run and ends its process while it applies the changes. */
async function interrupt(options: Partial<SyncHarnessOptions>): Promise<void> {
  const harness = bed.open({ asRead: withEvidence, ...options })
  const run = await harness.requestRun()
  const working = harness.work()
  await expect.poll(async () => (await harness.getRun(run)).state).toBe('applying')
  await harness[Symbol.asyncDispose]()
  await working
}

async function seen(): Promise<{ users: string[]; members: string[] }> {
  const content = await bed.seen()
  return {
    users: [...content.users.keys()].toSorted(),
    members: [...(content.groups.get('g')?.members ?? [])],
  }
}

/** Each as `CODE CHANGES UNTIL`, without those of time alone. */
function blocksOf({ blocks }: RunRecord): string[] {
  return (blocks ?? [])
    .filter(({ code }) => code !== 'grace')
    .map(({ code, changes, until }) => `${code} ${changes} ${until}`)
}

/** The group of everybody lists these. */
function show(...members: readonly string[]): void {
  company.groups.set('g', { name: 'Everybody', members })
}

const at = (position: ServerEvidence['position'], address = '10.0.0.1'): ServerEvidence => ({
  url: 'ldap://dc.example.org:389',
  address,
  addresses: 2,
  database: 'one',
  position,
  hints: {},
})

describe('an OU that lost all its users', () => {
  test('is asked about, and everything else is applied', async () => {
    const harness = await start()
    expect(await harness.exitCode(harness.sync())).toBe(0)
    const everybody = (await seen()).users
    lose(...SALES)
    hire('new')
    const held = await harness.sync()
    expect(held.state).toBe('done')
    expect(blocksOf(held)).toEqual(['container-emptied 6 decision'])
    expect(await harness.exitCode(held)).toBe(3)
    expect(await seen()).toEqual({ users: ['new', ...everybody].toSorted(), members: everybody })

    // The next run asks the same, and nothing of the OU is forgotten meanwhile.
    const again = await harness.sync()
    expect([again.state, await harness.exitCode(again)]).toEqual(['done', 3])
    expect((await states()).containers?.user?.entries).toHaveLength(10)
    expect((await states()).size).toMatchObject({ users: 10 })

    const approved = await harness.approve(held.run)
    expect([approved.state, await harness.exitCode(approved)]).toEqual(['done', 0])
    expect(await seen()).toEqual({ users: ['new', 'o1', 'o2', 'o3'], members: ['o1', 'o2', 'o3'] })
    expect((await states()).containers?.user?.entries).toHaveLength(4)
  })

  test('shows which users it would delete, and one of them is approved alone', async () => {
    const harness = await start()
    await harness.sync()
    lose(...SALES)
    const asking = await harness.sync()
    expect(await harness.blocked(asking)).toEqual(SALES.map((id) => `delete-user ${id} container-emptied`))
    await harness.approve(asking.run, { ids: ['s1'] })
    expect((await seen()).users).toEqual(['o1', 'o2', 'o3', ...SALES.slice(1)])
    expect(await harness.exitCode(asking)).toBe(3)
  })

  test('is a reason of its own beside that of a guard, and each is approved apart', async () => {
    const harness = await start({ maxUserDeletes: 1 })
    await harness.sync()
    lose(...SALES, 'o1', 'o2')
    const held = await harness.sync()
    expect([held.state, ...blocksOf(held)]).toEqual([
      'held',
      'container-emptied 6 decision',
      'max-deletes-users 2 decision',
    ])
    const approved = await harness.approve(held.run, { code: 'max-deletes-users' })
    expect((await seen()).users).toEqual(['o3', ...SALES])
    expect([approved.state, await harness.exitCode(approved)]).toEqual(['done', 3])
    expect(blocksOf(approved)).toEqual(['container-emptied 6 decision'])
  })

  test('keeps the users who are still absent when one is back, also after a read that proves nothing', async () => {
    const harness = await start()
    await harness.sync()
    lose(...SALES)
    await harness.sync()
    hire('s1')
    unreadable = 1
    expect(blocksOf(await harness.sync())).toEqual(['unreadable 6 read'])
    unreadable = 0
    const after = await harness.sync()
    expect(blocksOf(after)).toEqual(['container-emptied 5 decision'])
    expect((await seen()).users).toEqual(['o1', 'o2', 'o3', ...SALES])
    // The group of all was not emptied, so who left it leaves.
    const approved = await harness.approve(after.run)
    expect(await harness.exitCode(approved)).toBe(0)
    expect((await seen()).users).toEqual(['o1', 'o2', 'o3', 's1'])
  })

  test('keeps the users who are still absent when one is back, also after a run that failed after its read', async () => {
    const harness = await start()
    await harness.sync()
    lose(...SALES)
    hire('new')
    show()
    refuseToken()
    expect(await harness.sync()).toMatchObject({ state: 'failed' })
    bed.proxy.intercept = () => undefined
    hire('s1')
    show('s1')
    expect(blocksOf(await harness.sync())).toEqual(['container-emptied 5 decision', 'asked 1 decision'])
  })

  test('keeps a user for whom alone a run is asked, and still asks about the others', async () => {
    const harness = await start()
    await harness.sync()
    lose(...SALES)
    const held = await harness.sync()
    const single = await harness.sync({ scope: { users: ['s1'], groups: [] } })
    expect(await harness.blocked(single)).toEqual(['delete-user s1 container-emptied'])
    expect([await harness.exitCode(single), await harness.exitCode(held)]).toEqual([3, 3])
    expect((await seen()).users).toContain('s1')
  })
})

describe('a group without members', () => {
  test('keeps them when some are shown again, also after a guard held a plan meanwhile', async () => {
    const harness = await start({ maxUserDeletes: 1 })
    await harness.sync()
    const { members } = await seen()
    show()
    const held = await harness.sync()
    expect(blocksOf(held)).toEqual(['group-emptied 1 decision'])
    lose('o1', 'o2')
    show('o3')
    expect(blocksOf(await harness.sync())).toEqual([
      'asked 1 decision',
      'kept-membership 2 decision',
      'max-deletes-users 2 decision',
    ])
    hire('o1')
    hire('o2')
    show('o3', 's1')
    const after = await harness.sync()
    expect(blocksOf(after)).toEqual(['asked 1 decision'])
    expect((await seen()).members).toEqual(members)
    expect(await harness.exitCode(harness.approve(after.run))).toBe(0)
    expect((await seen()).members).toEqual(['o3', 's1'])
    show('o3')
    expect(blocksOf(await harness.sync())).toEqual([])
  })
})

describe('grace', () => {
  test('in runs is not used up by runs whose process ended', async () => {
    const options = { grace: { deleteAfter: { user: { runs: 2 } } } }
    await syncOnce(options)
    lose('o1')
    hire('new')
    for (let turn = 0; turn < 3; turn++) await interrupt(options)
    const harness = await start(options)
    await harness.sync()
    expect((await seen()).users).toContain('o1')
    await harness.sync()
    expect((await seen()).users).not.toContain('o1')
  })

  test('is no way around the first contact', async () => {
    const { sync } = bed
    lose('o1')
    hire('o1')
    const harness = await start({ grace: { deleteAfter: { user: { runs: 2 } } } })
    await harness.sync()
    await sql`DELETE FROM dirsyncd.check_states WHERE sync = ${sync}`.execute(bed.db)
    lose('o1')
    for (let turn = 0; turn < 3; turn++) {
      const first = await harness.sync()
      expect(first.state).toBe('held')
      expect(blocksOf(first)).toEqual([expect.stringMatching(/^first-contact /)])
    }
    expect((await seen()).users).toContain('o1')
  })

  test('in time counts from the first good read without the user', async () => {
    const harness = await start({ grace: { deleteAfter: { user: { ms: 3_600_000 } } } })
    await harness.sync()
    lose('o1')
    for (const isThere of [true, true, false]) {
      await harness.sync()
      expect((await seen()).users.includes('o1')).toBe(isThere)
      await changeStates(bed.db, of(), absentFor(31 * 60_000))
    }
  })

  test('goes on although each run fails, and leaves nothing behind for a deleted user', async () => {
    const harness = await start({ grace: { deleteAfter: { user: { runs: 3 } } } })
    await harness.sync()
    lose('o1')
    hire('new')
    refuseToken()
    for (let run = 0; run < 2; run += 1) {
      expect(await harness.sync()).toMatchObject({ state: 'failed' })
      expect((await seen()).users).toContain('o1')
    }
    bed.proxy.intercept = () => undefined
    await harness.sync()
    expect((await seen()).users).not.toContain('o1')
    expect([...((await states()).grace?.user.keys() ?? [])]).toEqual([])
  })

  test('delays the delete and not the end of the memberships, and ends when the user is back', async () => {
    const harness = await start({ grace: { deleteAfter: { user: { runs: 3 } } } })
    await harness.sync()
    lose('o1', 'o2')
    const first = await harness.sync()
    expect(await harness.exitCode(first)).toBe(0)
    expect((await seen()).members).not.toContain('o1')
    const { changes } = (await harness.control.run(first.run))!
    const blocked = changes.find(({ state }) => state === 'blocked')
    expect(blocked).toMatchObject({ change: { id: 'o1' }, reasons: [{ code: 'grace', facts: { reads: 2 } }] })
    await harness.sync()
    hire('o2')
    await harness.sync()
    expect((await seen()).users).not.toContain('o1')
    lose('o2')
    await harness.sync()
    await harness.sync()
    expect((await seen()).users).toContain('o2')
    await harness.sync()
    expect((await seen()).users).not.toContain('o2')
  })

  test('does not restart because the list of the directory lacked the user once', async () => {
    const harness = await start({ grace: { deleteAfter: { user: { runs: 3 } } } })
    await harness.sync()
    lose('o1')
    await harness.sync()
    expect(await call('DELETE', '/users/o1')).toBe(204)
    await harness.sync()
    const form = { 'users[][external_id]': 'o1', 'users[][email]': 'o1@example.org', 'users[][name]': 'O' }
    expect(await call('POST', '/users', form)).toBe(201)
    await harness.sync()
    expect((await seen()).users).toContain('o1')
    await harness.sync()
    expect((await seen()).users).not.toContain('o1')
  })

  test.each(['present', 'absent'] as const)(
    'restarts for a user whom the recheck found (%s)',
    async (sighting) => {
      let found: Sighting = 'absent'
      const harness = await start({
        grace: { deleteAfter: { user: { runs: 3 } } },
        recheck: () => found,
      })
      await harness.sync()
      lose('o1')
      await harness.sync()
      found = sighting
      await harness.sync()
      found = 'absent'
      await harness.sync()
      await harness.sync()
      expect((await seen()).users.includes('o1')).toBe(sighting === 'present')
    },
  )
})

describe('a server', () => {
  test('that is older than the last good read changes nothing, and is asked again', async () => {
    const harness = await start()
    server = at({ a: '20' })
    await harness.sync()
    const everybody = await seen()
    server = at({ a: '19' }, '10.0.0.2')
    lose('o1')
    hire('new')
    const behind = await harness.sync()
    expect(await harness.exitCode(behind)).toBe(4)
    expect(blocksOf(behind)).toEqual([expect.stringMatching(/^server-not-newer \d+ read$/)])
    expect(blockText(behind.blocks![0]!)).toMatch(/10\.0\.0\.2.*older.*a: 20 then, 19 now/)
    expect(await seen()).toEqual(everybody)
    server = at({ a: '21' })
    expect(await harness.exitCode(harness.sync())).toBe(0)
    expect((await seen()).users).toEqual(['new', 'o2', 'o3', ...SALES])
  })

  test('that has other changes only adds, until its state is approved after a day', async () => {
    const harness = await start()
    server = at({ a: '20' })
    await harness.sync()
    const everybody = await seen()
    server = at({ a: '19', b: '5' }, '10.0.0.2')
    lose('o1')
    company.users.set('o2', { name: 'Renamed', email: 'o2@example.org' })
    hire('new')
    company.groups.set('g', {
      name: 'Everybody',
      members: ['new', ...(company.groups.get('g')?.members ?? [])],
    })
    const other = await harness.sync()
    expect(await harness.exitCode(other)).toBe(4)
    expect(await seen()).toEqual({
      users: ['new', ...everybody.users],
      members: ['new', ...everybody.members],
    })
    const notNewerSince = new Date(Date.now() - 25 * 3_600_000).toISOString()
    await changeStates(bed.db, of(), ({ server: kept }) => ({ server: { ...kept!, notNewerSince } }))
    server = at({ a: '19', b: '6' }, '10.0.0.2')
    const held = await harness.sync()
    expect(await harness.exitCode(held)).toBe(3)
    expect(blocksOf(held)).toEqual([expect.stringMatching(/^server-not-newer \d+ read$/)])
    const accepted = await harness.approve(held.run)
    expect(await harness.exitCode(accepted)).toBe(0)
    expect((await seen()).users).toEqual(['new', 'o2', 'o3', ...SALES])
    expect((await states()).server?.position).toEqual({ a: '19', b: '6' })
  })

  test('that brings back a user whom this sync has just deleted has the user created after a day only', async () => {
    const harness = await start()
    server = at({ a: '20' })
    await harness.sync()
    lose('o1')
    server = at({ a: '21' })
    await harness.sync()
    expect((await seen()).users).not.toContain('o1')
    hire('o1')
    server = at({ a: '22' })
    const again = await harness.sync()
    expect(blocksOf(again)).toEqual(['recently-deleted 1 time'])
    expect(await harness.exitCode(again)).toBe(4)
    expect((await seen()).users).not.toContain('o1')
    await sql`UPDATE dirsyncd.journal SET intent_at = now() - interval '25 hours' WHERE sync = ${bed.sync}`.execute(
      bed.db,
    )
    expect(await harness.exitCode(harness.sync())).toBe(0)
    expect((await seen()).users).toContain('o1')
  })

  test('that is older, and catches up before the second look, is no incomplete read', async () => {
    const harness = await start({ recheck: () => 'present' })
    server = at({ a: '20' })
    await harness.sync()
    const everybody = await seen()
    server = { ...at({ a: '20' }, '10.0.0.2'), positionAtStart: { a: '19' } }
    lose(...SALES)
    const behind = await harness.sync()
    expect([await harness.exitCode(behind), behind.error]).toEqual([4, null])
    expect(blocksOf(behind)).toEqual(['seen-again 6 read', 'server-not-newer 6 read'])
    expect(await seen()).toEqual(everybody)
    server = at({ a: '20' })
    expect(await harness.sync()).toMatchObject({
      state: 'failed',
      error: expect.stringContaining('incomplete'),
    })
  })

  test('that lacks a user of another server has the user deleted only when it has the changes of both', async () => {
    const harness = await start()
    server = at({ a: '20' })
    await harness.sync()
    server = at({ a: '19', b: '5' }, '10.0.0.2')
    hire('new')
    // Nothing is blocked that this server would change.
    expect(await harness.exitCode(harness.sync())).toBe(0)
    const everybody = (await seen()).users
    expect(everybody).toContain('new')

    server = at({ a: '21' })
    lose('new')
    hire('newer')
    const first = await harness.sync()
    expect(await harness.exitCode(first)).toBe(4)
    expect(blocksOf(first)).toEqual([expect.stringMatching(/^server-not-newer \d+ read$/)])
    expect(blockText(first.blocks![0]!)).toMatch(/lacks changes of another server.*b: 5 then, nothing now/)
    expect((await seen()).users).toEqual([...everybody, 'newer'].toSorted())

    server = at({ a: '22', b: '5' })
    expect(await harness.exitCode(harness.sync())).toBe(0)
    expect((await seen()).users).not.toContain('new')
  })

  test('that shows no position, and may not be the one of the last read, deletes after a second read', async () => {
    const harness = await start({ grace: { deleteAfter: {}, confirmAfterMs: 3_600_000 } })
    server = at(undefined)
    await harness.sync()
    lose('o1')
    const first = await harness.sync()
    expect(await harness.exitCode(first)).toBe(0)
    expect(await seen()).toMatchObject({
      users: expect.arrayContaining(['o1']),
      members: expect.arrayContaining(['o1']),
    })
    await changeStates(bed.db, of(), absentFor(61 * 60_000))
    await harness.sync()
    expect((await seen()).users).not.toContain('o1')
  })
})

describe('reasons of opposite danger in one run', () => {
  const everybody = [...SALES, 'o2', 'o3']
  let harness: SyncHarness
  let held: RunRecord

  /** Run `held` would create o1 again, and delete all of sales. */
  beforeEach(async () => {
    harness = await start()
    server = at({ a: '20' })
    await harness.sync()
    lose('o1')
    await harness.sync()
    hire('o1')
    lose(...SALES)
    held = await harness.sync()
    expect(blocksOf(held)).toEqual(['container-emptied 6 decision', 'recently-deleted 1 time'])
  })

  test('are decided one by one, and the other stays asked under its number', async () => {
    const first = await harness.approve(held.run, { code: 'recently-deleted' })
    expect(blocksOf(first)).toEqual(['container-emptied 6 decision'])
    expect((await seen()).users).toEqual(['o1', ...everybody].toSorted())
    expect(await harness.exitCode(held)).toBe(3)
    const second = await harness.approve(held.run, { code: 'container-emptied' })
    expect([second.state, await harness.exitCode(second)]).toEqual(['done', 0])
    expect((await seen()).users).toEqual(['o1', 'o2', 'o3'])
  })

  test('in the other order, where one is rejected, and approved after all', async () => {
    await harness.control.reject({ run: held.run, by: 'ada', code: 'container-emptied' })
    const after = await harness.sync()
    expect(blocksOf(after)).toEqual(['rejected 6 decision', 'recently-deleted 1 time'])
    expect((await seen()).users).toEqual(everybody.toSorted())
    await harness.approve(held.run, { code: 'recently-deleted' })
    expect((await seen()).users).toEqual(['o1', ...everybody].toSorted())
    await harness.approve(held.run, { code: 'rejected' })
    expect((await seen()).users).toEqual(['o1', 'o2', 'o3'])
  })
})

test('an approval of a fact applies nothing before the changes are decided on, too', async () => {
  const harness = await start({ maxUserDeletes: 1, minSourceUsers: 7 })
  await harness.sync()
  lose('o1', 'o2', 's1', 's2')
  hire('new')
  const held = await harness.sync()
  expect(blocksOf(held)).toEqual(['min-source-users 0 decision', 'max-deletes-users 4 decision'])
  const everybody = await seen()
  const after = await harness.approve(held.run, { code: 'min-source-users' })
  expect([after.state, await seen()]).toEqual(['held', everybody])
  const approved = await harness.approve(held.run, { code: 'max-deletes-users' })
  expect(approved.state).toBe('done')
  expect((await seen()).users).toEqual(['new', 'o3', 's3', 's4', 's5', 's6'])
})

test('a command that only plans leaves an interrupted run alone, and the next sync goes on', async () => {
  await syncOnce()
  hire('new')
  lose('o1')
  await interrupt({})
  const before = await seen()
  const [left] = await listRuns(bed.db, { sync: bed.sync, limit: 1 })
  const { run: number, epoch, target: its } = (await findRun(bed.db, left?.run ?? 0))!
  const fenced = new FencedRun(bed.db, { run: number, epoch: Number(epoch) })
  const claimer = { worker: 'a worker', target: its, leaseMs: 60_000 }
  expect(await claim(fenced, { most: 2 }, claimer)).toBeUndefined()
  const harness = await start()
  const plan = await harness.control.requestRun({ sync: bed.sync, mode: 'plan' })
  await harness.executor.workOn(bed.sync, plan)
  expect(await harness.getRun(plan)).toMatchObject({ state: 'planned' })
  expect(await harness.getRun(number)).toMatchObject({ state: 'applying', finished_at: null })
  expect(await seen()).toEqual(before)
  const run = await harness.sync()
  expect(run).toMatchObject({ state: 'done', counts: { planned: { 'create-user': 1, 'delete-user': 1 } } })
  const runs = await harness.control.runs({ sync: bed.sync, limit: 10 })
  expect(runs.map(({ mode, state }) => `${mode} ${state}`)).toEqual([
    'sync done',
    'plan planned',
    'sync failed',
    'sync done',
  ])
})

test('after three runs in a row that ended with their process the next one waits, also for the schedule', async () => {
  await syncOnce()
  hire('new')
  const harness = await start()
  const third = await harness.requestRun()
  await beginFenced(bed.opened.store, third)
  const { db } = bed
  await db.updateTable('dirsyncd.runs').set({ interruptions: 2 }).where('run', '=', third).execute()
  for (let turn = 0; turn < 2; turn++) await harness.executor.work(bed.sync, { scheduled: true })
  expect(await harness.getRun(third)).toMatchObject({
    state: 'failed',
    error: expect.stringMatching(
      /for too long, while it was reading, as with the 2 runs before: .* waits 2 minutes$/,
    ),
  })
  const [next, ...others] = await harness.control.runs({ sync: bed.sync, limit: 3 })
  expect(next).toMatchObject({ state: 'waiting' })
  expect(others.map(({ run }) => run)[0]).toBe(third)
  expect((await seen()).users).not.toContain('new')

  await sql`UPDATE dirsyncd.runs SET begin_after = now() WHERE run = ${next!.run}`.execute(db)
  await harness.work()
  expect(await harness.getRun(next!.run)).toMatchObject({ state: 'done', interruptions: 3 })
  expect((await seen()).users).toContain('new')
})
