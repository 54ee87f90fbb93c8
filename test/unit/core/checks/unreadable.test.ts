import { expect, test } from 'vitest'
import { unreadable } from '../../../../src/core/checks/unreadable.ts'
import { approving, blocksOf, directoryOf, factsOf, leftAfter, sourceOf } from './build.ts'

const directory = directoryOf(['a', 'b', 'gone'], { g: ['b', 'gone'], old: [] })
const sourceWith = (entries: number) =>
  sourceOf([{ id: 'a', name: 'New' }, 'b', 'new'], { g: ['new'] }, { unreadable: entries })

test('an entry without a readable id blocks every delete and every removal, approved or not', () => {
  const ledger = approving('max-deletes-users', ['user', 'gone', 'leave'], ['group', 'g', '-member', 'b'])
  const facts = factsOf(sourceWith(2), directory, { ledger })
  expect(blocksOf(unreadable, facts)).toMatchObject([
    {
      code: 'unreadable',
      until: 'read',
      params: { entries: 2 },
      keys: [
        'user gone leave',
        'user gone delete',
        'group old delete',
        'group g -member b',
        'group g -member gone',
      ],
    },
  ])
  expect(leftAfter(unreadable, facts)).toEqual([
    'user new create',
    'user a name New',
    'user new name Name new',
    'user new email new@example.org',
    'group g +member new',
  ])
})

test('blocks nothing where every entry is readable', () => {
  expect(blocksOf(unreadable, factsOf(sourceWith(0), directory))).toEqual([])
})
