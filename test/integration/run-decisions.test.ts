import { beforeEach, describe, expect, test } from 'vitest'
import type { SourceSnapshot } from '../../src/core/entries/snapshot.ts'
import { historyOf } from '../../src/operations/explain/history.ts'
import { createLocalControl } from '../../src/operations/local.ts'
import type { DecisionRequest } from '../../src/operations/control.ts'
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
const members = async (group = 'g') => (await seen()).groups.get(group)?.members.join('')
const nameOf = async (id: string) => (await seen()).users.get(id)?.name
const emailOf = async (id: string) => (await seen()).users.get(id)?.email ?? null
const questions = async (run: number) => (await harness.control.run(run))!.questions
const reject = (run: number, more: Partial<DecisionRequest> = {}) =>
  harness.control.reject({ run, by: 'ana', isAll: true, ...more })

/** The service does two deletes, and then knows the token no more. */
function failAfterTwo(): void {
  let deletes = 0
  bed.proxy.intercept = ({ method }) => {
    if (method !== 'DELETE') return undefined
    deletes += 1
    return deletes > 2 ? { status: 401, answer: { title: 'Unauthorized' } } : undefined
  }
}

/** Who approved each change of a user, the newest first. */
async function approversOf(id: string) {
  const target = { sync: bed.sync, target: bed.target }
  const { journal } = await historyOf({ db: bed.db, target }, { kind: 'user', id })
  return journal.map(({ op, approvedBy }) => [op, approvedBy])
}

describe('a rejection', () => {
  test('outlives a read with an unreadable entry, and ends with an entry that is there again', async () => {
    fire('a', 'b', 'c')
    const held = await harness.sync()
    await reject(held.run)
    const rejected = ['a', 'b', 'c'].map((id) => `delete-user ${id} rejected`)
    expect(await harness.blocked(await harness.sync())).toEqual(rejected)
    asRead = (snapshot) => ({ ...snapshot, unreadable: 1 })
    const unreadable = await harness.sync()
    expect(await harness.blocked(unreadable)).toEqual(rejected.map((each) => `${each} unreadable`))
    asRead = (snapshot) => snapshot
    hire('b', 'c')
    const again = await harness.sync()
    expect(await harness.blocked(again)).toEqual(['delete-user a rejected'])
    expect([await harness.exitCode(again), await questions(again.run)]).toEqual([0, 0])
    expect(await there()).toBe('abcdef')
  })

  test('stays visible, with the operator, the time and the reason', async () => {
    fire('a', 'b', 'c')
    const held = await harness.sync()
    await reject(held.run, { reason: 'ask HR first' })
    const { counts } = await harness.sync()
    expect(counts).toMatchObject({
      rejected: { 'delete-user': 3 },
      asking: {},
      lastRejection: {
        run: held.run,
        by: 'ana',
        reason: 'ask HR first',
        at: expect.stringMatching(/^20.*Z$/),
      },
    })
    expect(await harness.control.run(held.run)).toMatchObject({
      questions: 0,
      decisions: [{ does: 'reject', by: 'ana', reason: 'ask HR first', keys: 3, started: null }],
    })
  })

  test('of a name leaves the rest of the user free, whatever else changes, and ends with another name', async () => {
    company.users.set('a', { name: 'Renamed a', email: 'a@example.org' })
    fire('b', 'c')
    const held = await harness.sync()
    await reject(held.run, { ids: ['a'] })
    company.users.set('a', { name: 'Renamed a', email: 'new@example.org' })
    const run = await harness.approve(held.run)
    expect(run.state).toBe('done')
    expect((await seen()).users.get('a')).toEqual({ name: 'Person a', email: 'new@example.org' })
    expect(await harness.blocked(run)).toEqual(['update-user a rejected'])
    company.users.set('a', { name: 'Another name', email: 'new@example.org' })
    await harness.sync()
    expect(await nameOf('a')).toBe('Another name')
  })

  test('of an e-mail gives it to no other user, whatever else of both changes', async () => {
    const swapped = { a: 'd@example.org', d: 'a@example.org' }
    for (const [id, email] of Object.entries(swapped)) company.users.set(id, { name: `Person ${id}`, email })
    fire('b', 'c')
    const held = await harness.sync()
    await reject(held.run, { only: ['updates'] })
    for (const [id, email] of Object.entries(swapped)) company.users.set(id, { name: `Renamed ${id}`, email })
    await harness.approve(held.run)
    const { users } = await seen()
    expect(users.get('a')).toEqual({ name: 'Renamed a', email: 'a@example.org' })
    expect(users.get('d')).toEqual({ name: 'Renamed d', email: 'd@example.org' })
  })

  test('of members covers these, whichever other members come or go', async () => {
    fire('b', 'c')
    company.groups.set('g', { name: 'Group', members: ['f'] })
    const held = await harness.sync()
    await reject(held.run, { only: ['members'] })
    await harness.approve(held.run)
    expect(await members()).toBe('adef')
    hire('new')
    company.groups.set('g', { name: 'Group', members: ['e', 'f', 'new'] })
    const added = await harness.sync()
    expect([added.state, await members()]).toEqual(['done', 'adefnew'])
    expect(await harness.blocked(added)).toEqual(['set-members g rejected'])
    company.groups.set('g', { name: 'Group', members: ['new'] })
    await harness.sync()
    // Nobody has rejected that the two leave whom the last run wanted in the group.
    expect(await members()).toBe('adnew')
  })

  test('is lifted by an approval of the run that showed it, also of one change alone', async () => {
    fire('a', 'b', 'c')
    hire('new')
    const held = await harness.sync()
    await reject(held.run)
    const next = await harness.sync()
    expect([next.state, await there()]).toEqual(['done', 'abcdefnew'])
    const applied = await harness.approve(held.run, { ids: ['a'] })
    expect(applied).toMatchObject({ state: 'done', counts: { planned: { 'delete-user': 1 } } })
    expect(await there()).toBe('bcdefnew')
    expect(await harness.sync()).toMatchObject({
      counts: { planned: {}, rejected: { 'delete-user': 2 } },
    })
    const without = createLocalControl({ db: bed.db, targets: new Map(), wake: async () => undefined })
    await expect(without.approve({ run: held.run, by: 'ana' })).rejects.toThrow(
      'which this configuration does not have',
    )
  })

  test('of one change is not overruled by an approval of its kind or its reason', async () => {
    fire('a', 'b', 'c')
    const held = await harness.sync()
    await reject(held.run, { ids: ['a'] })
    await harness.approve(held.run, { only: ['deletes'] })
    expect(await there()).toBe('adef')
    await expect(harness.control.approve({ run: held.run, by: 'eve' })).rejects.toThrow('nothing to decide')
    await harness.sync()
    fire('d', 'e')
    const again = await harness.sync()
    await harness.approve(again.run, { code: 'max-deletes-users' })
    expect(await there()).toBe('af')
    // A command that is repeated overrules no rejection.
    const parts: readonly Partial<DecisionRequest>[] = [
      { only: ['deletes'] },
      { code: 'max-deletes-users' },
      { isAll: true },
    ]
    for (const part of parts)
      await expect(harness.control.approve({ run: held.run, by: 'eve', ...part })).rejects.toThrow(
        'approved by --id, or all of it with --code rejected',
      )
    await harness.sync()
    expect(await there()).toBe('af')
    await harness.approve(held.run, { code: 'rejected' })
    expect(await there()).toBe('f')
  })

  test('of what a run made, or of what is not wanted any more, is refused', async () => {
    fire('a', 'b', 'c')
    const held = await harness.sync()
    await harness.approve(held.run, { ids: ['a'] })
    hire('b')
    await harness.sync()
    for (const ids of [['a'], ['b']])
      await expect(reject(held.run, { ids })).rejects.toThrow('has nothing to decide about')
    await expect(reject(held.run, { only: ['deletes'] })).resolves.toMatchObject({ decision: { keys: 1 } })
  })

  test('ends the run that makes what was approved, and what is not sent yet is not sent', async () => {
    const many = Array.from({ length: 30 }, (_, index) => `z${index}`)
    hire(...many)
    await harness.sync()
    fire(...many)
    const held = await harness.sync()
    const chunks = async () => {
      const rows = await bed.db.selectFrom('dirsyncd.chunks').select(['chunk', 'heartbeats']).execute()
      return new Map(rows.map(({ chunk, heartbeats }) => [chunk, heartbeats]))
    }
    let known: Promise<void> | undefined
    const rejectAndWait = async () => {
      const { sent } = await reject(held.run, { only: ['deletes'] })
      expect(sent?.underWay).toBeGreaterThan(0)
      const before = await chunks()
      // Each worker has asked since: one heartbeat may have been under way.
      const haveAsked = async () => {
        const now = await chunks()
        return [...before].every(([chunk, count]) => (now.get(chunk) ?? Number.POSITIVE_INFINITY) > count + 1)
      }
      await expect.poll(haveAsked, { timeout: 20_000 }).toBe(true)
    }
    let deletes = 0
    bed.proxy.intercept = async ({ method }) => {
      if (method !== 'DELETE') return undefined
      deletes += 1
      await (known ??= rejectAndWait())
      return { status: 503, answer: { title: 'Service Unavailable' } }
    }
    const left = await there()
    expect(await harness.approve(held.run)).toMatchObject({ state: 'failed', error_code: 'rejected' })
    // Those in flight, each once: the client would send them again.
    expect(deletes).toBeLessThanOrEqual(4)
    bed.proxy.intercept = () => undefined
    expect(await harness.sync()).toMatchObject({ state: 'done', counts: { planned: {} } })
    expect(await there()).toBe(left)
  })

  test('is not lifted by a plain approval of another operator who comes later', async () => {
    fire('a', 'b', 'c')
    const held = await harness.sync()
    await reject(held.run)
    await expect(harness.control.approve({ run: held.run, by: 'eve' })).rejects.toThrow(
      new RegExp(`^Run ${held.run} has nothing to decide about: it was rejected by ana at `),
    )
    await harness.sync()
    expect(await there()).toBe('abcdef')
  })
})

describe('an approval', () => {
  test('that comes while another run applies is not lost, and its own run makes the change', async () => {
    fire('a', 'b', 'c')
    hire('new')
    const held = await harness.sync()
    let decided: Promise<unknown> | undefined
    bed.proxy.intercept = async ({ method }) => {
      if (method === 'GET' || decided !== undefined) return undefined
      decided = harness.control.approve({ run: held.run, by: 'bob', ids: ['b'] })
      await decided
      return undefined
    }
    await harness.approve(held.run, { ids: ['a'] })
    expect(await there()).toBe('cdef')
    expect([(await approversOf('a'))[0], (await approversOf('b'))[0]]).toEqual([
      ['delete-user', 'ana'],
      ['delete-user', 'bob'],
    ])
  })

  test('is used once: the delete of a user who is there again is asked about anew', async () => {
    fire('a', 'b', 'c', 'd')
    const held = await harness.sync()
    await harness.approve(held.run, { ids: ['a', 'b'] })
    expect(await there()).toBe('cdef')
    for (const id of ['a', 'b'])
      await bed.call('POST', '/users', { 'users[][external_id]': id, 'users[][name]': 'By hand' })
    const again = await harness.sync()
    expect([again.state, await questions(again.run)]).toEqual(['held', 4])
    expect(await there()).toBe('abcdef')
  })

  test('is used once: a change that was undone is asked about anew', async () => {
    fire('a', 'b', 'c', 'd')
    const held = await harness.sync()
    const applied = await harness.approve(held.run, { ids: ['a', 'b'] })
    expect(await there()).toBe('cdef')
    await harness.undo(applied.run)
    await harness.control.resume({ sync: bed.sync, by: 'ana' })
    const again = await harness.sync()
    expect([again.state, await questions(again.run), await there()]).toEqual(['held', 4, 'abcdef'])
  })

  test('is taken back by an undo of its run, also what of that was not done', async () => {
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
    const next = await harness.sync()
    expect([next.state, await questions(next.run), await there()]).toEqual([
      'held',
      left.length - 1,
      'abcdef',
    ])
  })

  test('of which nothing, or a part, is done can be turned into a rejection, and be given again', async () => {
    fire('a', 'b', 'c')
    const held = await harness.sync()
    onRead = () => Promise.reject(new Error('the disk is gone'))
    await harness.approve(held.run)
    onRead = async () => undefined
    await reject(held.run, { only: ['deletes'] })
    const kept = await harness.sync()
    expect([kept.state, await there()]).toEqual(['done', 'abcdef'])
    failAfterTwo()
    await harness.approve(held.run, { code: 'rejected' })
    bed.proxy.intercept = () => undefined
    expect(await there()).toHaveLength(4)
    await reject(held.run, { only: ['deletes'] })
    await harness.sync()
    expect(await there()).toHaveLength(4)
    await harness.approve(held.run, { code: 'rejected' })
    expect(await there()).toBe('def')
  })

  test('that no run used expires, and the question is asked again', async () => {
    const quick = await bed.openWithWorker({ maxUserDeletes: 1, approvalsExpireAfterMs: 0 })
    fire('a', 'b')
    const held = await quick.sync()
    await quick.approve(held.run)
    expect(await there()).toBe('abcdef')
    expect(await quick.exitCode(await quick.newestRun())).toBe(3)
  })

  test('starts a run at once, unless the sync is paused', async () => {
    fire('a', 'b')
    const held = await harness.sync()
    await harness.control.pause({ sync: bed.sync, by: 'bob', reason: 'moving' })
    expect(await harness.control.approve({ run: held.run, by: 'ana' })).toMatchObject({
      decision: { does: 'approve', keys: 2, started: null },
      paused: { by: 'bob', reason: 'moving' },
    })
    await harness.control.resume({ sync: bed.sync, by: 'bob' })
    await harness.sync()
    expect(await there()).toBe('cdef')
  })
})

const rename = (id: string) => company.users.set(id, { name: `Renamed ${id}`, email: `${id}@example.org` })

/** Resolves with the run that the approval starts. */
async function approve({ run }: RunRecord, more: Partial<DecisionRequest>): Promise<RunRecord> {
  const { decision } = await harness.control.approve({ run, by: 'ana', ...more })
  await harness.work()
  return harness.getRun(decision.started!)
}

describe('an approval of a part', () => {
  test('releases updates that only the stop of the plan keeps, and the deletes stay asked', async () => {
    fire('a', 'b', 'c')
    rename('e')
    const held = await harness.sync()
    const applied = await approve(held, { only: ['updates'], reason: 'they married' })
    expect(applied).toMatchObject({ state: 'held', counts: { planned: { 'update-user': 1 } } })
    expect([await nameOf('e'), await there()]).toEqual(['Renamed e', 'abcdef'])
    expect(await harness.control.run(held.run)).toMatchObject({
      questions: 3,
      decisions: [{ does: 'approve', reason: 'they married', selection: { only: ['updates'] }, keys: 1 }],
    })
    await harness.approve(held.run)
    expect(await there()).toBe('def')
  })

  test('makes one user together with the memberships and what they need', async () => {
    fire('a', 'b', 'c')
    hire('new', 'other')
    company.groups.set('g', { name: 'Group', members: ['d', 'e', 'f', 'new', 'other'] })
    company.groups.set('h', { name: 'House', members: ['new'] })
    const held = await harness.sync()
    const applied = await approve(held, { ids: ['new'] })
    expect(applied.counts?.planned).toEqual({ 'create-user': 1, 'create-group': 1, 'set-members': 2 })
    expect(await there()).toBe('abcdefnew')
    expect([await members(), await members('h')]).toEqual(['abcdefnew', 'new'])
  })

  test('frees an e-mail by an update that is not asked about, and not by a delete that is', async () => {
    fire('a', 'b', 'c')
    company.users.set('e', { name: 'Person e', email: 'elsewhere@example.org' })
    company.users.set('f', { name: 'Person f', email: 'e@example.org' })
    company.users.set('d', { name: 'Person d', email: 'a@example.org' })
    const held = await harness.sync()
    expect((await approve(held, { ids: ['f'] })).counts?.planned).toEqual({ 'update-user': 2 })
    expect([await emailOf('f'), await emailOf('e')]).toEqual(['e@example.org', 'elsewhere@example.org'])
    expect((await approve(held, { ids: ['d'] })).counts?.planned).toEqual({})
    expect(await emailOf('d')).toBe('d@example.org')
    expect((await approve(held, { ids: ['d', 'a'] })).counts?.planned).toEqual({
      'delete-user': 1,
      'update-user': 1,
    })
    expect(await emailOf('d')).toBe('a@example.org')
  })

  test('makes nothing that came since', async () => {
    fire('a', 'b')
    const held = await harness.sync()
    await harness.control.approve({ run: held.run, by: 'ana', only: ['deletes'] })
    fire('c', 'd')
    await harness.work()
    expect(await there()).toBe('cdef')
    expect(await harness.newestRun()).toMatchObject({
      state: 'held',
      counts: { asking: { 'delete-user': 2 } },
    })
  })

  test('names the operator of each change in its history', async () => {
    fire('a', 'b', 'c', 'd')
    const { run } = await harness.sync()
    await harness.control.approve({ run, by: 'root', ids: ['a'] })
    await harness.control.approve({ run, by: 'two', ids: ['b', 'c'] })
    await harness.control.approve({ run, by: 'all' })
    await harness.work()
    expect(await Promise.all(['a', 'b', 'c', 'd'].map(approversOf))).toEqual(
      ['root', 'two', 'two', 'all'].map((by) => [
        ['delete-user', by],
        ['create-user', null],
      ]),
    )
  })

  test('of what the run did not show is refused, and nothing is decided', async () => {
    fire('a', 'b')
    const held = await harness.sync()
    const askFor = (run: number, more: Partial<DecisionRequest>) =>
      harness.control.approve({ run, by: 'ana', ...more })
    await expect(askFor(held.run, { only: ['creates'] })).rejects.toThrow(
      `Run ${held.run} has no creates left to decide about.`,
    )
    await expect(askFor(held.run, { code: 'first-contact' })).rejects.toThrow('nothing called first-contact')
    await expect(askFor(held.run, { ids: ['a', 'typo', ' b'] })).rejects.toThrow(
      `Run ${held.run} shows no such change of " b", "typo", so nothing was decided;`,
    )
    await expect(askFor(held.run, { only: ['deletes'], ids: ['a', 'g'] })).rejects.toThrow('change of "g",')
    await expect(askFor(held.run - 1, { ids: ['a'] })).rejects.toThrow('asks nothing')
    await expect(askFor(987_654, {})).rejects.toThrow('There is no run 987654')
    expect(await harness.control.run(held.run)).toMatchObject({ questions: 2, decisions: [] })
  })
})

test('a run that asks for two reasons is decided by one of them, or by all', async () => {
  const both = await bed.openWithWorker({ maxUserDeletes: 1, minSourceUsers: 5 })
  fire('a', 'b')
  const held = await both.sync()
  await expect(harness.control.approve({ run: held.run, by: 'ana' })).rejects.toThrow(
    `Run ${held.run} asks for 2 reasons: min-source-users (1), max-deletes-users (2). Approve one of them with --code CODE, or all of them with --all.`,
  )
  await both.approve(held.run, { code: 'min-source-users' })
  expect(await there()).toBe('abcdef')
  await both.approve(held.run, { code: 'max-deletes-users' })
  expect(await there()).toBe('cdef')
})

test('a reason and ids decide only about changes that the run shows for this reason', async () => {
  const both = await bed.openWithWorker({ maxUserDeletes: 1, grace: { deleteAfter: { group: { runs: 3 } } } })
  company.groups.delete('g')
  fire('a', 'b')
  const held = await both.sync()
  expect(await both.blocked(held)).toContain('delete-group g grace')
  for (const does of ['approve', 'reject'] as const)
    await expect(
      harness.control[does]({ run: held.run, by: 'ana', code: 'max-deletes-users', ids: ['a', 'g'] }),
    ).rejects.toThrow('shows no change with the reason max-deletes-users of "g"')
  await both.approve(held.run, { isAll: undefined, code: 'max-deletes-users', ids: ['a'] })
  expect(await there()).toBe('bcdef')
})

test('a rejection that is taken back leaves the grace period', async () => {
  const later = await bed.openWithWorker({ grace: { deleteAfter: { user: { runs: 3 } } } })
  fire('a')
  const run = await later.sync()
  await reject(run.run, { ids: ['a'] })
  const rejected = await later.sync()
  expect(rejected.counts?.rejected).toEqual({ 'delete-user': 1 })
  const after = await later.approve(rejected.run, { isAll: undefined, code: 'rejected' })
  expect([await later.blocked(after), await there()]).toEqual([['delete-user a grace'], 'abcdef'])
})

test('a rejection by id of a delete in its grace period is overruled by no part or reason', async () => {
  const later = await bed.openWithWorker({ grace: { deleteAfter: { user: { runs: 3 } } } })
  fire('a')
  const run = await later.sync()
  await reject(run.run, { ids: ['a'] })
  for (let turn = 0; turn < 3; turn += 1) {
    const rejected = await later.sync()
    for (const selection of [{ only: ['deletes'] }, { code: 'grace' }] as const)
      await expect(later.approve(rejected.run, selection)).rejects.toThrow(/nothing|no deletes/)
    expect([rejected.counts?.rejected, await there()]).toEqual([{ 'delete-user': 1 }, 'abcdef'])
  }
})

test('nor is the rejection of a delete that a guard asked about, where a grace period was configured since', async () => {
  fire('a', 'b', 'c')
  const held = await harness.sync()
  await reject(held.run, { ids: ['a'] })
  const later = await bed.openWithWorker({ maxUserDeletes: 9, grace: { deleteAfter: { user: { runs: 9 } } } })
  const delayed = await later.sync()
  await later.approve(delayed.run, { code: 'grace' }).catch(() => undefined)
  expect((await later.sync()).counts?.rejected).toEqual({ 'delete-user': 1 })
})

test('a rejection stops a run that is being planned and does not know it', async () => {
  const shown: number[] = []
  let known: Promise<unknown> | undefined
  const later = await bed.openWithWorker({
    grace: { deleteAfter: { user: { runs: 2 } } },
    onRecheck: async () => {
      if (shown.length > 0) await (known ??= reject(shown[0]!, { ids: ['a'] }))
    },
  })
  fire('a')
  shown.push((await later.sync()).run)
  expect(await later.sync()).toMatchObject({ state: 'failed', error_code: 'rejected' })
  expect([(await later.sync()).counts?.rejected, await there()]).toEqual([{ 'delete-user': 1 }, 'abcdef'])
})

test('a rejection of a delete stops a run that is to take the user out of a group', async () => {
  const later = await bed.openWithWorker({ grace: { deleteAfter: { user: { runs: 9 } } } })
  fire('a')
  hire('z')
  let run = 0
  let known: Promise<unknown> | undefined
  bed.proxy.intercept = async ({ method }) => {
    if (method === 'POST') await (known ??= reject(run, { ids: ['a'] }))
    return undefined
  }
  await harness.control.pause({ sync: bed.sync, by: 'ana' })
  await harness.control.resume({ sync: bed.sync, by: 'ana' })
  run = await later.requestRun({ mode: 'sync' })
  await later.executor.workOn(bed.sync, run)
  bed.proxy.intercept = () => undefined
  expect(await later.getRun(run)).toMatchObject({ state: 'failed', error_code: 'rejected' })
  await later.sync()
  expect([await there(), await members()]).toEqual(['abcdefz', 'abcdef'])
})

test('an approval of a user who is there again ends with the run that sees it', async () => {
  const later = await bed.openWithWorker({ grace: { deleteAfter: { user: { runs: 3 } } } })
  fire('a')
  const run = await later.sync()
  hire('a')
  await later.approve(run.run, { ids: ['a'] })
  fire('a')
  const again = await later.sync()
  expect([await later.blocked(again), await there()]).toEqual([['delete-user a grace'], 'abcdef'])
})

test('a rejection holds for what was under way, also after an undo, and after an approval of what was rejected', async () => {
  fire('a', 'b', 'c')
  let shown = await harness.sync()
  // What a run made before has no question any more, so the second turn is about rejections alone.
  for (const code of [undefined, 'rejected'] as const) {
    let known: Promise<unknown> | undefined
    bed.proxy.intercept = async ({ method }) => {
      if (method === 'DELETE') await (known ??= reject(shown.run))
      return undefined
    }
    const stopped = await harness.approve(shown.run, { isAll: code === undefined, code })
    bed.proxy.intercept = () => undefined
    expect(stopped).toMatchObject({ state: 'failed', error_code: 'rejected' })
    await harness.control.resume({ sync: bed.sync, by: 'ana' })
    await harness.sync()
    await harness.undo(stopped.run)
    await harness.control.resume({ sync: bed.sync, by: 'ana' })
    shown = await harness.sync()
    expect([shown.counts?.rejected, await there()]).toEqual([{ 'delete-user': 3 }, 'abcdef'])
  }
})

test('a rejection takes back an approval of all that a run showed', async () => {
  fire('a', 'b', 'c')
  const held = await harness.sync()
  await harness.control.pause({ sync: bed.sync, by: 'ana' })
  await harness.control.approve({ run: held.run, by: 'ana', isAll: true })
  await expect(reject(held.run)).resolves.toMatchObject({ decision: { does: 'reject' } })
  await harness.control.resume({ sync: bed.sync, by: 'ana' })
  const next = await harness.sync()
  expect([next.counts?.rejected, await there()]).toEqual([{ 'delete-user': 3 }, 'abcdef'])
})

test('a delete that was rejected while another guard stopped the plan is approved by the number of a later run', async () => {
  const both = await bed.openWithWorker({ minSourceUsers: 6 })
  fire('a')
  const held = await both.sync()
  await reject(held.run, { ids: ['a'] })
  hire('x')
  const later = await both.sync()
  expect([later.counts?.rejected, await there()]).toEqual([{ 'delete-user': 1 }, 'abcdefx'])
  await both.approve(later.run, { ids: ['a'] })
  expect(await there()).toBe('bcdefx')
})

test('of a circle of e-mails of which one is rejected, the others stay asked in each run', async () => {
  const few = await bed.openWithWorker()
  const { setup } = few.parts
  Object.assign(setup, {
    limits: { ...setup.limits, users: { ...setup.limits.users, maxUpdates: 1 } },
  })
  const before = { a: 'b', b: 'c', c: 'a' }
  for (const [id, other] of Object.entries(before))
    company.users.set(id, { ...company.users.get(id)!, email: `${other}@example.org` })
  const held = await few.sync()
  await reject(held.run, { ids: ['a'] })
  const later = await few.sync()
  expect([await few.exitCode(later), await questions(later.run)]).toEqual([3, 2])
  expect(await few.blocked(later)).toEqual([
    'update-user a rejected',
    'update-user b asked',
    'update-user c asked',
  ])
  expect([await few.exitCode(await few.approve(later.run)), await questions(later.run)]).toEqual([0, 0])
})

test('decisions stay while a read does not show what they are about', async () => {
  const named = (id: string, name: string) => company.users.set(id, { ...company.users.get(id)!, name })
  named('e', 'New')
  fire('a', 'b')
  company.groups.set('g', { name: 'Group', members: ['c', 'd', 'e'] })
  const held = await harness.sync()
  await reject(held.run, { ids: ['e', 'f'] })
  const hidden = new Set(['e'])
  asRead = (snapshot) => ({
    ...snapshot,
    users: new Map([...snapshot.users].filter(([id]) => !hidden.has(id))),
    seen: { ...snapshot.seen, user: new Set([...snapshot.seen.user].filter((id) => !hidden.has(id))) },
    groups: new Map(),
    covers: { groups: false, members: false },
  })
  await harness.sync()
  asRead = (snapshot) => snapshot
  const shown = await harness.sync()
  expect([await nameOf('e'), await members(), shown.counts?.rejected]).toEqual([
    'Person e',
    'abcdef',
    { 'update-user': 1, 'set-members': 1 },
  ])
})

test('what a rejection leaves is made by the next run', async () => {
  fire('a', 'b', 'c')
  hire('new')
  const held = await harness.sync()
  await harness.control.approve({ run: held.run, by: 'ana', ids: ['a'] })
  await reject(held.run)
  await harness.work()
  expect([(await harness.sync()).state, await there()]).toEqual(['done', 'bcdefnew'])
})
