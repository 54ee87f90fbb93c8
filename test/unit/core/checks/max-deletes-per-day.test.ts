import { expect, test } from 'vitest'
import { maxDeletesPerDay } from '../../../../src/core/checks/max-deletes-per-day.ts'
import {
  approving,
  blocksOf,
  codesOf,
  directoryOf,
  factsOf,
  ids,
  leftAfter,
  sourceOf,
  type Given,
} from './build.ts'

const journalOf = (users: number, memberships = 0) => ({
  unapproved: { users, groups: 0, memberships },
  deleted: { user: new Set<string>(), group: new Set<string>() },
})
const losing = (gone: number, given: Given) =>
  factsOf(sourceOf(ids(1000).slice(gone)), directoryOf(ids(1000)), given)

test.each([
  [90, 10, []],
  [91, 10, ['max-deletes-per-day-users']],
  [500, 0, []],
])('%i deletes of the last day and %i of this plan, with a limit of 100: %j', (lastDay, gone, codes) => {
  expect(codesOf(maxDeletesPerDay, losing(gone, { journal: journalOf(lastDay) }))).toEqual(codes)
})

test('the plan stops until an approval of its deletes, whatever was deleted before', () => {
  const journal = journalOf(100)
  expect(blocksOf(maxDeletesPerDay, losing(1, { journal }))).toMatchObject([
    {
      stops: 'plan',
      until: 'decision',
      keys: ['user u000 leave'],
      params: {
        kind: 'users',
        deletes: 1,
        lastDay: 100,
        limit: 100,
      },
    },
  ])
  const ledger = approving('max-deletes-per-day-users', ['user', 'u000', 'leave'])
  expect(leftAfter(maxDeletesPerDay, losing(1, { journal, ledger }))).toContain('user u000 delete')
})

test('memberships have a budget of their own', () => {
  const facts = factsOf(sourceOf(['a'], { g: [] }), directoryOf(['a'], { g: ['a'] }), {
    journal: journalOf(100, 100),
  })
  expect(codesOf(maxDeletesPerDay, facts)).toEqual(['max-deletes-per-day-memberships'])
})
