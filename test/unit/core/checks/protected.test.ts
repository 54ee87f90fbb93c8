import { expect, test } from 'vitest'
import { protect } from '../../../../src/core/checks/protected.ts'
import { approving, blocksOf, directoryOf, factsOf, leftAfter, sourceOf } from './build.ts'

const source = sourceOf([{ id: 'a', name: 'New' }], { g: [] })
const directory = directoryOf(['a', 'admin', 'gone'], { g: ['admin', 'gone'], board: [] })
const rules = {
  entries: { users: { protected: ['a*'] }, groups: { protected: ['board'] } },
}

test('a protected entry is not deleted and keeps its memberships, approved or not', () => {
  const ledger = approving('max-deletes-users', ['user', 'admin', 'leave'], ['group', 'board', 'delete'])
  const facts = factsOf(source, directory, { rules, ledger })
  expect(blocksOf(protect, facts)).toMatchObject([
    { code: 'protected', until: 'configuration', keys: ['user admin leave', 'group board delete'] },
  ])
  expect(leftAfter(protect, facts)).toEqual([
    'user gone leave',
    'user gone delete',
    'user a name New',
    'group g -member gone',
  ])
})

test('a protected user that is in the source may lose a membership', () => {
  const facts = factsOf(sourceOf(['admin'], { g: [] }), directoryOf(['admin'], { g: ['admin'] }), { rules })
  expect(blocksOf(protect, facts)).toEqual([])
  expect(leftAfter(protect, facts)).toEqual(['group g -member admin'])
})
