import { expect, test } from 'vitest'
import type { FactKey, Key } from '../../../../src/core/keys.ts'
import { minSourceUsers } from '../../../../src/core/checks/min-source-users.ts'
import {
  approving,
  blocksOf,
  directoryOf,
  factsOf,
  ids,
  leftAfter,
  LIMITS,
  sourceOf,
  type Given,
} from './build.ts'

const limits = { ...LIMITS, minSourceUsers: 5 }
const facts = (users: number, given: Given = {}) =>
  factsOf(sourceOf(ids(users), { g: [] }), directoryOf(ids(users)), { limits, ...given })

test('a source of fewer users stops every change, and asks about their number', () => {
  expect(blocksOf(minSourceUsers, facts(4))).toMatchObject([
    {
      code: 'min-source-users',
      stops: 'plan',
      until: 'decision',
      keys: [],
      params: {
        users: 4,
        limit: 5,
      },
      asks: ['fact', 'source-users', '4'],
    },
  ])
  expect(leftAfter(minSourceUsers, facts(4))).toEqual([])
})

test('users that were read and cannot be used count', () => {
  const seen = { user: new Set(ids(5)), group: new Set<string>() }
  const source = sourceOf(ids(3), { g: [] }, { seen })
  expect(blocksOf(minSourceUsers, factsOf(source, directoryOf(ids(3)), { limits }))).toEqual([])
})

test.each([
  ['enough users', facts(5)],
  ['nothing to change', factsOf(sourceOf([]), directoryOf([]), { limits })],
])('%s stop nothing', (_, given) => {
  expect(blocksOf(minSourceUsers, given)).toEqual([])
})

const leftWith = (key: FactKey | Key) =>
  leftAfter(minSourceUsers, facts(4, { ledger: approving('min-source-users', key) }))

test('an approval of the number makes the plan, of another number or of a change not', () => {
  expect(leftWith(['fact', 'source-users', '4'])).toEqual(['group g create'])
  expect(leftWith(['fact', 'source-users', '3'])).toEqual([])
  expect(leftWith(['group', 'g', 'create'])).toEqual([])
})
