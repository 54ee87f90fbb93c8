import { expect, test } from 'vitest'
import { maxDeletes } from '../../../../src/core/checks/max-deletes.ts'
import { unreadable } from '../../../../src/core/checks/unreadable.ts'
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

/** A directory of `all` users of whom the source lacks the first `gone`. */
const losing = (gone: number, all: number, given: Given = {}) =>
  factsOf(sourceOf(ids(all).slice(gone)), directoryOf(ids(all)), given)

test.each([
  [50, 1000, []],
  [51, 1000, ['max-deletes-users']],
  [10, 100, []],
  [11, 100, ['max-delete-percent-users']],
  // 10.9 % are more than 10 %.
  [11, 101, ['max-delete-percent-users']],
  [1, 5, ['max-delete-percent-users']],
  [60, 100, ['max-deletes-users', 'max-delete-percent-users']],
])('%i deletes of %i users: %j', (gone, all, codes) => {
  expect(codesOf(maxDeletes, losing(gone, all))).toEqual(codes)
})

test('the plan stops, and the block counts its deletes', () => {
  const [block] = blocksOf(maxDeletes, losing(60, 1000))
  expect(block).toMatchObject({ stops: 'plan', until: 'decision' })
  expect(block?.params).toEqual({ kind: 'users', deletes: 60, leftFilter: 0, newIds: 0, of: 1000, limit: 50 })
  expect(block?.keys).toEqual(ids(60).map((id) => `user ${id} leave`))
})

test('users outside of the filter, and users that come back under another id, are counted apart', () => {
  const given: Given = { found: { user: { b: 'out-of-scope' } } }
  const source = sourceOf(['a', { id: 'new', email: 'c@example.org' }])
  const facts = factsOf(source, directoryOf(['a', 'b', 'c']), given)
  expect(blocksOf(maxDeletes, facts)[0]?.params).toMatchObject({
    deletes: 2,
    leftFilter: 1,
    newIds: 1,
    of: 3,
  })
})

test('what a run does not delete does not count', () => {
  const source = sourceOf(ids(10), {}, { unreadable: 1 })
  expect(codesOf(maxDeletes, factsOf(source, directoryOf(ids(100)), { after: [[unreadable]] }))).toEqual([])
})

test('groups and memberships have limits of their own', () => {
  const limits = limitsOf('groups', { maxDeletes: 1, maxDeletePercent: 100 })
  const facts = factsOf(sourceOf(['a'], {}), directoryOf(['a'], { g: [], h: [] }), { limits })
  expect(blocksOf(maxDeletes, facts)).toMatchObject([
    { code: 'max-deletes-groups', params: { deletes: 2, of: 2, limit: 1 } },
  ])
})

test('members count one by one, those of deleted users and groups do not', () => {
  const limits = { ...limitsOf('memberships', { maxDeletes: 1, maxDeletePercent: 100 }) }
  const users = ids(100)
  const directory = directoryOf([...users, 'x'], {
    g: ['u000', 'u001', 'u002', 'x'],
    old: users,
  })
  const facts = factsOf(sourceOf(users, { g: ['u002'] }), directory, { limits })
  const memberships = blocksOf(maxDeletes, facts).find(({ code }) => code === 'max-deletes-memberships')
  expect(memberships).toMatchObject({
    params: {
      deletes: 2,
      of: 104,
      limit: 1,
    },
    keys: ['group g -member u000', 'group g -member u001'],
  })
})

test('approved deletes do not count and are not named, so one more asks for itself alone', () => {
  const approved = approving('max-deletes-users', ...ids(60).map((id) => ['user', id, 'leave'] as const))
  expect(codesOf(maxDeletes, losing(60, 1000, { ledger: approved }))).toEqual([])
  expect(codesOf(maxDeletes, losing(61, 1000, { ledger: approved }))).toEqual([])
  const few = losing(112, 1000, { ledger: approved })
  expect(blocksOf(maxDeletes, few)).toMatchObject([{ params: { deletes: 52 } }])
  expect(leftAfter(maxDeletes, few)).toHaveLength(120)
})
