import { noticeText } from '../../src/ui/messages/notices.ts'
import { beforeEach, expect, test } from 'vitest'
import type { SourceSnapshot } from '../../src/core/entries/snapshot.ts'
import { decisionsOf } from '../../src/store/decisions.ts'
import { noticesOf } from '../../src/store/plans.ts'
import type { RunRecord } from '../../src/store/runs.ts'
import type { SyncHarness } from '../support/sync-harness.ts'
import { useTestBed } from '../support/test-bed.ts'

const bed = useTestBed('decisions')
const { company, hire, fire, seen } = bed

let harness: SyncHarness
/** What a read of the source shows. */
let asRead: (snapshot: SourceSnapshot) => SourceSnapshot
let onRead: () => Promise<void>

beforeEach(async () => {
  asRead = (snapshot) => snapshot
  onRead = async () => undefined
  hire('a', 'b', 'c', 'd', 'e', 'f')
  company.groups.set('g', { name: 'Group', members: ['a', 'b', 'c', 'd', 'e', 'f'] })
  harness = await bed.openWithWorker({
    maxUserDeletes: 1,
    asRead: (snapshot) => asRead(snapshot),
    onRead: () => onRead(),
  })
  expect(await harness.sync()).toMatchObject({ state: 'done' })
})

const there = async () => [...(await seen()).users.keys()].toSorted().join('')

/** Of which users a run says this. */
async function noticed({ run }: RunRecord, code: string): Promise<string[]> {
  const notices = await noticesOf(bed.db, run, 1000)
  return notices.flatMap(({ kind, id, code: said }) => (kind === 'user' && said === code ? [id ?? ''] : []))
}

async function noticedOfGroups({ run }: RunRecord, code: string): Promise<string[]> {
  const notices = await noticesOf(bed.db, run, 1000)
  return notices.flatMap((notice) =>
    notice.kind === 'group' && notice.code === code ? [noticeText(notice)] : [],
  )
}

/** Rejects what somebody left out who approved only the deletes of b and c. */
async function rejectTheRest(): Promise<void> {
  const held = await harness.sync()
  await harness.control.approve({ run: held.run, by: 'ana', part: { ids: ['b', 'c'], kinds: ['user'] } })
  await harness.work()
  await harness.control.reject({ run: (await harness.newestRun()).run, by: 'ana' })
  await harness.sync()
}

const members = async () => (await seen()).groups.get('g')?.members.join('')

const nameOf = async (id: string) => (await seen()).users.get(id)?.name

/** Rejects the new names of a and d, which nobody left out but with the deletes of b and c. */
async function rejectNames(): Promise<void> {
  for (const id of ['a', 'd']) company.users.set(id, { name: `Renamed ${id}`, email: `${id}@example.org` })
  fire('b', 'c')
  await rejectTheRest()
  expect([await nameOf('a'), await nameOf('d')]).toEqual(['Person a', 'Person d'])
}

/** A whole plan with a new name and a new e-mail of a is rejected. Returns the run. */
async function rejectBoth(name: string, email: string): Promise<number> {
  company.users.set('a', { name, email })
  fire('b', 'c')
  await rejectTheRest()
  const { rejected } = await decisionsOf(bed.db, { sync: bed.sync, target: bed.target, isUndo: false })
  return [...rejected.values()][0]!.run
}

/** The service does two deletes, and then knows the token no more. */
function failAfterTwo(): void {
  let deletes = 0
  bed.proxy.intercept = ({ method }) => {
    if (method !== 'DELETE') return undefined
    deletes += 1
    return deletes > 2 ? { status: 401, answer: { title: 'Unauthorized' } } : undefined
  }
}

test('a rejection outlives a read with an unreadable entry', async () => {
  fire('a', 'b', 'c')
  company.groups.set('g', { name: 'Group', members: [] })
  const held = await harness.sync()
  await harness.control.reject({ run: held.run, by: 'ana' })
  expect(await noticed(await harness.sync(), 'rejected')).toEqual(['a', 'b', 'c'])
  asRead = (snapshot) => ({ ...snapshot, unreadable: 1 })
  expect(await noticed(await harness.sync(), 'kept-unproved')).toEqual(['a', 'b', 'c'])
  asRead = (snapshot) => snapshot
  hire('b', 'c')
  expect(await noticed(await harness.sync(), 'rejected')).toEqual(['a'])
  expect(await there()).toBe('abcdef')
})

test('a member whose removal was rejected stays, whichever other members come or go', async () => {
  fire('b', 'c')
  company.groups.set('g', { name: 'Group', members: ['f'] })
  await rejectTheRest()
  expect(await members()).toBe('adef')
  hire('new')
  company.groups.set('g', { name: 'Group', members: ['e', 'f', 'new'] })
  const added = await harness.sync()
  expect([added.state, await members()]).toEqual(['done', 'adefnew'])
  expect(await noticedOfGroups(added, 'rejected')).toEqual([
    expect.stringMatching(/^"Group": 0 members not added, 2 not removed: rejected by ana/),
  ])
  company.groups.set('g', { name: 'Group', members: ['new'] })
  await harness.sync()
  // Two others leave, which nobody has rejected: one of them was wanted again in between.
  expect(await members()).toBe('adnew')
})

test('a member whose addition was rejected stays out until an approval of the group', async () => {
  fire('b', 'c')
  hire('x', 'y')
  const held = await harness.sync()
  await harness.control.approve({ run: held.run, by: 'ana', part: { names: ['creates'] } })
  await harness.work()
  await harness.approve((await harness.newestRun()).run)
  fire('d', 'e')
  company.groups.set('g', { name: 'Group', members: ['a', 'f', 'x', 'y'] })
  const again = await harness.sync()
  await harness.control.approve({ run: again.run, by: 'ana', part: { ids: ['d', 'e'], kinds: ['user'] } })
  await harness.work()
  const { run } = await harness.newestRun()
  await harness.control.reject({ run, by: 'ana' })
  company.groups.set('g', { name: 'Group', members: ['a', 'x', 'y'] })
  await harness.sync()
  expect(await members()).toBe('a')
  company.groups.set('g', { name: 'Group', members: ['a', 'f', 'x', 'y'] })
  await harness.sync()
  const approved = await harness.approve(run, { part: { ids: ['g'] } }).then(() => 'approved', String)
  expect([approved, await members()]).toEqual(['approved', 'afxy'])
})

test('a rejected name stays away when the e-mail changes too, and the e-mail is written', async () => {
  await rejectNames()
  company.users.set('a', { name: 'Renamed a', email: 'new@example.org' })
  const run = await harness.sync()
  expect(run.state).toBe('done')
  expect((await seen()).users.get('a')).toEqual({ name: 'Person a', email: 'new@example.org' })
  const said = (await noticesOf(bed.db, run.run, 1000)).filter(({ code }) => code === 'rejected')
  expect(said.map(noticeText)).toEqual([
    expect.stringMatching(/^Person a <a@example.org>: name not updated: rejected by ana/),
    expect.stringMatching(/^Person d <d@example.org>: name not updated: rejected by ana/),
  ])
  company.users.set('a', { name: 'Another name', email: 'new@example.org' })
  await harness.sync()
  expect(await nameOf('a')).toBe('Another name')
})

test('a rejected e-mail moves to no other user, whatever else of both changes', async () => {
  const swapped = { a: 'd@example.org', d: 'a@example.org' }
  for (const [id, email] of Object.entries(swapped)) company.users.set(id, { name: `Person ${id}`, email })
  fire('b', 'c')
  await rejectTheRest()
  for (const [id, email] of Object.entries(swapped)) company.users.set(id, { name: `Renamed ${id}`, email })
  const { state } = await harness.sync()
  const { users } = await seen()
  expect(state).toBe('done')
  expect(users.get('a')).toEqual({ name: 'Renamed a', email: 'a@example.org' })
  expect(users.get('d')).toEqual({ name: 'Renamed d', email: 'd@example.org' })
})

test('an approval of a rejected change covers what is left of it when the rest has changed', async () => {
  const run = await rejectBoth('Renamed a', 'new@example.org')
  company.users.set('a', { name: 'Renamed a', email: 'other@example.org' })
  await harness.sync()
  expect((await seen()).users.get('a')).toEqual({ name: 'Person a', email: 'other@example.org' })
  await harness.approve(run, { part: { ids: ['a'] } })
  expect(await nameOf('a')).toBe('Renamed a')
  const { run: last } = await harness.newestRun()
  const rows = bed.db.selectFrom('dirsyncd.changes').select(['entry_id', 'approved']).where('run', '=', last)
  expect(await rows.execute()).toEqual([{ entry_id: 'a', approved: true }])
})

test('the approval of an old hold does not overrule what was rejected in a newer one', async () => {
  const run = await rejectBoth('Renamed a', 'new@example.org')
  company.users.set('a', { name: 'Person a', email: 'new@example.org' })
  await harness.sync()
  company.users.set('a', { name: 'Renamed a', email: 'new@example.org' })
  fire('d', 'e')
  const held = await harness.sync()
  await harness.control.approve({ run: held.run, by: 'ana', part: { ids: ['d', 'e'], kinds: ['user'] } })
  await harness.work()
  const newer = await harness.newestRun()
  await harness.control.reject({ run: newer.run, by: 'eve' })
  await harness.sync()
  await harness.approve(run, { part: { ids: ['a'] } })
  await harness.sync()
  const { users } = await seen()
  expect(users.get('a')).toEqual({ name: 'Person a', email: 'new@example.org' })
  await harness.approve(newer.run, { part: { ids: ['a'] } })
  expect(await nameOf('a')).toBe('Renamed a')
})

test('an approval is used once: the delete of a user who is there again is held anew', async () => {
  fire('a', 'b', 'c', 'd')
  const held = await harness.sync()
  await harness.control.approve({ run: held.run, by: 'ana', part: { ids: ['a', 'b'] } })
  await harness.work()
  const rest = await harness.newestRun()
  for (const id of ['a', 'b'])
    await bed.call('POST', '/users', { 'users[][external_id]': id, 'users[][name]': 'By hand' })
  const again = await harness.sync()
  expect(again).toMatchObject({ state: 'held', hold: 'open', hold_run: again.run })
  expect(await harness.control.run(again.run)).toMatchObject({ undecidedChanges: 4 })
  await expect(harness.control.approve({ run: rest.run, by: 'ana' })).rejects.toThrow('no open hold')
  expect(await there()).toBe('abcdef')
})

test('an approval is used once: a change that was undone is held anew', async () => {
  fire('a', 'b', 'c', 'd')
  const held = await harness.sync()
  await harness.control.approve({ run: held.run, by: 'ana', part: { ids: ['a', 'b'] } })
  await harness.work()
  const rest = await harness.newestRun()
  expect([rest.state, await there()]).toEqual(['held', 'cdef'])
  await harness.undo(rest.run - 1)
  await harness.control.resume({ sync: bed.sync, by: 'ana' })
  const again = await harness.sync()
  expect(again).toMatchObject({ state: 'held', hold: 'open', hold_run: again.run })
  const view = (await harness.control.run(again.run))!
  expect(view).toMatchObject({ undecidedChanges: 4 })
  await expect(harness.control.approve({ run: rest.run, by: 'ana' })).rejects.toThrow('no open hold')
  expect(await there()).toBe('abcdef')
})

test('an undo takes back what was approved for the run, also what of that was not done', async () => {
  fire('a', 'b', 'c', 'd', 'e')
  const held = await harness.sync()
  failAfterTwo()
  const broken = await harness.approve(held.run)
  expect(broken).toMatchObject({ state: 'failed' })
  bed.proxy.intercept = () => undefined
  const left = await there()
  await harness.undo(broken.run)
  expect([left.length, await there()]).toEqual([4, 'abcdef'])
  hire(...['a', 'b', 'c', 'd', 'e'].filter((id) => !left.includes(id)))
  await harness.control.resume({ sync: bed.sync, by: 'ana' })
  expect(await harness.sync()).toMatchObject({ state: 'held', hold: 'open' })
  expect(await there()).toBe('abcdef')
})

test('an approval of which nothing, or a part, is done can be taken back, and given again', async () => {
  fire('a', 'b', 'c')
  const held = await harness.sync()
  onRead = () => Promise.reject(new Error('the disk is gone'))
  await harness.approve(held.run)
  await expect(
    harness.control.reject({ run: held.run, by: 'bob', only: ['max-deletes-users'] }),
  ).rejects.toThrow(`Run ${held.run} was approved: reject what of it is not applied yet as a whole.`)
  expect(await harness.control.run(held.run)).toMatchObject({ approvedWaiting: 3 })
  await expect(harness.control.reject({ run: held.run, by: 'eve', seen: 'open' })).rejects.toThrow(
    /has no open hold: it was approved by .*, unless `dirsyncd reject \d+` takes it back/,
  )
  await harness.control.reject({ run: held.run, by: 'bob' })
  onRead = async () => undefined
  const kept = await harness.sync()
  expect([kept.state, await noticed(kept, 'rejected'), await there()]).toEqual([
    'done',
    ['a', 'b', 'c'],
    'abcdef',
  ])
  await expect(harness.control.reject({ run: held.run, by: 'bob' })).rejects.toThrow('has no open hold')
  failAfterTwo()
  expect(await harness.approve(held.run).then(({ state }) => state, String)).toBe('failed')
  bed.proxy.intercept = () => undefined
  await harness.control.reject({ run: held.run, by: 'bob' })
  expect(await noticed(await harness.sync(), 'rejected')).toHaveLength(1)
  const approved = await harness.approve(held.run).then(() => 'approved', String)
  expect([approved, await there()]).toEqual(['approved', 'def'])
  await expect(harness.control.reject({ run: held.run, by: 'bob' })).rejects.toThrow('has no open hold')
})

test('while a run applies what was approved, it is not taken back', async () => {
  fire('a', 'b', 'c')
  const held = await harness.sync()
  await harness.control.approve({ run: held.run, by: 'ana' })
  const [next] = await harness.control.runs({ sync: bed.sync, limit: 1 })
  expect(await harness.control.run(held.run)).toMatchObject({ approvedWaiting: 0 })
  await expect(harness.control.reject({ run: held.run, by: 'bob' })).rejects.toThrow(
    `run ${next!.run} applies it`,
  )
})

test('a rejection of the whole plan also decides what an approval of a part left out', async () => {
  fire('a', 'b', 'c')
  hire('new')
  const held = await harness.sync()
  await harness.control.approve({ run: held.run, by: 'ana', part: { ids: ['a'] } })
  await harness.control.reject({ run: held.run, by: 'bob' })
  await harness.work()
  const last = await harness.newestRun()
  expect([last.state, await there()]).toEqual(['done', 'abcdefnew'])
})
