import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { runExitCode } from '../../src/cli/exit-code.ts'
import { createLocalControl } from '../../src/control/local.ts'
import { DirsyncdError } from '../../src/errors.ts'
import { deleteFingerprint } from '../../src/plan/change.ts'
import type { Part } from '../../src/plan/part/part.ts'
import { noticesOf } from '../../src/store/plans.ts'
import type { RunRecord } from '../../src/store/runs.ts'
import { backendNamed, type OpenBackend } from '../support/backends.ts'
import { emptyDirectoriesFixture, FIXTURE } from '../support/fixture.ts'
import { inLong } from '../support/long.ts'
import { callService, readService } from '../support/read-service.ts'
import { type RunningService, startService } from '../support/service.ts'
import {
  type MutableCompany,
  openSyncHarness,
  type SyncHarness,
  type SyncHarnessOptions,
} from '../support/sync-harness.ts'

let service: RunningService
let opened: OpenBackend
let harness: SyncHarness
let company: MutableCompany
let sync: string
let directoryId: number
let tests = 0

beforeAll(async () => {
  service = await startService({ fixture: emptyDirectoriesFixture(100, 40) })
  opened = await backendNamed('postgres').open()
})
afterAll(async () => {
  await opened?.close()
  await service?.close()
})
beforeEach(() => {
  company = { users: new Map(), groups: new Map() }
  sync = `undo-${tests}`
  directoryId = 100 + tests
  tests += 1
})
afterEach(() => harness[Symbol.asyncDispose]())

async function open(options: Partial<SyncHarnessOptions> = {}): Promise<void> {
  harness = openSyncHarness(opened, {
    sync,
    service: { baseUrl: service.baseUrl, organizationId: 1, directoryId },
    token: () => FIXTURE.token,
    company,
    ...options,
  })
  await harness.startWorker()
}

function hire(...ids: readonly string[]): void {
  for (const id of ids) company.users.set(id, { name: `Person ${id}`, email: `${id}@example.org` })
}

function fire(...ids: readonly string[]): void {
  for (const id of ids) {
    company.users.delete(id)
    for (const [group, { name, members }] of company.groups)
      company.groups.set(group, { name, members: members.filter((member) => member !== id) })
  }
}

const target = () => `${service.baseUrl}/directories/${directoryId}`
const place = () => ({ ...FIXTURE, baseUrl: service.baseUrl, organizationId: 1, directoryId })
const seen = () => readService(place())
const change = (method: string, path: string, form?: Record<string, string>) =>
  callService(place(), method, `/${path}`, form)

function control() {
  const { db } = opened.store
  return createLocalControl({ db, targets: new Map([[sync, target()]]), wake: async () => undefined })
}

/** Undoes a run, and approves what is held of that. */
async function undo({ run }: RunRecord, part: Part = {}): Promise<RunRecord> {
  const undone = await control().undo({ run, part, mode: 'sync', by: 'ana' })
  await harness.executor.work(sync, { scheduled: false })
  return approve(await harness.getRun(undone))
}

async function approve(run: RunRecord): Promise<RunRecord> {
  if (run.state !== 'held') return run
  await control().approve({ run: run.run, by: 'ana' })
  await harness.executor.work(sync, { scheduled: false })
  const [newest] = await control().runs({ sync, limit: 1 })
  return harness.getRun(newest!.run)
}

async function noticed({ run }: RunRecord): Promise<string[]> {
  return (await noticesOf(opened.store.db, run, 1000)).map(({ code, id }) => `${code} ${id}`)
}

test('forty of a thousand people are deleted with their memberships, and come back with them', async () => {
  await open({ maxUserDeletes: 20 })
  const everybody = Array.from({ length: 1000 }, (_, number) => `u${String(number).padStart(4, '0')}`)
  hire(...everybody)
  for (let group = 0; group < 20; group += 1) {
    const members = everybody.filter((_, number) => number % 20 === group || number % 7 === group)
    company.groups.set(`g${group}`, { name: `Group ${group}`, members })
  }
  await harness.sync()
  const before = await seen()
  fire(...everybody.slice(100, 140))
  const deleting = await approve(await harness.sync())
  expect(deleting).toMatchObject({ state: 'done', counts: { outcomes: { applied: 40 } } })
  expect((await seen()).users.size).toBe(960)
  const undone = await undo(deleting)
  expect(undone).toMatchObject({ state: 'done', undo: { run: deleting.run }, hold: null })
  expect(undone.counts?.planned).toMatchObject({ 'create-user': 40 })
  expect(await noticed(undone)).toEqual([])
  expect(await seen()).toEqual(before)
})

test('what others changed since stays, and what they did not touch comes back', async () => {
  await open()
  hire('a', 'b', 'c', 'd', 'e', 'f')
  company.groups.set('g', { name: 'Group', members: ['a', 'b', 'c'] })
  company.groups.set('h', { name: 'House', members: ['a', 'd'] })
  await harness.sync()
  fire('a', 'b')
  hire('new', 'other')
  company.users.set('c', { name: 'Carl', email: 'c@example.org' })
  company.users.set('d', { name: 'Dora', email: 'dora@example.org' })
  company.groups.set('h', { name: 'Home', members: ['d', 'new', 'other'] })
  const changing = await harness.sync()
  // Somebody else works in the directory meanwhile.
  await change('POST', 'users', {
    'users[][external_id]': 'b',
    'users[][name]': 'Another Bea',
    'users[][email]': 'bea@example.org',
  })
  await change('PATCH', 'users/d', { name: 'Dorothea' })
  await change('PATCH', 'users/other', { name: 'Somebody Else' })
  await change('PATCH', 'users/f', { name: 'Frida' })
  const undone = await undo(changing)
  expect(undone).toMatchObject({ state: 'done' })
  const { users, groups } = await seen()
  expect(Object.fromEntries(Array.from(users, ([id, { name }]) => [id, name]))).toEqual({
    a: 'Person a',
    b: 'Another Bea',
    c: 'Person c',
    d: 'Dorothea',
    e: 'Person e',
    f: 'Frida',
    other: 'Somebody Else',
  })
  expect(users.get('d')?.email).toBe('dora@example.org')
  expect(groups.get('g')).toEqual({ name: 'Group', members: ['a', 'c'] })
  expect(groups.get('h')).toEqual({ name: 'House', members: ['a', 'd', 'other'] })
  expect(await noticed(undone)).toEqual(['changed-since b', 'changed-since d', 'changed-since other'])
})

test('the sync is paused until somebody resumes it, and then does it all again', async () => {
  await open()
  hire('a', 'b', 'c')
  await harness.sync()
  fire('a')
  const deleting = await harness.sync()
  await undo(deleting)
  const pause = { sync, by: 'ana', reason: `undo of run ${deleting.run}` }
  expect((await control().paused()).filter((paused) => paused.sync === sync)).toMatchObject([pause])
  await expect(control().requestRun({ sync, mode: 'sync' })).rejects.toThrow(
    /has been paused since .* by ana/,
  )
  await harness.executor.work(sync, { scheduled: true })
  expect((await control().runs({ sync, limit: 1 }))[0]).toMatchObject({ undo: { run: deleting.run } })
  expect([...(await seen()).users.keys()].toSorted()).toEqual(['a', 'b', 'c'])
  await control().resume(sync)
  await harness.executor.work(sync, { scheduled: true })
  expect([...(await seen()).users.keys()].toSorted()).toEqual(['b', 'c'])
})

test('an undo can be undone, with its deletes held', async () => {
  await open()
  hire('a', 'b')
  company.groups.set('g', { name: 'Group', members: ['a', 'b'] })
  await harness.sync()
  fire('a')
  const deleting = await harness.sync()
  const after = await seen()
  const undone = await undo(deleting)
  const again = await control().undo({ run: undone.run, part: {}, mode: 'sync', by: 'ana' })
  await harness.executor.work(sync, { scheduled: false })
  const held = await harness.getRun(again)
  expect(held).toMatchObject({
    state: 'held',
    hold: 'open',
    breaches: [{ guard: 'undo-deletes', changes: 1 }],
  })
  expect((await seen()).users.size).toBe(2)
  expect(await approve(held)).toMatchObject({ state: 'done' })
  expect(await seen()).toEqual(after)
})

test('an undo of a part puts back that part only', async () => {
  await open()
  hire('a', 'b', 'c')
  company.groups.set('g', { name: 'Group', members: ['a', 'b', 'c'] })
  await harness.sync()
  fire('a', 'b')
  hire('d')
  company.users.set('c', { name: 'Carl', email: 'c@example.org' })
  const changing = await harness.sync()
  await undo(changing, { ids: ['a'] })
  const first = await seen()
  expect([...first.users.keys()].toSorted()).toEqual(['a', 'c', 'd'])
  expect(first.groups.get('g')?.members).toEqual(['a', 'c'])
  await undo(changing, { names: ['updates'] })
  expect((await seen()).users.get('c')?.name).toBe('Person c')
  await undo(changing, { names: ['deletes', 'members'] })
  expect([...(await seen()).users.keys()].toSorted()).toEqual(['a', 'b', 'c', 'd'])
  await undo(changing)
  expect([...(await seen()).users.keys()].toSorted()).toEqual(['a', 'b', 'c'])
})

test('e-mails that changed hands change back', async () => {
  await open()
  hire('a', 'b', 'c')
  await harness.sync()
  const before = await seen()
  company.users.delete('c')
  company.users.set('a', { name: 'Person a', email: 'b@example.org' })
  company.users.set('b', { name: 'Person b', email: 'c@example.org' })
  hire('d')
  company.users.set('d', { name: 'Person c', email: 'a@example.org' })
  const changing = await harness.sync()
  expect(changing).toMatchObject({ state: 'done' })
  expect((await undo(changing)).state).toBe('done')
  const after = await seen()
  expect(Object.fromEntries(after.users)).toEqual(Object.fromEntries(before.users))
})

test('what cannot be undone is refused with a sentence', async () => {
  await open()
  hire('a')
  const first = await harness.sync()
  const second = await harness.sync()
  const plan = await harness.sync({ mode: 'plan' })
  const ask = async (run: number) => {
    const asked = control().undo({ run, part: {}, mode: 'sync', by: 'ana' })
    return asked.then(
      () => 'nothing',
      (error: unknown) => (error instanceof DirsyncdError ? error.message : String(error)),
    )
  }
  expect(await ask(987654)).toBe(
    'There is no run 987654, or its history is not kept any more; see `dirsyncd runs`.',
  )
  expect(await ask(second.run)).toBe(`Run ${second.run} changed nothing, so there is nothing to undo.`)
  expect(await ask(plan.run)).toBe(`Run ${plan.run} changed nothing, so there is nothing to undo.`)
  await opened.store.db.deleteFrom('dirsyncd.changes').where('run', '=', first.run).execute()
  expect(await ask(first.run)).toContain('of its 1 change only 0 changes are kept')
  expect(await control().paused()).not.toContainEqual(expect.objectContaining({ sync }))
})

test('a run of many updates is undone', async () => {
  await open()
  const everybody = Array.from({ length: inLong(400, 5000) }, (_, number) => `u${number}`)
  hire(...everybody)
  await harness.sync()
  const before = await seen()
  for (const id of everybody)
    company.users.set(id, { name: `Nobody ${id}`, email: `wrong-${id}@example.org` })
  const wrong = await harness.sync()
  expect(wrong).toMatchObject({ state: 'done', counts: { outcomes: { applied: everybody.length } } })
  await change('PATCH', 'users/u7', { name: 'Mended by hand' })
  const undone = await undo(wrong)
  expect(undone).toMatchObject({ state: 'done', counts: { outcomes: { applied: everybody.length - 1 } } })
  const after = await seen()
  expect(after.users.get('u7')).toEqual({ name: 'Mended by hand', email: 'wrong-u7@example.org' })
  expect(await noticed(undone)).toEqual(['changed-since u7'])
  const others = (content: typeof before) =>
    Object.fromEntries([...content.users].filter(([id]) => id !== 'u7'))
  expect(others(after)).toEqual(others(before))
})

test('who is deleted and comes back again and again is deleted all the same when the sync runs', async () => {
  await open()
  hire('a', 'b')
  await harness.sync()
  fire('a')
  for (let round = 0; round < 3; round += 1) {
    const deleting = await harness.sync()
    expect(deleting).toMatchObject({ state: 'done', counts: { outcomes: { applied: 1 } } })
    await undo(deleting)
    expect([...(await seen()).users.keys()].toSorted()).toEqual(['a', 'b'])
    await control().resume(sync)
  }
})

test('a run that waits does not begin while the sync is paused, and one that is asked for meanwhile waits', async () => {
  await open()
  hire('a')
  const early = await harness.requestRun()
  await control().pause({ sync, by: 'ana' })
  expect(await harness.getRun(early)).toMatchObject({
    state: 'failed',
    error: 'ana paused the sync before this run began',
  })
  const late = await harness.requestRun()
  await harness.executor.work(sync, { scheduled: false })
  expect(await harness.getRun(late)).toMatchObject({ state: 'waiting' })
  expect(await harness.sync({ mode: 'plan' })).toMatchObject({ state: 'planned' })
  expect((await seen()).users.size).toBe(0)
  await control().resume(sync)
  await harness.executor.work(sync, { scheduled: false })
  expect(await harness.getRun(late)).toMatchObject({ state: 'done' })
})

test('an old approval of a delete by the sync does not let an undo delete', async () => {
  await open({ maxUserDeletes: 0 })
  hire('a', 'b')
  await harness.sync()
  fire('a')
  await approve(await harness.sync())
  hire('a')
  const creating = await harness.sync()
  const { db } = opened.store
  const decided = {
    sync,
    target: target(),
    decision: 'approved' as const,
    run: creating.run,
    decided_by: 'ana',
  }
  await db
    .insertInto('dirsyncd.decisions')
    .values({ ...decided, fingerprint: deleteFingerprint('user', 'a') })
    .execute()
  const undone = await control().undo({ run: creating.run, part: {}, mode: 'sync', by: 'ana' })
  await harness.executor.work(sync, { scheduled: false })
  expect(await harness.getRun(undone)).toMatchObject({ state: 'held' })
  expect((await seen()).users.has('a')).toBe(true)
})

test('what a person left out of an approval stays held beside the hold of an undo', async () => {
  await open({ maxUserDeletes: 1 })
  hire('a', 'b', 'c', 'd', 'e')
  await harness.sync()
  hire('new')
  const creating = await harness.sync()
  fire('a', 'b')
  const held = await harness.sync()
  await control().approve({ run: held.run, by: 'ana', part: { ids: ['a'] } })
  await harness.executor.work(sync, { scheduled: false })
  await control().undo({ run: creating.run, part: {}, mode: 'sync', by: 'ana' })
  await harness.executor.work(sync, { scheduled: false })
  await control().resume(sync)
  expect(await harness.sync()).toMatchObject({ state: 'held', breaches: [{ guard: 'left-out', changes: 1 }] })
  expect((await seen()).users.has('b')).toBe(true)
})

test('an undo that is approved after the resumption of its sync pauses it again', async () => {
  await open()
  hire('a')
  await harness.sync()
  hire('b')
  const creating = await harness.sync()
  const undone = await control().undo({ run: creating.run, part: {}, mode: 'sync', by: 'ana' })
  await harness.executor.work(sync, { scheduled: false })
  await control().resume(sync)
  expect(await approve(await harness.getRun(undone))).toMatchObject({ state: 'done' })
  expect((await control().paused()).map((pause) => pause.sync)).toContain(sync)
})

test('an undo of nobody is refused and pauses nothing', async () => {
  await open()
  hire('a')
  const { run } = await harness.sync()
  const asked = control().undo({ run, part: { ids: ['nobody'] }, mode: 'sync', by: 'ana' })
  await expect(asked).rejects.toThrow(`Run ${run} has no such change; dirsyncd runs ${run} --all shows them.`)
  expect((await control().paused()).map((pause) => pause.sync)).not.toContain(sync)
})

test('somebody whose e-mail was given away comes back without it, and gets it with the rest of the undo', async () => {
  await open()
  hire('a', 'b')
  await harness.sync()
  const before = await seen()
  fire('a')
  company.users.set('b', { name: 'Person b', email: 'a@example.org' })
  const changing = await harness.sync()
  const part = await undo(changing, { ids: ['a'] })
  expect(runExitCode(part)).toBe(4)
  expect((await seen()).users.get('a')).toEqual({ name: 'Person a', email: null })
  await undo(changing)
  await undo(changing)
  expect(Object.fromEntries((await seen()).users)).toEqual(Object.fromEntries(before.users))
})
