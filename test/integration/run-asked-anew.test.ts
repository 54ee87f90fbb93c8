import { beforeEach, describe, expect, test } from 'vitest'
import type { DecisionRequest } from '../../src/operations/control.ts'
import type { SyncHarness, SyncHarnessOptions } from '../support/sync-harness.ts'
import { useTestBed } from '../support/test-bed.ts'

const bed = useTestBed('anew')
const { company, hire, fire, seen } = bed

let harness: SyncHarness

async function open(more: Partial<SyncHarnessOptions> = {}): Promise<void> {
  hire('a', 'b', 'c', 'd', 'e', 'f')
  company.groups.set('g', { name: 'Group', members: ['a', 'b', 'c', 'd', 'e', 'f'] })
  harness = await bed.openWithWorker({ maxUserDeletes: 1, ...more })
  expect(await harness.sync()).toMatchObject({ state: 'done' })
}

const there = async () => [...(await seen()).users.keys()].toSorted().join('')
const members = async () => (await seen()).groups.get('g')?.members.join('')
const rename = (name: string) => company.users.set('f', { ...company.users.get('f')!, name })
const questions = async (run: number) => (await harness.control.run(run))!.questions
const resume = () => harness.control.resume({ sync: bed.sync, by: 'ana' })

const NOTHING = /nothing to decide about|left to decide about/

async function refused(run: number, ...selections: readonly Partial<DecisionRequest>[]): Promise<void> {
  for (const does of ['approve', 'reject'] as const)
    for (const selection of [{ isAll: true }, ...selections])
      await expect(harness.control[does]({ run, by: 'ana', ...selection })).rejects.toThrow(NOTHING)
}

describe('the number of a run decides nothing that ended and was asked anew', () => {
  let before: number

  beforeEach(async () => {
    await open()
    fire('a', 'b')
    before = (await harness.sync()).run
  })

  const ways: Readonly<Record<string, () => Promise<void>>> = {
    'the deletes were made, and others have these ids': async () => {
      await harness.approve(before)
      expect(await there()).toBe('cdef')
      hire('a', 'b')
      await harness.sync()
    },
    'a run found the users again': async () => {
      hire('a', 'b')
      await harness.sync()
    },
    'the deletes were rejected, and a run found the users again': async () => {
      await harness.control.reject({ run: before, by: 'ana' })
      hire('a', 'b')
      await harness.sync()
    },
    'the deletes were made and undone': async () => {
      const { run } = await harness.approve(before)
      await harness.undo(run)
      await resume()
    },
  }
  test.each(Object.keys(ways))('%s', async (way) => {
    await ways[way]!()
    await refused(before, { ids: ['a'] })
    fire('a', 'b')
    const again = await harness.sync()
    await refused(before, { ids: ['a'] }, { only: ['deletes'] })
    expect([await there(), await questions(before), await questions(again.run)]).toEqual(['abcdef', 0, 2])
    await harness.approve(again.run)
    expect(await there()).toBe('cdef')
  })

  test('nor what only the stop of its plan kept', async () => {
    rename('New')
    const held = await harness.sync()
    await harness.approve(held.run, { ids: ['f'] })
    rename('Old')
    await harness.approve((await harness.sync()).run, { ids: ['f'] })
    rename('New')
    await harness.sync()
    await expect(harness.control.approve({ run: held.run, by: 'ana', ids: ['f'] })).rejects.toThrow(NOTHING)
    expect((await seen()).users.get('f')?.name).toBe('Old')
  })

  test('but a run in between changes nothing of what is still asked', async () => {
    hire('z')
    const later = await harness.sync()
    expect([await questions(before), await questions(later.run)]).toEqual([2, 2])
    await harness.approve(before)
    expect(await there()).toBe('cdefz')
  })
})

test('the number of a run ends no grace period that began after it', async () => {
  await open({ grace: { deleteAfter: { user: { runs: 3 } } } })
  fire('a')
  const { run } = await harness.sync()
  hire('a')
  await harness.sync()
  fire('a')
  await refused(run, { ids: ['a'] }, { code: 'grace' })
  await harness.sync()
  await refused(run, { ids: ['a'] }, { code: 'grace' })
  expect(await there()).toBe('abcdef')
})

test('the number of a plan decides what the next run asks, and nothing that is asked after that', async () => {
  await open()
  fire('a', 'b')
  const plan = await harness.requestRun({ mode: 'plan' })
  await harness.executor.workOn(bed.sync, plan)
  const held = await harness.sync()
  expect([await questions(plan), await questions(held.run)]).toEqual([2, 2])
  await harness.approve(plan, { ids: ['a'] })
  expect(await there()).toBe('bcdef')
  hire('a')
  await harness.sync()
  fire('a')
  await harness.sync()
  await expect(harness.control.approve({ run: plan, by: 'ana', ids: ['a'] })).rejects.toThrow(
    'nothing to decide about',
  )
  await harness.approve(plan)
  expect(await there()).toBe('acdef')
})

test('an approval of a delete that waits ends with a read that has the user, even if it cannot use the entry', async () => {
  let unusable = false
  await open({
    grace: { deleteAfter: { user: { runs: 2 } } },
    asRead: (snapshot) =>
      unusable
        ? { ...snapshot, seen: { ...snapshot.seen, user: new Set([...snapshot.users.keys(), 'a']) } }
        : snapshot,
  })
  fire('a')
  const { run } = await harness.sync()
  await harness.control.pause({ sync: bed.sync, by: 'ana' })
  await harness.control.approve({ run, by: 'ana', ids: ['a'] })
  await resume()
  unusable = true
  await harness.sync()
  unusable = false
  await harness.sync()
  expect(await there()).toBe('abcdef')
})

describe('a run that cannot judge everything', () => {
  let read: 'whole' | 'with an unreadable entry' | 'without a usable a'
  let before: number

  beforeEach(async () => {
    read = 'whole'
    await open({
      asRead: (snapshot) => {
        if (read === 'whole') return snapshot
        if (read === 'with an unreadable entry') return { ...snapshot, unreadable: 1 }
        return { ...snapshot, seen: { ...snapshot.seen, user: new Set([...snapshot.users.keys(), 'a']) } }
      },
    })
    fire('a', 'b')
    before = (await harness.sync()).run
  })

  test('ends approvals of deletes of users whom it shows, so that they are asked about anew', async () => {
    read = 'with an unreadable entry'
    await harness.approve(before)
    expect(await there()).toBe('abcdef')
    hire('a', 'b')
    await harness.sync()
    fire('a', 'b')
    await harness.sync()
    read = 'whole'
    const again = await harness.sync()
    expect([await there(), await questions(again.run)]).toEqual(['abcdef', 2])
  })

  test('nor does a run that ends with its process keep an approval', async () => {
    await harness.control.pause({ sync: bed.sync, by: 'ana' })
    await harness.control.approve({ run: before, by: 'ana', ids: ['a'] })
    await resume()
    await harness[Symbol.asyncDispose]()
    hire('a', 'b')
    rename('New')
    const dying = bed.open({ maxUserDeletes: 1 })
    const run = await dying.requestRun()
    const working = dying.work()
    await expect.poll(async () => (await dying.getRun(run)).state).toBe('applying')
    await dying[Symbol.asyncDispose]()
    await working
    fire('a', 'b')
    harness = await bed.openWithWorker({ maxUserDeletes: 1 })
    const again = await harness.sync()
    expect([await there(), await questions(again.run)]).toEqual(['abcdef', 2])
  })

  test.each(['with an unreadable entry', 'without a usable a'] as const)(
    '%s: the number of a run before it decides nothing about users whom it shows, and they stay asked',
    async (how) => {
      read = how
      if (how === 'with an unreadable entry') hire('a')
      await harness.sync()
      fire('a')
      read = 'whole'
      const again = await harness.sync()
      await expect(harness.control.approve({ run: before, by: 'ana', ids: ['a'] })).rejects.toThrow(NOTHING)
      expect(await questions(again.run)).toBe(2)
      await harness.approve(again.run)
      expect(await there()).toBe('cdef')
    },
  )
})

test('a group whose memberships were kept is deleted by the number that a guard asks with', async () => {
  await open()
  const { setup } = harness.parts
  Object.assign(setup, {
    limits: {
      ...setup.limits,
      memberships: { ...setup.limits.memberships, maxDeletes: 1 },
      groups: { ...setup.limits.groups, maxDeletes: 0 },
    },
  })
  company.groups.set('g', { name: 'Group', members: ['c', 'd', 'e', 'f'] })
  const first = await harness.sync()
  company.groups.delete('g')
  const second = await harness.sync()
  expect(await harness.blocked(second)).toContain('delete-group g kept-membership max-deletes-groups')
  await harness.approve(first.run)
  const third = await harness.sync()
  expect(await harness.blocked(third)).not.toContain('kept-membership')
  expect((await seen()).groups.size).toBe(1)
  await harness.approve(third.run, { ids: ['g'] })
  expect([(await seen()).groups.size, await questions(third.run)]).toEqual([0, 0])
})

describe('a user whose membership is kept is not deleted after the grace period', () => {
  let asking: number

  beforeEach(async () => {
    await open({ maxUserDeletes: 9, grace: { deleteAfter: { user: { runs: 2 } } } })
    const { setup } = harness.parts
    Object.assign(setup, {
      limits: { ...setup.limits, memberships: { ...setup.limits.memberships, maxDeletes: 1 } },
    })
    fire('a', 'b')
    asking = (await harness.sync()).run
    expect(await harness.exitCode(await harness.getRun(asking))).toBe(3)
  })

  const KEPT = ['a', 'b'].map((id) => `delete-user ${id} kept-membership`)

  test('where its removal is not decided', async () => {
    const later = await harness.sync()
    expect(await harness.blocked(later)).toEqual([expect.stringMatching('^set-members g '), ...KEPT])
    expect([await there(), await members(), await questions(later.run)]).toEqual(['abcdef', 'abcdef', 3])
    await harness.approve(asking)
    expect([await there(), await members()]).toEqual(['cdef', 'cdef'])
    expect(await questions(later.run)).toBe(0)
  })

  test('where its removal is rejected, until the delete is decided', async () => {
    await harness.control.reject({ run: asking, by: 'ana' })
    const later = await harness.sync()
    expect(await harness.blocked(later)).toEqual(['set-members g rejected', ...KEPT])
    expect([await there(), await members(), await harness.exitCode(later)]).toEqual(['abcdef', 'abcdef', 3])
    await harness.control.reject({ run: later.run, by: 'ana', ids: ['a'] })
    const end = await harness.approve(later.run)
    expect([await there(), await members(), end.counts?.rejected]).toEqual([
      'acdef',
      'acdef',
      { 'set-members': 1, 'delete-user': 1 },
    ])
  })

  test('nor at once by an approval of deletes alone', async () => {
    await harness.approve(asking, { only: ['deletes'] })
    expect([await there(), await members()]).toEqual(['abcdef', 'abcdef'])
    await harness.approve(asking, { ids: ['a'] })
    expect([await there(), await members()]).toEqual(['bcdef', 'bcdef'])
  })
})
