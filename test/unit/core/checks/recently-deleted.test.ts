import { expect, test } from 'vitest'
import { recentlyDeleted } from '../../../../src/core/checks/recently-deleted.ts'
import { approving, blocksOf, directoryOf, factsOf, leftAfter, sourceOf } from './build.ts'

const source = sourceOf(['back', 'new'], { g: ['back', 'new'], oldg: [] })
const directory = directoryOf([], { g: [] })
const journal = {
  unapproved: { users: 0, groups: 0, memberships: 0 },
  deleted: { user: new Set(['back']), group: new Set(['oldg']) },
}

test('what this sync deleted within a day is not created again, and joins no group', () => {
  const facts = factsOf(source, directory, { journal })
  expect(blocksOf(recentlyDeleted, facts)).toMatchObject([
    { code: 'recently-deleted', until: 'time', keys: ['user back create', 'group oldg create'] },
  ])
  expect(leftAfter(recentlyDeleted, facts)).toEqual([
    'user new create',
    'user new name Name new',
    'user new email new@example.org',
    'group g +member new',
  ])
})

test('an approval creates it with its values and memberships', () => {
  const ledger = approving('recently-deleted', ['user', 'back', 'create'])
  const left = leftAfter(recentlyDeleted, factsOf(source, directory, { journal, ledger }))
  expect(left).toEqual(expect.arrayContaining(['user back create', 'group g +member back']))
  expect(left).not.toContain('group oldg create')
})

test('blocks nothing of a source whose servers cannot lag', () => {
  expect(blocksOf(recentlyDeleted, factsOf(source, directory))).toEqual([])
})
