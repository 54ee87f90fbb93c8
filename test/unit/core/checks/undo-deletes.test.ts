import { expect, test } from 'vitest'
import { undoDeletes } from '../../../../src/core/checks/undo-deletes.ts'
import { approving, blocksOf, directoryOf, factsOf, leftAfter, sourceOf } from './build.ts'

const check = undoDeletes(4)
const source = sourceOf([{ id: 'a', name: 'Before' }])
const directory = directoryOf(['a', 'made'], { made: [] })

test('an undo that deletes stops, and names what its run created', () => {
  expect(blocksOf(check, factsOf(source, directory))).toMatchObject([
    {
      code: 'undo-deletes',
      stops: 'plan',
      until: 'decision',
      params: {
        run: 4,
        users: 1,
        groups: 1,
      },
      keys: ['user made leave', 'group made delete'],
    },
  ])
  expect(leftAfter(check, factsOf(source, directory))).toEqual([])
})

test('an approval of the deletes makes all of it, of one only that one', () => {
  const keys = [['user', 'made', 'leave'] as const, ['group', 'made', 'delete'] as const]
  const left = (some: typeof keys) =>
    leftAfter(check, factsOf(source, directory, { ledger: approving('undo-deletes', ...some) }))
  expect(left(keys)).toContain('user a name Before')
  expect(left(keys.slice(0, 1))).toEqual(['user made leave', 'user made delete'])
})

test('an undo that deletes nothing is not stopped', () => {
  const given = factsOf(sourceOf(['a', 'gone'], { g: [] }), directoryOf(['a'], { g: ['a'] }))
  expect(blocksOf(check, given)).toEqual([])
})
