import { expect, test } from 'vitest'
import { policy } from '../../../../src/core/checks/policy.ts'
import { approving, blocksOf, directoryOf, factsOf, leftAfter, sourceOf } from './build.ts'

const source = sourceOf([{ id: 'a', name: 'New' }, 'b', 'new'], { g: ['a', 'new'], fresh: ['a'] })
const directory = directoryOf(['a', 'b', 'gone'], { g: ['b', 'gone'], old: [] })
const CREATED = [
  'user new create',
  'group fresh create',
  'user new name Name new',
  'user new email new@example.org',
]

test('mirror blocks nothing', () => {
  expect(blocksOf(policy, factsOf(source, directory))).toEqual([])
})

test('upsert deletes no entry and removes no member, approved or not', () => {
  const ledger = approving('max-deletes-users', ['user', 'gone', 'leave'])
  const facts = factsOf(source, directory, { rules: { policy: 'upsert' }, ledger })
  expect(blocksOf(policy, facts)).toMatchObject([
    {
      code: 'policy',
      until: 'configuration',
      params: { policy: 'upsert' },
      keys: [
        'user gone leave',
        'user gone delete',
        'group old delete',
        'group g -member b',
        'group g -member gone',
      ],
    },
  ])
  expect(leftAfter(policy, facts).toSorted()).toEqual(
    [
      ...CREATED,
      'user a name New',
      'group g +member a',
      'group g +member new',
      'group fresh +member a',
    ].toSorted(),
  )
})

test('create-only changes no entry that exists: no value, no member', () => {
  const facts = factsOf(source, directory, { rules: { policy: 'create-only' } })
  expect(leftAfter(policy, facts).toSorted()).toEqual([...CREATED, 'group fresh +member a'].toSorted())
})
