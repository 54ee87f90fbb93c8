import { expect, test } from 'vitest'
import type { FactKey, Key } from '../../../../src/core/keys.ts'
import { emptyDirectory } from '../../../../src/core/checks/empty-directory.ts'
import { approving, blocksOf, directoryOf, factsOf, leftAfter, sourceOf, type Given } from './build.ts'

const states = { size: { users: 2, groups: 0 } }
const empty = directoryOf([], {}, { unprovedEmpty: ['user', 'group'] })
const facts = (given: Given = { states }) => factsOf(sourceOf(['a', 'b']), empty, given)

test('an empty list without a total, after a complete run with users, stops every change', () => {
  expect(blocksOf(emptyDirectory, facts())).toMatchObject([
    {
      code: 'empty-directory-users',
      stops: 'plan',
      until: 'decision',
      keys: [],
      params: {
        kind: 'user',
        before: 2,
      },
      asks: ['fact', 'empty-directory', 'users'],
    },
  ])
  expect(leftAfter(emptyDirectory, facts())).toEqual([])
})

test.each([
  ['before the first complete run', facts({})],
  ['where the list proves to be empty', factsOf(sourceOf(['a']), directoryOf([]), { states })],
  ['where nothing is to be changed', factsOf(sourceOf([]), empty, { states })],
])('%s, it stops nothing', (_, given) => {
  expect(blocksOf(emptyDirectory, given)).toEqual([])
})

const leftWith = (key: FactKey | Key) =>
  leftAfter(emptyDirectory, facts({ states, ledger: approving('empty-directory-users', key) }))

test('an approval of the fact fills the directory, and one of a create does not', () => {
  expect(leftWith(['fact', 'empty-directory', 'users'])).toContain('user a create')
  expect(leftWith(['user', 'a', 'create'])).toEqual([])
})
