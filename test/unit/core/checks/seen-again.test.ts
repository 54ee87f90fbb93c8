import { expect, test } from 'vitest'
import { seenAgain } from '../../../../src/core/checks/seen-again.ts'
import { NO_RECHECKS } from '../../../../src/core/checks/check.ts'
import { grace } from '../../../../src/core/checks/grace.ts'
import { approving, blockedBy, blocksOf, directoryOf, factsOf, HOUR, leftAfter, sourceOf } from './build.ts'

const source = sourceOf(['a'], { g: [] })
const directory = directoryOf(['a', 'x', 'y'], { g: ['a', 'x', 'y'], old: [] })
const still = (...members: readonly string[]) => new Map([['g', { stillMembers: members }]])

test('an entry that the recheck found is not deleted and keeps its memberships, approved or not', () => {
  const ledger = approving('first-contact', ['user', 'x', 'leave'], ['group', 'old', 'delete'])
  const found = { user: { x: 'present' }, group: { old: 'present' } } as const
  const facts = factsOf(source, directory, { found, ledger })
  expect(blocksOf(seenAgain, facts)).toMatchObject([
    { code: 'seen-again', until: 'read', keys: ['user x leave', 'group old delete'] },
  ])
  expect(leftAfter(seenAgain, facts)).toEqual([
    'user y leave',
    'user y delete',
    'group g -member a',
    'group g -member y',
  ])
})

test.each(['absent', 'out-of-scope', 'disabled'] as const)('an entry that is %s is deleted', (state) => {
  const found = { user: { x: state, y: state }, group: { old: state } }
  expect(blocksOf(seenAgain, factsOf(source, directory, { found }))).toEqual([])
})

test('an absent entry that was not rechecked is not deleted', () => {
  const facts = { ...factsOf(source, directory), rechecks: NO_RECHECKS }
  expect(blockedBy(seenAgain, facts)).toEqual(['user x leave', 'user y leave', 'group old delete'])
})

test('a user in the grace period that was found again keeps its memberships', () => {
  const rule = { deleteAfter: { user: { ms: HOUR } }, confirmAfterMs: undefined }
  const facts = factsOf(source, directory, {
    grace: rule,
    found: { user: { x: 'present' } },
    after: [[grace]],
  })
  expect(blockedBy(seenAgain, facts)).toEqual(['user x leave'])
})

test('a user that the recheck found in a group stays its member, and the others leave', () => {
  const facts = factsOf(sourceOf(['a', 'x', 'y'], { g: [] }), directory, { removals: still('x') })
  expect(blockedBy(seenAgain, facts)).toEqual(['group g -member x'])
  expect(leftAfter(seenAgain, facts)).toEqual(['group old delete', 'group g -member a', 'group g -member y'])
})

test('a user that is deleted, or that the group keeps, is not named as its member', () => {
  const facts = factsOf(source, directory, { removals: still('x', 'new') })
  expect(blockedBy(seenAgain, facts)).toEqual([])
})
