import { describe, expect, test } from 'vitest'
import { atOnce } from '../../../../src/base/steps.ts'
import {
  type GuardFacts,
  type GuardLimits,
  heldChanges,
  isApproved,
} from '../../../../src/core/plan/guards.ts'
import type { Plan } from '../../../../src/core/plan/changes.ts'
import type { PlanInputs } from '../../../../src/core/plan/inputs.ts'
import {
  directoryOf,
  haveGroup,
  haveUser,
  IN_GRACE,
  linesOf,
  planOf,
  sourceOf,
  wantGroup,
  wantUser,
  guardsOf,
} from './build.ts'

const heldIn = (...given: Parameters<typeof heldChanges>) => atOnce(heldChanges(...given))
const areApproved = (...given: Parameters<typeof isApproved>) => atOnce(isApproved(...given))

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
    unprovedEmpty: [],
    deletedLastDay: { users: 0, groups: 0, memberships: 0 },
    ...more,
  }
}

function guards(breaches: ReturnType<typeof guardsOf>): string[] {
  return breaches.map(({ code }) => code)
}

describe('deletes of users', () => {
  test.each([
    [50, 1000, []],
    [51, 1000, ['max-deletes-users']],
    [10, 100, []],
    [11, 100, ['max-delete-percent-users']],
    // 10.9 % are more than 10 %.
    [11, 101, ['max-delete-percent-users']],
    [1, 5, ['max-delete-percent-users']],
    [60, 100, ['max-deletes-users', 'max-delete-percent-users']],
  ])('%i of %i', (gone, have, expected) => {
    expect(guards(guardsOf(losing(gone, have).plan, facts(have - gone, have), LIMITS))).toEqual(expected)
  })

  test('are counted', () => {
    const [breach] = guardsOf(losing(1_234, 20_000).plan, facts(18_766, 20_000), LIMITS)
    const params = { kind: 'users', deletes: 1_234, of: 20_000, leftFilter: 0, newIds: 0, limit: 50 }
    expect(breach).toMatchObject({ code: 'max-deletes-users', params })
  })

  test('who is still in the source, outside the filter, is told apart from who is gone', () => {
    const source = sourceOf([wantUser('a')])
    const directory = directoryOf(['a', 'b', 'c'].map((id) => haveUser(id)))
    const user = new Map([
      ['b', 'out-of-scope'],
      ['c', 'absent'],
    ] as const)
    const plan = planOf(source, directory, { sightings: { user, group: new Map() } })
    const [breach] = guardsOf(plan, facts(1, 3, { lastGood: { users: 1, groups: 0 } }), LIMITS)
    expect(breach).toMatchObject({
      code: 'max-delete-percent-users',
      params: { deletes: 2, of: 3, leftFilter: 1, newIds: 0, limit: 10 },
    })
  })

  test('the budget of a day counts what was deleted before', () => {
    const { plan } = losing(10, 1000)
    const before = facts(990, 1000, { deletedLastDay: { users: 91, groups: 0, memberships: 0 } })
    expect(guards(guardsOf(plan, before, LIMITS))).toEqual(['max-deletes-per-day-users'])
  })

  test.each<[string, PlanInputs['waits']]>([
    ['updates', { allButNew: { code: 'server-not-newer', params: {} } }],
    ['all changes', { everything: { code: 'server-not-newer', params: {} } }],
  ])('%s that wait for a better read are no deletes', (_what, waits) => {
    const people = Array.from({ length: 100 }, (_, index) => `u${index}`)
    const source = sourceOf([...people, 'new'].map((id) => wantUser(id, `New ${id}`)))
    const plan = planOf(source, directoryOf(people.map((id) => haveUser(id))), { waits })
    expect(guards(guardsOf(plan, facts(101, 100), LIMITS))).toEqual([])
    expect(guards(guardsOf(plan, facts(101, 100, { lastGood: undefined }), LIMITS))).toEqual([])
  })

  test('a directory that this sync never completed a run on: any delete is held', () => {
    const { plan } = losing(1, 1000)
    const breaches = guardsOf(plan, facts(999, 1000, { lastGood: undefined }), LIMITS)
    expect(guards(breaches)).toEqual(['first-contact'])
    expect(breaches[0]?.params).toEqual({ deletes: { users: 1, groups: 0, memberships: 0 }, later: 0 })
  })

  test.each([
    ['deletes a group', [haveGroup('g', 'G'), haveGroup('old', 'Old')], 'delete-group old', { groups: 1 }],
    ['takes a member out', [haveGroup('g', 'G', ['a'])], 'set-members g', { memberships: 1 }],
  ])('a first contact that only %s is held, too', (_case, groups, line, deletes) => {
    const plan = planOf(
      sourceOf([wantUser('a')], [wantGroup('g', 'G')]),
      directoryOf([haveUser('a')], groups),
    )
    expect(linesOf(plan)).toEqual([line])
    const directory = { users: 1, groups: 1000, memberships: 1000 }
    const breaches = guardsOf(plan, facts(1, 1, { lastGood: undefined, directory }), LIMITS)
    expect(breaches).toMatchObject([
      { code: 'first-contact', params: { deletes }, changes: [[...plan.changes][0]?.fingerprint] },
    ])
  })
})

test('deletes and updates of groups and added members have limits of their own', () => {
  const source = sourceOf(
    [wantUser('a'), wantUser('b')],
    [wantGroup('g1', 'New 1', ['a', 'b']), wantGroup('g2', 'New 2')],
  )
  const directory = directoryOf(
    [haveUser('a'), haveUser('b')],
    [haveGroup('g1', 'Old 1'), haveGroup('g2', 'Old 2'), haveGroup('g3', 'G3'), haveGroup('g4', 'G4')],
  )
  const counts = { users: 2, groups: 4, memberships: 1000 }
  const kind = { ...KIND, maxDeletes: 1, maxDeletePercent: 100, maxUpdates: 1 }
  const limits = { ...LIMITS, groups: kind, memberships: kind }
  const breaches = guardsOf(planOf(source, directory), facts(2, 2, { directory: counts }), limits)
  expect(breaches).toMatchObject([
    { code: 'max-deletes-groups', params: { deletes: 2, of: 4, limit: 1 } },
    { code: 'max-updates-groups', params: { kind: 'groups', updates: 2, limit: 1 } },
    { code: 'max-updates-memberships', params: { kind: 'memberships', updates: 2, limit: 1 } },
  ])
})

test('an empty directory is free to be filled', () => {
  const people = Array.from({ length: 30 }, (_, index) => `u${index}`)
  const source = sourceOf(
    people.map((id) => wantUser(id)),
    [wantGroup('g', 'G', people)],
  )
  const plan = planOf(source, directoryOf([]))
  const kind = { ...KIND, maxUpdatePercent: 10 }
  const limits = { ...LIMITS, users: kind, groups: kind, memberships: kind }
  expect(guardsOf(plan, facts(30, 0, { lastGood: undefined }), limits)).toEqual([])
})

test('an empty source is held whatever the plan does', () => {
  const plan = planOf(sourceOf([], [wantGroup('g', 'G')]), directoryOf([]))
  expect(guards(guardsOf(plan, facts(0, 0), LIMITS))).toEqual(['min-source-users'])
})

test('an empty source holds every change by name, so no older approval releases it', () => {
  const plan = planOf(sourceOf([], [wantGroup('g', 'G'), wantGroup('h', 'H')]), directoryOf([]))
  const breaches = guardsOf(plan, facts(0, 0), LIMITS)
  expect(heldIn(breaches)).toEqual([...plan.changes].map((planned) => planned.fingerprint).toSorted())
  expect(areApproved(breaches, new Set())).toBe(false)
})

test('a directory that shows nothing, and no total, after a good run holds everything', () => {
  const plan = planOf(sourceOf([wantUser('a'), wantUser('b')]), directoryOf([]))
  const given = facts(2, 0, { lastGood: { users: 2, groups: 0 }, unprovedEmpty: ['user', 'group'] })
  const breaches = guardsOf(plan, given, LIMITS)
  expect(breaches).toMatchObject([{ code: 'empty-directory-users', params: { kind: 'user', before: 2 } }])
  expect(heldIn(breaches)).toHaveLength(2)
  expect(guardsOf(plan, facts(2, 0, { lastGood: undefined, unprovedEmpty: ['user'] }), LIMITS)).toEqual([])
})

test('a source that shrank since the last good run holds even a small number of deletes', () => {
  const { plan } = losing(5, 1000)
  const shrunken = facts(700, 1000, { lastGood: { users: 1000, groups: 0 } })
  expect(guards(guardsOf(plan, shrunken, LIMITS))).toEqual(['source-shrunk-users'])
})

test('those who wait for the evidence are not missing from the source', () => {
  const { plan } = losing(5, 1000)
  const more = { lastGood: { users: 1000, groups: 0 }, waiting: { users: 290, groups: 0 } }
  expect(guardsOf(plan, facts(700, 1000, more), LIMITS)).toEqual([])
  const few = { ...more, waiting: { users: 29, groups: 0 } }
  expect(guards(guardsOf(plan, facts(700, 1000, few), LIMITS))).toEqual(['source-shrunk-users'])
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
  const [breach] = guardsOf(plan, known, limits)
  expect(breach).toMatchObject({
    code: 'max-deletes-memberships',
    params: { deletes: 2, of: 100, limit: 1 },
  })
})

/** A plan that renames so many of the directory's users. */
function renaming(renamed: number, all: number): Plan {
  const ids = Array.from({ length: all }, (_, index) => `u${index}`)
  const source = sourceOf(ids.map((id, index) => wantUser(id, index < renamed ? 'Renamed' : undefined)))
  return planOf(source, directoryOf(ids.map((id) => haveUser(id))))
}

test.each([
  [20, 39, ['max-updates-users', 'max-update-percent-users']],
  [20, 40, ['max-updates-users']],
  [19, 19, ['max-updates-users']],
])('%i updates of %i users, where the limits are 1 and 50 %%, break %j', (renamed, all, broken) => {
  const limits = { ...LIMITS, users: { ...KIND, maxUpdates: 1, maxUpdatePercent: 50 } }
  expect(guards(guardsOf(renaming(renamed, all), facts(all, all), limits))).toEqual(broken)
})

/** Some users leave and the names of others change. */
function changing(gone: number, renamed: number, have: number): Plan {
  const people = Array.from({ length: have }, (_, index) => `u${index}`)
  const stay = people.slice(gone)
  const source = sourceOf(stay.map((id, index) => wantUser(id, index < renamed ? 'New' : undefined)))
  return planOf(source, directoryOf(people.map((id) => haveUser(id))))
}

describe('after a change of the configuration', () => {
  const CHANGE = { since: 12, keys: ['users.filter', 'users.map.email'] }
  const UNLIMITED = { ...KIND, maxDeletes: 1e6, maxDeletePercent: 100, maxDeletesPerDay: 1e6 }
  const WIDE = { ...LIMITS, users: UNLIMITED, groups: UNLIMITED, memberships: UNLIMITED }

  function guardsAfter(plan: Plan, directory: Partial<GuardFacts['directory']>, change = CHANGE) {
    const given = facts(1000, 0, { configurationChange: change })
    return guardsOf(plan, { ...given, directory: { ...given.directory, ...directory } }, WIDE)
  }

  test.each([
    [3, 10, ['configuration-changed']],
    [2, 10, []],
    [1, 4, ['configuration-changed']],
    [200, 1000, []],
    [201, 1000, ['configuration-changed']],
  ])('%i deletes of %i users', (gone, have, expected) => {
    expect(guards(guardsAfter(losing(gone, have).plan, { users: have }))).toEqual(expected)
  })

  test.each([
    [0, 21, 100, ['configuration-changed']],
    [0, 20, 100, []],
    [15, 6, 100, ['configuration-changed']],
    [14, 6, 100, []],
    // A few updates are many of a small directory.
    [0, 10, 10, []],
    [2, 8, 10, []],
  ])('%i deletes and %i updates together of %i users', (gone, renamed, have, expected) => {
    expect(guards(guardsAfter(changing(gone, renamed, have), { users: have }))).toEqual(expected)
  })

  test('deletes and updates are held by name, and the changed options are named', () => {
    const plan = changing(15, 10, 100)
    const [breach] = guardsAfter(plan, { users: 100 })
    expect(heldIn([breach!])).toEqual([...plan.changes].map((planned) => planned.fingerprint).toSorted())
    const counts = { kind: 'users', deletes: 15, of: 100, leftFilter: 0, newIds: 0, updates: 10, limit: 20 }
    expect(breach?.params).toEqual({ ...CHANGE, ...counts, isLater: false })
  })

  test('deletes that only wait for their time count, because no later run would ask', () => {
    const { source } = losing(3, 10)
    const directory = directoryOf(
      Array.from({ length: 10 }, (_, index) => haveUser(`u${String(index).padStart(5, '0')}`)),
    )
    const waits = { whyNotDeleted: () => IN_GRACE }
    const plan = planOf(source, directory, { waits })
    expect(linesOf(plan)).toEqual([])
    const breaches = guardsAfter(plan, { users: 10 })
    expect(guards(breaches)).toEqual(['configuration-changed'])
    expect(heldIn(breaches)).toHaveLength(3)
    expect(breaches[0]?.params).toMatchObject({ deletes: 3, of: 10, isLater: true })
  })

  test('members that are taken out and added count as memberships', () => {
    const people = Array.from({ length: 30 }, (_, index) => `u${index}`)
    const source = sourceOf(
      people.map((id) => wantUser(id)),
      [wantGroup('g', 'G', people)],
    )
    const directory = directoryOf(
      people.map((id) => haveUser(id)),
      [haveGroup('g', 'G', people.slice(0, 5))],
    )
    const breaches = guardsAfter(planOf(source, directory), { users: 30, groups: 1, memberships: 100 })
    expect(breaches).toMatchObject([{ params: { kind: 'memberships', deletes: 0, of: 100, updates: 25 } }])
  })

  test('creates are free, and so is everything where nothing was changed', () => {
    const people = Array.from({ length: 90 }, (_, index) => wantUser(`new${index}`))
    const plan = planOf(sourceOf([wantUser('a'), ...people]), directoryOf([haveUser('a')]))
    expect(guardsAfter(plan, { users: 1 })).toEqual([])
    expect(guardsOf(changing(15, 10, 100), facts(1000, 100), WIDE)).toEqual([])
  })
})

describe('approval', () => {
  const breaches = guardsOf(losing(60, 100).plan, facts(40, 100), LIMITS)

  test('covers the changes that were held', () => {
    expect(areApproved(breaches, new Set(heldIn(breaches)))).toBe(true)
  })

  test('covers a later plan that holds fewer of them', () => {
    const fewer = guardsOf(losing(59, 100).plan, facts(41, 100), LIMITS)
    expect(areApproved(fewer, new Set(heldIn(breaches)))).toBe(true)
  })

  test('does not cover a single change more', () => {
    const more = guardsOf(losing(61, 100).plan, facts(39, 100), LIMITS)
    expect(areApproved(more, new Set(heldIn(breaches)))).toBe(false)
  })

  test('of one breach does not release the changes of another one', () => {
    const plan = planOf(
      sourceOf([wantUser('a')], [wantGroup('g', 'G')]),
      directoryOf([haveUser('a'), haveUser('left')], [haveGroup('g', 'G'), haveGroup('old', 'Old')]),
    )
    const directory = { users: 2, groups: 2, memberships: 0 }
    const both = guardsOf(plan, facts(1, 2, { directory }), LIMITS)
    expect(guards(both)).toEqual(['max-delete-percent-users', 'max-delete-percent-groups'])
    for (const breach of both) expect(areApproved(both, new Set(breach.changes))).toBe(false)
    expect(areApproved(both, new Set(heldIn(both)))).toBe(true)
  })
})
