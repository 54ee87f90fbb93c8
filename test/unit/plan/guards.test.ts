import { describe, expect, test } from 'vitest'
import {
  checkGuards,
  type GuardFacts,
  type GuardLimits,
  heldChanges,
  isApproved,
} from '../../../src/plan/guards.ts'
import { directoryOf, haveGroup, haveUser, planOf, sourceOf, wantGroup, wantUser } from './build.ts'

const KIND = {
  maxDeletes: 50,
  maxDeletePercent: 10,
  maxDeletesPerDay: 100,
  maxUpdates: null,
  maxUpdatePercent: null,
}
const LIMITS: GuardLimits = {
  users: KIND,
  groups: KIND,
  memberships: KIND,
  minSourceUsers: 1,
  maxSourceShrinkPercent: 20,
}

/** A directory of `have` users of whom the source lacks the first `gone`. */
function losing(gone: number, have: number) {
  const people = Array.from({ length: have }, (_, index) => `u${String(index).padStart(5, '0')}`)
  const source = sourceOf(people.slice(gone).map((id) => wantUser(id)))
  return { source, plan: planOf(source, directoryOf(people.map((id) => haveUser(id)))) }
}

function facts(users: number, directory: number, more: Partial<GuardFacts> = {}): GuardFacts {
  return {
    source: { users, groups: 0 },
    directory: { users: directory, groups: 0, memberships: 0 },
    lastGood: { users, groups: 0 },
    deletedLastDay: { users: 0, groups: 0, memberships: 0 },
    ...more,
  }
}

function guards(breaches: ReturnType<typeof checkGuards>): string[] {
  return breaches.map((breach) => breach.guard)
}

describe('deletes of users', () => {
  test.each([
    [50, 1000, []],
    [51, 1000, ['max-deletes-users']],
    [10, 100, []],
    [11, 100, ['max-delete-percent-users']],
    [1, 5, ['max-delete-percent-users']],
    [60, 100, ['max-deletes-users', 'max-delete-percent-users']],
  ])('%i of %i', (gone, have, expected) => {
    expect(guards(checkGuards(losing(gone, have).plan, facts(have - gone, have), LIMITS))).toEqual(expected)
  })

  test('are written as people read numbers', () => {
    const [breach] = checkGuards(losing(1_234, 20_000).plan, facts(18_766, 20_000), LIMITS)
    expect(breach?.detail).toBe('1,234 of 20,000 users would be removed, limit 50')
  })

  test('who is still in the source, outside the filter, is told apart from who is gone', () => {
    const source = sourceOf([wantUser('a')])
    const directory = directoryOf(['a', 'b', 'c'].map((id) => haveUser(id)))
    const user = new Map([
      ['b', 'left-filter'],
      ['c', 'gone'],
    ] as const)
    const plan = planOf(source, directory, { sightings: { user, group: new Map() } })
    const [breach] = checkGuards(plan, facts(1, 3, { lastGood: { users: 1, groups: 0 } }), LIMITS)
    expect(breach).toMatchObject({
      guard: 'max-delete-percent-users',
      detail:
        "67 % of the users (2 of 3) would be removed (1 still in the source, but outside the sync's filter), limit 10 %",
    })
  })

  test('the budget of a day counts what was deleted before', () => {
    const { plan } = losing(10, 1000)
    const before = facts(990, 1000, { deletedLastDay: { users: 91, groups: 0, memberships: 0 } })
    expect(guards(checkGuards(plan, before, LIMITS))).toEqual(['max-deletes-per-day-users'])
  })

  test('a directory that this sync never completed a run on: any delete is held', () => {
    const { plan } = losing(1, 1000)
    const breaches = checkGuards(plan, facts(999, 1000, { lastGood: undefined }), LIMITS)
    expect(guards(breaches)).toEqual(['first-contact'])
    expect(breaches[0]?.detail).toContain('1 user')
  })
})

test('an empty directory is free to be filled', () => {
  const source = sourceOf([wantUser('a'), wantUser('b')], [wantGroup('g', 'G', ['a', 'b'])])
  const plan = planOf(source, directoryOf([]))
  expect(checkGuards(plan, facts(2, 0, { lastGood: undefined }), LIMITS)).toEqual([])
})

test('an empty source is held whatever the plan does', () => {
  const plan = planOf(sourceOf([], [wantGroup('g', 'G')]), directoryOf([]))
  expect(guards(checkGuards(plan, facts(0, 0), LIMITS))).toEqual(['min-source-users'])
})

test('a source that shrank since the last good run holds even a small number of deletes', () => {
  const { plan } = losing(5, 1000)
  const shrunken = facts(700, 1000, { lastGood: { users: 1000, groups: 0 } })
  expect(guards(checkGuards(plan, shrunken, LIMITS))).toEqual(['source-shrunk-users'])
})

test('members taken out of groups count one by one, those of deleted users do not', () => {
  const limits = { ...LIMITS, memberships: { ...KIND, maxDeletes: 1 } }
  const source = sourceOf([wantUser('a'), wantUser('b'), wantUser('c')], [wantGroup('g', 'G', ['c'])])
  const directory = directoryOf(
    ['a', 'b', 'c', 'left'].map((id) => haveUser(id)),
    [haveGroup('g', 'G', ['a', 'b', 'c', 'left'])],
  )
  const plan = planOf(source, directory)
  const known = facts(3, 1000, { directory: { users: 1000, groups: 100, memberships: 100 } })
  const [breach] = checkGuards(plan, known, limits)
  expect(breach).toMatchObject({
    guard: 'max-deletes-memberships',
    detail: '2 of 100 memberships would be removed, limit 1',
  })
})

test('updates have a limit of their own where it is set', () => {
  const limits = { ...LIMITS, users: { ...KIND, maxUpdates: 1, maxUpdatePercent: 50 } }
  const source = sourceOf(['a', 'b', 'c'].map((id) => wantUser(id, 'Renamed')))
  const plan = planOf(source, directoryOf(['a', 'b', 'c'].map((id) => haveUser(id))))
  expect(guards(checkGuards(plan, facts(3, 3), limits))).toEqual([
    'max-updates-users',
    'max-update-percent-users',
  ])
})

describe('approval', () => {
  const breaches = checkGuards(losing(60, 100).plan, facts(40, 100), LIMITS)

  test('covers the changes that were held', () => {
    expect(isApproved(breaches, new Set(heldChanges(breaches)))).toBe(true)
  })

  test('covers a later plan that holds fewer of them', () => {
    const fewer = checkGuards(losing(59, 100).plan, facts(41, 100), LIMITS)
    expect(isApproved(fewer, new Set(heldChanges(breaches)))).toBe(true)
  })

  test('does not cover a single change more', () => {
    const more = checkGuards(losing(61, 100).plan, facts(39, 100), LIMITS)
    expect(isApproved(more, new Set(heldChanges(breaches)))).toBe(false)
  })
})
