import { beforeEach, expect, test } from 'vitest'
import type { SourceSnapshot } from '../../src/directory/snapshot.ts'
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
  return notices.flatMap(({ kind, detail, code: said }) =>
    kind === 'group' && said === code ? [detail] : [],
  )
}

/** Somebody whose row nobody understands. */
const withUnreadable =
  (...ids: readonly string[]) =>
  (snapshot: SourceSnapshot): SourceSnapshot => ({
    ...withoutUse(...ids)(snapshot),
    seen: { ...snapshot.seen, user: new Set([...snapshot.seen.user].filter((id) => !ids.includes(id))) },
    unreadable: ids.length,
  })

/** Somebody whom the read knows to be there, and cannot use. */
const withoutUse =
  (...ids: readonly string[]) =>
  (snapshot: SourceSnapshot): SourceSnapshot => ({
    ...snapshot,
    users: new Map([...snapshot.users].filter(([id]) => !ids.includes(id))),
  })

/** Rejects what somebody left out who approved only the deletes of b and c. */
async function rejectTheRest(): Promise<void> {
  const held = await harness.sync()
  await harness.control.approve({ run: held.run, by: 'ana', part: { ids: ['b', 'c'], kinds: ['user'] } })
  await harness.work()
  await harness.control.reject({ run: (await harness.newestRun()).run, by: 'ana' })
  await harness.sync()
}

const members = async () => (await seen()).groups.get('g')?.members.join('')

const noEmail = (snapshot: SourceSnapshot): SourceSnapshot => ({
  ...snapshot,
  users: new Map([...snapshot.users].map(([id, user]) => [id, { ...user, email: undefined }])),
})

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
  return Number(/run (\d+)/.exec([...rejected.values()][0]!)![1])
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

/** What `npm test` runs. */
export function decisionsTests(): void {
  test('what was rejected stays so over a read with an entry that nobody understands', async () => {
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

  test('whose removal from a group was rejected stays there, whoever else comes or goes', async () => {
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

  test('who was not let into a group stays out, and whoever approves it lets all in', async () => {
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
    expect(said.map(({ detail }) => detail)).toEqual([
      expect.stringMatching(/^Person a <a@example.org>: name not updated: rejected by ana/),
      expect.stringMatching(/^Person d <d@example.org>: name not updated: rejected by ana/),
    ])
    company.users.set('a', { name: 'Another name', email: 'new@example.org' })
    await harness.sync()
    expect(await nameOf('a')).toBe('Another name')
  })

  test('a rejected e-mail moves to nobody, whatever else of both changes', async () => {
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

  test('whoever approves what was rejected approves what is left of it, when the rest has changed', async () => {
    const run = await rejectBoth('Renamed a', 'new@example.org')
    company.users.set('a', { name: 'Renamed a', email: 'other@example.org' })
    await harness.sync()
    expect((await seen()).users.get('a')).toEqual({ name: 'Person a', email: 'other@example.org' })
    await harness.approve(run, { part: { ids: ['a'] } })
    expect(await nameOf('a')).toBe('Renamed a')
    const { run: last } = await harness.newestRun()
    const rows = bed.db
      .selectFrom('dirsyncd.changes')
      .select(['entry_id', 'approved'])
      .where('run', '=', last)
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

  test('an approval is for once: who is there again is held anew', async () => {
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

  test('an approval is for once: what was undone is held anew', async () => {
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
}

/** What only `npm run test:long` runs. */
export function decisionsLongTests(): void {
  test('a rejected create stays so over a read that does not understand the entry', async () => {
    fire('a', 'b', 'c')
    hire('new')
    const held = await harness.sync()
    await harness.control.approve({ run: held.run, by: 'ana', part: { ids: ['a', 'b', 'c'] } })
    await harness.work()
    await harness.control.reject({ run: (await harness.newestRun()).run, by: 'ana' })
    expect(await noticed(await harness.sync(), 'rejected')).toEqual(['new'])
    asRead = withUnreadable('new')
    expect(await noticed(await harness.sync(), 'rejected')).toEqual([])
    asRead = (snapshot) => snapshot
    expect([await noticed(await harness.sync(), 'rejected'), await there()]).toEqual([['new'], 'def'])
  })

  test('a rejected update stays so over a read that cannot use the entry', async () => {
    fire('c', 'd')
    company.users.set('a', { name: 'Somebody else', email: 'a@example.org' })
    company.users.set('b', { name: 'Somebody else', email: 'b@example.org' })
    const held = await harness.sync()
    await harness.control.approve({ run: held.run, by: 'ana', part: { ids: ['b', 'c', 'd'] } })
    await harness.work()
    const { run } = await harness.newestRun()
    await harness.control.reject({ run, by: 'ana' })
    expect(await noticed(await harness.sync(), 'rejected')).toEqual(['a'])
    asRead = withoutUse('a')
    expect(await noticed(await harness.sync(), 'rejected')).toEqual([])
    asRead = (snapshot) => snapshot
    expect(await noticed(await harness.sync(), 'rejected')).toEqual(['a'])
    expect((await seen()).users.get('a')?.name).toBe('Person a')
    company.users.set('a', { name: 'Person a', email: 'a@example.org' })
    await harness.sync()
    company.users.set('a', { name: 'Somebody else', email: 'a@example.org' })
    expect(await noticed(await harness.sync(), 'rejected')).toEqual([])
  })

  test('what was rejected of a user stays so over a read without the e-mail', async () => {
    fire('b', 'c')
    company.users.set('a', { name: 'Somebody else', email: 'else@example.org' })
    hire('new')
    await rejectTheRest()
    for (const read of [noEmail, (snapshot: SourceSnapshot) => snapshot]) {
      asRead = read
      expect(await noticed(await harness.sync(), 'rejected')).toEqual(['a', 'new'])
    }
    expect(await there()).toBe('adef')
    expect((await seen()).users.get('a')).toEqual({ name: 'Person a', email: 'a@example.org' })
  })

  test('a rejected name stays away after the service refused it with an e-mail', async () => {
    await rejectNames()
    bed.proxy.intercept = ({ method }) => (method === 'PATCH' ? { status: 422 } : undefined)
    company.users.set('a', { name: 'Renamed a', email: 'refused@example.org' })
    await harness.sync()
    bed.proxy.intercept = () => undefined
    company.users.set('a', { name: 'Renamed a', email: 'a@example.org' })
    const { state } = await harness.sync()
    expect([state, await nameOf('a')]).toEqual(['done', 'Person a'])
  })

  test('whose new e-mail was rejected keeps the old one, and nobody is sent to get it', async () => {
    company.users.set('a', { name: 'Person a', email: 'new@example.org' })
    fire('b', 'c')
    await rejectTheRest()
    company.users.set('a', { name: 'Renamed a', email: 'new@example.org' })
    company.users.set('d', { name: 'Person d', email: 'a@example.org' })
    const { state, counts } = await harness.sync()
    expect([state, counts?.outcomes]).toEqual(['done', { applied: 1 }])
    const { users } = await seen()
    expect(users.get('a')).toEqual({ name: 'Renamed a', email: 'a@example.org' })
    expect(users.get('d')?.email).toBe('d@example.org')
  })

  test('who was wanted in a group again in between leaves it, and who was not stays', async () => {
    fire('b', 'c')
    company.groups.set('g', { name: 'Group', members: ['f'] })
    await rejectTheRest()
    company.groups.set('g', { name: 'Group', members: ['a', 'f'] })
    await harness.sync()
    company.groups.set('g', { name: 'Group', members: ['f'] })
    const run = await harness.sync()
    expect(await noticedOfGroups(run, 'rejected')).toEqual([
      expect.stringMatching(/^"Group": 0 members not added, 2 not removed: rejected by ana/),
    ])
    expect(await members()).toBe('def')
  })

  test('whom a rejected create was to bring into a group comes with another e-mail, and not into the group', async () => {
    fire('b', 'c')
    hire('new')
    company.groups.set('g', { name: 'Group', members: ['a', 'd', 'e', 'f', 'new'] })
    await rejectTheRest()
    company.users.set('new', { name: 'Person new', email: 'another@example.org' })
    for (const _ of [1, 2]) await harness.sync()
    expect([await there(), await members()]).toEqual(['adefnew', 'adef'])
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

  test('whoever rejects a plan as a whole has decided on what was left out of a part of it', async () => {
    fire('a', 'b', 'c')
    hire('new')
    const held = await harness.sync()
    await harness.control.approve({ run: held.run, by: 'ana', part: { ids: ['a'] } })
    await harness.control.reject({ run: held.run, by: 'bob' })
    await harness.work()
    const last = await harness.newestRun()
    expect([last.state, await there()]).toEqual(['done', 'abcdefnew'])
  })
}
