import { expect, test } from 'vitest'
import { maxUpdates } from '../../../../src/core/checks/max-updates.ts'
import {
  approving,
  blocksOf,
  codesOf,
  directoryOf,
  factsOf,
  ids,
  leftAfter,
  limitsOf,
  sourceOf,
  type Given,
} from './build.ts'

const renamed = (id: string) => ({ id, name: 'Renamed', email: `new-${id}@example.org` })
const renaming = (count: number, all: number, given: Given) =>
  factsOf(
    sourceOf(ids(all).map((id, index) => (index < count ? renamed(id) : id))),
    directoryOf(ids(all)),
    given,
  )
const limits = limitsOf('users', { maxUpdates: 25, maxUpdatePercent: 50 })

test.each([
  [25, 100, []],
  [26, 100, ['max-updates-users']],
  [20, 39, ['max-update-percent-users']],
  [20, 40, []],
  // A few updates are many of a small directory.
  [19, 19, []],
])('%i updates of %i users, with limits of 25 and 50 %%: %j', (count, all, codes) => {
  expect(codesOf(maxUpdates, renaming(count, all, { limits }))).toEqual(codes)
})

test('of the share, the entries of the directory are named', () => {
  expect(blocksOf(maxUpdates, renaming(20, 39, { limits }))).toMatchObject([
    { params: { kind: 'users', updates: 20, of: 39, limit: 50 } },
  ])
})

test('there is no limit where the configuration sets none', () => {
  expect(codesOf(maxUpdates, renaming(100, 100, {}))).toEqual([])
})

test('the plan stops; a user counts once, and both of its values are named', () => {
  const [block] = blocksOf(maxUpdates, renaming(1, 10, { limits: limitsOf('users', { maxUpdates: 0 }) }))
  expect(block).toMatchObject({
    stops: 'plan',
    until: 'decision',
    params: { kind: 'users', updates: 1, limit: 0 },
  })
  expect(block?.keys).toEqual(['user u000 name Renamed', 'user u000 email new-u000@example.org'])
})

test('an approved value is written and does not count', () => {
  const ledger = approving('max-updates-users', ['user', 'u000', 'name', 'Renamed'])
  const given = { limits: limitsOf('users', { maxUpdates: 1 }), ledger }
  const facts = renaming(3, 10, given)
  expect(blocksOf(maxUpdates, facts)).toMatchObject([{ params: { updates: 3 } }])
  expect(leftAfter(maxUpdates, facts)).toEqual(['user u000 name Renamed'])
})

test('groups count by their name, memberships by the members that join', () => {
  const users = ids(3)
  const source = sourceOf(users, { g: users })
  const other = new Map([['g', { ...source.groups.get('g')!, name: 'Renamed' }]])
  const facts = (kind: 'groups' | 'memberships', given: Given = {}) =>
    factsOf({ ...source, groups: other }, directoryOf(users, { g: [] }), {
      limits: limitsOf(kind, { maxUpdates: 0 }),
      ...given,
    })
  expect(blocksOf(maxUpdates, facts('groups'))).toMatchObject([
    { params: { updates: 1 }, keys: ['group g name Renamed'] },
  ])
  expect(blocksOf(maxUpdates, facts('memberships'))).toMatchObject([
    { params: { kind: 'memberships', updates: 3 } },
  ])
  const ledger = approving('max-updates-memberships', ['group', 'g', '+member', 'u000'])
  expect(blocksOf(maxUpdates, facts('memberships', { ledger }))).toMatchObject([{ params: { updates: 2 } }])
})

test('creates are no updates, and their values are not named', () => {
  const users = limitsOf('users', { maxUpdates: 0 })
  expect(codesOf(maxUpdates, factsOf(sourceOf(ids(100)), directoryOf([]), { limits: users }))).toEqual([])
  const facts = factsOf(sourceOf([renamed('a'), 'new']), directoryOf(['a']), { limits: users })
  expect(blocksOf(maxUpdates, facts)[0]?.keys).toEqual([
    'user a name Renamed',
    'user a email new-a@example.org',
  ])
})
