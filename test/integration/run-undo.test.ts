import { noticeText } from '../../src/ui/messages/notices.ts'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { DirsyncdError } from '../../src/base/errors.ts'
import type { Part } from '../../src/core/plan/part/part.ts'
import { noticesOf } from '../../src/store/plans.ts'
import type { RunRecord } from '../../src/store/runs.ts'
import type { SyncHarness, SyncHarnessOptions } from '../support/sync-harness.ts'
import { useTestBed } from '../support/test-bed.ts'

const bed = useTestBed('undo')
const { company, hire, fire, seen, call } = bed

let harness: SyncHarness

async function open(options: Partial<SyncHarnessOptions> = {}): Promise<void> {
  harness = await bed.openWithWorker(options)
}

async function noticed({ run }: RunRecord): Promise<string[]> {
  return (await noticesOf(bed.db, run, 1000)).map(({ code, id }) => `${code} ${id}`)
}

const MANY = 80

test('forty users of eighty are deleted with their memberships, and come back with them', async () => {
  await open({ maxUserDeletes: 20 })
  const everybody = Array.from({ length: MANY }, (_, number) => `u${String(number).padStart(4, '0')}`)
  hire(...everybody)
  for (let group = 0; group < 5; group += 1) {
    const members = everybody.filter((_, number) => number % 5 === group || number % 7 === group)
    company.groups.set(`g${group}`, { name: `Group ${group}`, members })
  }
  await harness.sync()
  const before = await seen()
  fire(...everybody.slice(20, 60))
  const deleting = await harness.approve((await harness.sync()).run)
  expect(deleting).toMatchObject({ state: 'done', counts: { outcomes: { applied: 40 } } })
  expect((await seen()).users.size).toBe(MANY - 40)
  const undone = await harness.undo(deleting.run)
  expect(undone).toMatchObject({ state: 'done', undo: { run: deleting.run } })
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
  await call('POST', '/users', {
    'users[][external_id]': 'b',
    'users[][name]': 'Another Bea',
    'users[][email]': 'bea@example.org',
  })
  await call('PATCH', '/users/d', { name: 'Dorothea' })
  await call('PATCH', '/users/other', { name: 'Somebody Else' })
  await call('PATCH', '/users/f', { name: 'Frida' })
  const undone = await harness.undo(changing.run)
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

test('the sync is paused until it is resumed, and then makes the changes again', async () => {
  await open()
  hire('a', 'b', 'c')
  await harness.sync()
  fire('a')
  const deleting = await harness.sync()
  await harness.undo(deleting.run)
  const pause = { sync: bed.sync, by: 'ana', reason: `undo of run ${deleting.run}` }
  expect((await harness.control.paused()).filter((paused) => paused.sync === bed.sync)).toMatchObject([pause])
  await expect(harness.control.requestRun({ sync: bed.sync, mode: 'sync' })).rejects.toThrow(
    /has been paused since .* by ana/,
  )
  await harness.executor.work(bed.sync, { scheduled: true })
  expect((await harness.control.runs({ sync: bed.sync, limit: 1 }))[0]).toMatchObject({
    undo: { run: deleting.run },
  })
  expect([...(await seen()).users.keys()].toSorted()).toEqual(['a', 'b', 'c'])
  await harness.control.resume({ sync: bed.sync, by: 'ana' })
  await harness.executor.work(bed.sync, { scheduled: true })
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
  const undone = await harness.undo(deleting.run)
  const again = await harness.control.undo({ run: undone.run, part: {}, mode: 'sync', by: 'ana' })
  await harness.work()
  const held = await harness.getRun(again)
  expect(held).toMatchObject({
    state: 'held',
    blocks: [{ code: 'undo-deletes', changes: 1 }],
  })
  expect(await harness.blocked(held)).toEqual(['delete-user a undo-deletes'])
  expect((await seen()).users.size).toBe(2)
  expect(await harness.approve(held.run)).toMatchObject({ state: 'done' })
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
  await harness.undo(changing.run, { ids: ['a'] })
  const first = await seen()
  expect([...first.users.keys()].toSorted()).toEqual(['a', 'c', 'd'])
  expect(first.groups.get('g')?.members).toEqual(['a', 'c'])
  await harness.undo(changing.run, { names: ['updates'] })
  expect((await seen()).users.get('c')?.name).toBe('Person c')
  await harness.undo(changing.run, { names: ['deletes', 'members'] })
  expect([...(await seen()).users.keys()].toSorted()).toEqual(['a', 'b', 'c', 'd'])
  await harness.undo(changing.run)
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
  expect((await harness.undo(changing.run)).state).toBe('done')
  const after = await seen()
  expect(Object.fromEntries(after.users)).toEqual(Object.fromEntries(before.users))
})

test('what cannot be undone is refused with a sentence', async () => {
  await open()
  hire('a')
  const first = await harness.sync()
  const second = await harness.sync()
  const plan = await harness.sync({ mode: 'plan' })
  const ask = async (run: number, part: Part = {}) => {
    const asked = harness.control.undo({ run, part, mode: 'sync', by: 'ana' })
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
  expect(await ask(first.run, { ids: ['nobody'] })).toBe(
    `Run ${first.run} has no such change; dirsyncd runs ${first.run} --all shows them.`,
  )
  await bed.db.deleteFrom('dirsyncd.changes').where('run', '=', first.run).execute()
  expect(await ask(first.run)).toContain('of its 1 change only 0 changes are kept')
  expect(await harness.control.paused()).not.toContainEqual(expect.objectContaining({ sync: bed.sync }))
})

test('a run that waits does not begin while the sync is paused, and one that is asked for meanwhile waits', async () => {
  await open()
  hire('a')
  const early = await harness.requestRun()
  await harness.control.pause({ sync: bed.sync, by: 'ana' })
  expect(await harness.getRun(early)).toMatchObject({
    state: 'failed',
    error: 'ana paused the sync before this run began',
    error_code: 'sync-paused',
  })
  const first = await harness.control.paused()
  await harness.control.pause({ sync: bed.sync, by: 'bob', reason: 'a move' })
  expect(await harness.control.paused()).toEqual(first)
  const late = await harness.requestRun()
  await harness.work()
  expect(await harness.getRun(late)).toMatchObject({ state: 'waiting' })
  expect(await harness.sync({ mode: 'plan' })).toMatchObject({ state: 'planned' })
  expect((await seen()).users.size).toBe(0)
  await harness.control.resume({ sync: bed.sync, by: 'ana' })
  await harness.work()
  expect(await harness.getRun(late)).toMatchObject({ state: 'done' })
})

test('an approval of a delete by the sync does not let an undo delete', async () => {
  await open({ maxUserDeletes: 0 })
  hire('a', 'b')
  const creating = await harness.sync()
  fire('a')
  const held = await harness.sync()
  await harness.control.pause({ sync: bed.sync, by: 'ana' })
  await harness.control.approve({ run: held.run, by: 'ana' })
  const undone = await harness.control.undo({ run: creating.run, part: {}, mode: 'sync', by: 'ana' })
  await harness.work()
  expect(await harness.getRun(undone)).toMatchObject({ state: 'held' })
  expect((await seen()).users.has('a')).toBe(true)
})

test('what the run did is put back although each answer was lost', async () => {
  await open()
  hire('a', 'b', 'c')
  company.groups.set('g', { name: 'Group', members: ['a', 'b'] })
  company.groups.set('h', { name: 'House', members: ['c'] })
  await harness.sync()
  const before = await seen()
  fire('a')
  hire('new')
  company.users.set('b', { name: 'Person b', email: 'bea@example.org' })
  company.groups.set('g', { name: 'Gang', members: ['b', 'c'] })
  company.groups.delete('h')
  company.groups.set('i', { name: 'Inn', members: ['c'] })
  bed.proxy.intercept = ({ method }) => (method === 'GET' ? undefined : { afterwards: 'cut' })
  const changing = await harness.sync()
  expect(changing.counts?.outcomes?.applied ?? 0).toBe(0)
  bed.proxy.intercept = () => undefined
  const undone = await harness.undo(changing.run)
  expect(await noticed(undone)).toEqual([])
  expect(await seen()).toEqual(before)
})

test('the undo of a create does not delete a user who was there before it', async () => {
  await open()
  hire('a', 'b')
  company.groups.set('g', { name: 'Group', members: ['a', 'b'] })
  await harness.sync()
  hire('new')
  const made = { 'users[][external_id]': 'new', 'users[][name]': 'Made before' }
  bed.proxy.intercept = async ({ method, url }) => {
    if (method !== 'POST' || !url.includes('/users')) return
    bed.proxy.intercept = () => undefined
    await call('POST', '/users', { ...made, 'users[][email]': 'before@example.org' })
  }
  const changing = await harness.sync()
  expect((await seen()).users.get('new')).toEqual({ name: 'Person new', email: 'new@example.org' })
  const undone = await harness.undo(changing.run)
  expect(await noticed(undone)).toEqual(['not-restored new'])
  expect((await seen()).users.has('new')).toBe(true)
})

test('the undo of the first run does not delete users who were created again since', async () => {
  await open()
  hire('a', 'b', 'c')
  const first = await harness.sync()
  fire('a', 'b')
  const deleting = await harness.sync()
  hire('a')
  const again = await harness.sync()
  await call('POST', '/users', {
    'users[][external_id]': 'b',
    'users[][name]': 'Person b',
    'users[][email]': 'b@example.org',
  })
  const undone = await harness.undo(first.run)
  const details = (await noticesOf(bed.db, undone.run, 10)).map(
    (notice) => `${notice.id}: ${noticeText(notice)}`,
  )
  expect(details).toEqual([
    `a: run ${again.run} created it since: left as it is; dirsyncd undo ${again.run} is about it`,
    `b: is there again after run ${deleting.run} deleted it: left as it is`,
  ])
  expect([...(await seen()).users.keys()].toSorted()).toEqual(['a', 'b'])
})

test('what was asked stays asked beside an undo', async () => {
  await open({ maxUserDeletes: 1 })
  hire('a', 'b', 'c', 'd', 'e')
  await harness.sync()
  hire('new')
  const creating = await harness.sync()
  fire('a', 'b')
  const held = await harness.sync()
  await harness.approve(held.run, { ids: ['a'] })
  await harness.control.undo({ run: creating.run, part: {}, mode: 'sync', by: 'ana' })
  await harness.work()
  await harness.control.resume({ sync: bed.sync, by: 'ana' })
  const next = await harness.sync()
  expect([next.state, await harness.blocked(next)]).toEqual(['done', ['delete-user b asked']])
  expect((await seen()).users.has('b')).toBe(true)
})

test('a rejected undo is not done, also where it is asked for again', async () => {
  await open()
  hire('a')
  const creating = await harness.sync()
  const again = async () => {
    const run = await harness.control.undo({ run: creating.run, part: {}, mode: 'sync', by: 'ana' })
    await harness.work()
    return harness.getRun(run)
  }
  const first = await again()
  const second = await again()
  expect([await harness.exitCode(first), await harness.exitCode(second)]).toEqual([3, 3])
  await harness.control.reject({ run: first.run, by: 'ana' })
  const third = await again()
  expect([third.state, await harness.blocked(third)]).toEqual(['done', ['delete-user a rejected']])
  // Held, and nothing is asked any more.
  expect(await harness.exitCode(second)).toBe(4)
  expect((await seen()).users.has('a')).toBe(true)
})

test('a user whose delete may have been sent by a process that died is deleted by the undo all the same', async () => {
  await open()
  hire('a')
  const creating = await harness.sync()
  await sql`INSERT INTO dirsyncd.journal (run, number, sync, target, op, entry_id, fingerprint, attempt, worker, removes,
    intent_at, outcome)
  SELECT run + 1, 1, sync, target, 'delete-user', entry_id, 'of a delete', 1, 'dead', 1,
    intent_at + interval '1 ms', 'unknown' FROM dirsyncd.journal WHERE run = ${creating.run}`.execute(bed.db)
  const undone = await harness.undo(creating.run)
  expect(await noticed(undone)).toEqual([])
  expect((await seen()).users.size).toBe(0)
})

test('of an undo that asks, one delete is approved alone', async () => {
  await open()
  hire('a')
  await harness.sync()
  hire('new', 'other')
  company.users.set('a', { name: 'Ana', email: 'a@example.org' })
  const changing = await harness.sync()
  const undoing = await harness.control.undo({ run: changing.run, part: {}, mode: 'sync', by: 'ana' })
  await harness.work()
  expect(await harness.getRun(undoing)).toMatchObject({
    state: 'held',
    counts: { asking: { 'delete-user': 2 } },
  })
  await harness.approve(undoing, { ids: ['new'] })
  const { users } = await seen()
  expect([...users.keys()].toSorted()).toEqual(['a', 'other'])
  expect(users.get('a')).toEqual({ name: 'Ana', email: 'a@example.org' })
  const rest = await harness.approve(undoing)
  expect([rest.state, await harness.exitCode(rest), await noticed(rest)]).toEqual(['done', 0, []])
  expect(Object.fromEntries((await seen()).users)).toEqual({
    a: { name: 'Person a', email: 'a@example.org' },
  })
})

test('an approval of one reason of a dry undo leaves the other to be decided', async () => {
  await open({ maxUserDeletes: 0 })
  hire('a')
  await harness.sync()
  hire('new')
  const changing = await harness.sync()
  const dry = await harness.control.undo({ run: changing.run, part: {}, mode: 'plan', by: 'ana' })
  await harness.work()
  const run = await harness.approve(dry, { isAll: undefined, code: 'undo-deletes' })
  expect([run.state, (await seen()).users.size]).toEqual(['held', 2])
  expect(await harness.blocked(run)).toEqual(['delete-user new asked max-deletes-users'])
  await harness.approve(run.run)
  expect([...(await seen()).users.keys()]).toEqual(['a'])
})

test('the number of a dry undo approves it', async () => {
  await open()
  hire('a')
  await harness.sync()
  hire('new')
  const changing = await harness.sync()
  const dry = await harness.control.undo({ run: changing.run, part: {}, mode: 'plan', by: 'ana' })
  await harness.work()
  expect(await harness.getRun(dry)).toMatchObject({
    state: 'planned',
    counts: { asking: { 'delete-user': 1 } },
  })
  expect(await harness.approve(dry)).toMatchObject({ state: 'done' })
  expect([...(await seen()).users.keys()]).toEqual(['a'])
})

test('users and groups whose members others changed are not deleted where the sync reads no members', async () => {
  await open({ rules: { membership: 'off' } })
  hire('a', 'b')
  company.groups.set('g', { name: 'Group', members: [] })
  company.groups.set('h', { name: 'House', members: [] })
  const creating = await harness.sync()
  await call('POST', '/groups', {
    'groups[][name]': 'Theirs',
    'groups[][external_id]': 'theirs',
    'groups[][external_member_ids][]': 'a',
  })
  await call('PATCH', '/groups/g', { name: 'Group', 'external_member_ids[]': 'b' })
  const undone = await harness.undo(creating.run)
  expect(await noticed(undone)).toEqual(['changed-since a', 'changed-since b', 'changed-since g'])
  const { users, groups } = await seen()
  expect([...users.keys()].toSorted()).toEqual(['a', 'b'])
  expect([...groups.keys()].toSorted()).toEqual(['g', 'theirs'])
})

test('an undo that is approved after its sync was resumed pauses it again', async () => {
  await open()
  hire('a')
  await harness.sync()
  hire('b')
  const creating = await harness.sync()
  const undoing = await harness.control.undo({ run: creating.run, part: {}, mode: 'sync', by: 'ana' })
  await harness.work()
  await harness.control.resume({ sync: bed.sync, by: 'ana' })
  expect(await harness.approve(undoing)).toMatchObject({ state: 'done' })
  expect((await harness.control.paused()).map(({ sync }) => sync)).toContain(bed.sync)
})

test('an approval of an undo makes nothing that its run did not show', async () => {
  await open()
  hire('a', 'x')
  await harness.sync()
  fire('x')
  hire('new')
  const { run } = await harness.sync()
  await harness.undo(run, { ids: ['x'] })
  const undoing = await harness.control.undo({ run, part: {}, mode: 'sync', by: 'ana' })
  await harness.work()
  await harness.control.resume({ sync: bed.sync, by: 'ana' })
  await harness.sync()
  await harness.approve(undoing)
  expect([...(await seen()).users.keys()]).toEqual(['a'])
})

test('a delete that is undone again and again is made again all the same', async () => {
  await open()
  hire('a', 'b')
  await harness.sync()
  fire('a')
  for (let round = 0; round < 3; round += 1) {
    const deleting = await harness.sync()
    expect(deleting).toMatchObject({ state: 'done', counts: { outcomes: { applied: 1 } } })
    await harness.undo(deleting.run)
    expect([...(await seen()).users.keys()].toSorted()).toEqual(['a', 'b'])
    await harness.control.resume({ sync: bed.sync, by: 'ana' })
  }
})

test('a user whose e-mail was given away comes back without it, and gets it with the rest of the undo', async () => {
  await open()
  hire('a', 'b')
  await harness.sync()
  const { users: before } = await seen()
  fire('a')
  company.users.set('b', { name: 'Person b', email: 'a@example.org' })
  const { run } = await harness.sync()
  expect(await harness.exitCode(harness.undo(run, { ids: ['a'] }))).toBe(4)
  expect((await seen()).users.get('a')).toEqual({ name: 'Person a', email: null })
  await harness.undo(run)
  await harness.undo(run)
  expect(Object.fromEntries((await seen()).users)).toEqual(Object.fromEntries(before))
})

test('an undo says what becomes of an e-mail that changed hands, and of an id that another user got', async () => {
  await open()
  hire('a', 'b')
  company.users.set('c', { name: 'Ana Novak', email: 'ana@example.org' })
  await harness.sync()
  company.users.set('a', { name: 'Person a', email: 'b@example.org' })
  company.users.set('b', { name: 'Person b', email: 'a@example.org' })
  company.users.set('c', { name: 'Carl Maier', email: 'carl@example.org' })
  const { run } = await harness.sync()
  const said = async (part: Part) => {
    const undone = await harness.undo(run, part)
    return (await noticesOf(bed.db, undone.run, 10)).map(
      (notice) => `${notice.code} ${notice.id}: ${noticeText(notice)}`,
    )
  }
  const kept = '"b" has the e-mail a@example.org in the directory and keeps it'
  expect(await said({ ids: ['a'] })).toEqual([
    `duplicate-email a: ${kept}; run ${run} gave it that e-mail: undo both together`,
  ])
  const isGivenBack = /only once and refuses this, give them their e-mails back in the service$/
  expect(await said({})).toEqual([
    expect.stringMatching(isGivenBack),
    expect.stringMatching(isGivenBack),
    `id-moved c: was Carl Maier <carl@example.org> and becomes Ana Novak <ana@example.org> again, as before run ${run}`,
  ])
})
