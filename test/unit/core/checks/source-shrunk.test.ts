import { expect, test } from 'vitest'
import { grace } from '../../../../src/core/checks/grace.ts'
import { rejected } from '../../../../src/core/checks/rejected.ts'
import { seenAgain } from '../../../../src/core/checks/seen-again.ts'
import { sourceShrunk } from '../../../../src/core/checks/source-shrunk.ts'
import type { Check, RunFacts } from '../../../../src/core/checks/check.ts'
import {
  approving,
  blocksOf,
  codesOf,
  directoryOf,
  factsOf,
  HOUR,
  ids,
  leftAfter,
  NOW,
  rejecting,
  sourceOf,
  type Given,
} from './build.ts'

/** A source of so many users, which lacks so many of the directory. */
function facts(users: number, absent: number, given: Given = {}): RunFacts {
  const there = [...ids(users), ...ids(absent, 'x')]
  return factsOf(sourceOf(ids(users)), directoryOf(there), {
    states: { size: { users: 100, groups: 0 } },
    ...given,
  })
}

test.each([
  [79, ['source-shrunk-users']],
  [80, []],
  [100, []],
])('%i users after 100 with a limit of 20 %%: %j, also for one delete', (users, codes) => {
  expect(codesOf(sourceShrunk, facts(users, 1))).toEqual(codes)
})

test('stops the plan, and names its deletes and both sizes', () => {
  expect(blocksOf(sourceShrunk, facts(70, 2))).toMatchObject([
    {
      stops: 'plan',
      until: 'decision',
      params: {
        kind: 'users',
        now: 70,
        before: 100,
        limit: 20,
      },
      keys: ['user x000 leave', 'user x001 leave'],
    },
  ])
  const ledger = approving('source-shrunk-users', ['user', 'x000', 'leave'])
  expect(leftAfter(sourceShrunk, facts(70, 2, { ledger }))).toEqual(['user x000 leave', 'user x000 delete'])
})

test('a plan without deletes, or before the first complete run, is not stopped', () => {
  expect(codesOf(sourceShrunk, facts(70, 0))).toEqual([])
  expect(codesOf(sourceShrunk, facts(70, 2, { states: {} }))).toEqual([])
})

test('groups have a size of their own, and a fall of it blocks deletes of users, too', () => {
  const given = facts(100, 1, { states: { size: { users: 100, groups: 10 } } })
  expect(blocksOf(sourceShrunk, given)).toMatchObject([
    { code: 'source-shrunk-groups', params: { now: 0, before: 10 }, keys: ['user x000 leave'] },
  ])
})

test('members that leave a group are blocked, too', () => {
  const states = { size: { users: 10, groups: 1 } }
  const given = factsOf(sourceOf(['a'], { g: [] }), directoryOf(['a'], { g: ['a'] }), { states })
  expect(blocksOf(sourceShrunk, given)).toMatchObject([{ keys: ['group g -member a'] }])
})

const checkOf = (check: Check, more: Given): Given => ({ ...more, after: [[check]] })
const SOME = ids(30, 'x')

test('absent users that the recheck found, or whose absence is not confirmed, are not lost', () => {
  const found = { user: Object.fromEntries(SOME.map((id) => [id, 'present' as const])) }
  expect(codesOf(sourceShrunk, facts(70, 31, checkOf(seenAgain, { found })))).toEqual([])
  const known = new Map([['x030', { since: new Date(0), reads: 3 }]])
  const states = { size: { users: 100, groups: 0 }, grace: { user: known, group: new Map() } }
  const rule = { deleteAfter: {}, confirmAfterMs: HOUR }
  expect(codesOf(sourceShrunk, facts(70, 31, checkOf(grace, { grace: rule, states })))).toEqual([])
})

test('absent users of whom an earlier run knew are lost when their grace period is over', () => {
  const since = new Date(NOW.getTime() - HOUR)
  const known = new Map(SOME.map((id) => [id, { since, reads: 1 }]))
  const states = { size: { users: 100, groups: 0 }, grace: { user: known, group: new Map() } }
  const shrunk = (ms: number) =>
    codesOf(
      sourceShrunk,
      facts(
        70,
        31,
        checkOf(grace, { grace: { deleteAfter: { user: { ms } }, confirmAfterMs: undefined }, states }),
      ),
    )
  expect(shrunk(2 * HOUR)).toEqual([])
  expect(shrunk(HOUR)).toEqual(['source-shrunk-users'])
})

test('absent users whose delete is approved are not lost', () => {
  const ledger = approving('container-emptied', ...SOME.map((id) => ['user', id, 'leave'] as const))
  expect(codesOf(sourceShrunk, facts(70, 31, { ledger }))).toEqual([])
})

test('absent users in the grace period or with a rejection are lost', () => {
  const ledger = rejecting(...SOME.map((id) => ['user', id, 'delete'] as const))
  expect(codesOf(sourceShrunk, facts(70, 31, checkOf(rejected, { ledger })))).toEqual(['source-shrunk-users'])
  const groups = factsOf(sourceOf(ids(70), { g: [] }), directoryOf([...ids(70), ...SOME], { g: ['u000'] }), {
    states: {
      size: {
        users: 100,
        groups: 1,
      },
    },
    after: [[grace]],
    grace: {
      deleteAfter: { user: { ms: HOUR } },
      confirmAfterMs: undefined,
    },
  })
  expect(codesOf(sourceShrunk, groups)).toEqual(['source-shrunk-users'])
})
