import { describe, expect, test } from 'vitest'
import { configurationChanged } from '../../../../src/core/checks/configuration-changed.ts'
import { grace } from '../../../../src/core/checks/grace.ts'
import {
  approving,
  BEGUN,
  blocksOf,
  codesOf,
  directoryOf,
  ended,
  factsOf,
  HOUR,
  ids,
  leftAfter,
  nextOf,
  sourceOf,
  type Given,
} from './build.ts'

const CHANGED: Given = {
  states: { configuration: { run: 12, options: { 'users.filter': 'a', schedule: 's' } } },
  options: { 'users.filter': 'b', schedule: 's' },
}

/** The source lacks the first `gone` of `all` users, and the next `renamed` have another name. */
const changing = (gone: number, renamed: number, all: number, given: Given = CHANGED) =>
  factsOf(
    sourceOf(
      ids(all)
        .slice(gone)
        .map((id, index) => (index < renamed ? { id, name: 'New' } : id)),
    ),
    directoryOf(ids(all)),
    given,
  )

test.each([
  [3, 0, 10, ['configuration-changed']],
  [2, 0, 10, []],
  [200, 0, 1000, []],
  [201, 0, 1000, ['configuration-changed']],
  [0, 21, 100, ['configuration-changed']],
  [0, 20, 100, []],
  [15, 6, 100, ['configuration-changed']],
  [14, 6, 100, []],
  // A few updates are many of a small directory.
  [0, 10, 10, []],
  [2, 8, 10, []],
])('%i deletes and %i updates of %i users: %j', (gone, renamed, all, codes) => {
  expect(codesOf(configurationChanged, changing(gone, renamed, all))).toEqual(codes)
})

test('the plan stops; the block names the options and the changes of the kind', () => {
  const [block] = blocksOf(configurationChanged, changing(15, 10, 100))
  expect(block).toMatchObject({ stops: 'plan', until: 'decision' })
  expect(block?.keys).toHaveLength(25)
  expect(block?.params).toEqual({
    since: 12,
    keys: ['users.filter'],
    kind: 'users',
    deletes: 15,
    updates: 10,
    leftFilter: 0,
    newIds: 0,
    of: 100,
    limit: 20,
    isLater: false,
  })
})

test('deletes in the grace period count, because no later run would ask', () => {
  const rule = { deleteAfter: { user: { ms: HOUR } }, confirmAfterMs: undefined }
  const [block] = blocksOf(
    configurationChanged,
    changing(3, 0, 10, { ...CHANGED, grace: rule, after: [[grace]] }),
  )
  expect(block).toMatchObject({
    params: { deletes: 3, isLater: true },
    keys: ids(3).map((id) => `user ${id} leave`),
  })
})

test('members that join and leave count as memberships, creates do not count', () => {
  const users = ids(30)
  const joining = factsOf(
    sourceOf(users, { g: users }),
    directoryOf(users, { g: users.slice(0, 5) }),
    CHANGED,
  )
  expect(blocksOf(configurationChanged, joining)).toMatchObject([
    { params: { kind: 'memberships', deletes: 0, updates: 25, of: 5 } },
  ])
  expect(codesOf(configurationChanged, factsOf(sourceOf(ids(90)), directoryOf(['u000']), CHANGED))).toEqual(
    [],
  )
})

test('an approval makes them, and the others of the kind then do not count with them', () => {
  const ledger = approving('configuration-changed', ...ids(3).map((id) => ['user', id, 'leave'] as const))
  expect(leftAfter(configurationChanged, changing(3, 0, 10, { ...CHANGED, ledger }))).toHaveLength(6)
})

test('nothing stops where nothing changed, or nothing is known', () => {
  expect(
    codesOf(
      configurationChanged,
      changing(9, 0, 10, { ...CHANGED, options: CHANGED.states!.configuration!.options }),
    ),
  ).toEqual([])
  expect(codesOf(configurationChanged, changing(9, 0, 10, { ...CHANGED, states: {} }))).toEqual([])
})

describe('the options become the new normal', () => {
  test('by a run that applied, and by no other', () => {
    const facts = changing(1, 0, 10)
    expect(nextOf(configurationChanged, facts, ended('applied'))).toEqual({
      configuration: { run: 7, options: CHANGED.options },
    })
    for (const moment of [BEGUN, ended('held'), ended('failed')])
      expect(nextOf(configurationChanged, facts, moment)).toEqual({})
  })
})
