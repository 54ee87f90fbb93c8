import { describe, expect, test } from 'vitest'
import { firstContact } from '../../../../src/core/checks/first-contact.ts'
import { grace } from '../../../../src/core/checks/grace.ts'
import { protect } from '../../../../src/core/checks/protected.ts'
import { seenAgain } from '../../../../src/core/checks/seen-again.ts'
import {
  approving,
  BEGUN,
  blocksOf,
  directoryOf,
  ended,
  factsOf,
  HOUR,
  ids,
  leftAfter,
  nextOf,
  sourceOf,
  type Given,
} from './build.ts'

const source = sourceOf(ids(9), { g: ids(9) })
const facts = (users: readonly string[], groups: Record<string, readonly string[]> = {}, given: Given = {}) =>
  factsOf(source, directoryOf([...ids(9), ...users], { g: ids(9), ...groups }), given)
const IN_GRACE: Given = {
  grace: {
    deleteAfter: { user: { ms: HOUR } },
    confirmAfterMs: undefined,
  },
  after: [[grace]],
}

describe('on a directory that this sync has not completed a run on', () => {
  test.each([
    ['a deleted user', facts(['x']), ['user x leave'], { users: 1, groups: 0, memberships: 0 }],
    [
      'a deleted group',
      facts([], { old: [] }),
      ['group old delete'],
      { users: 0, groups: 1, memberships: 0 },
    ],
    [
      'a member that leaves',
      factsOf(sourceOf(['a'], { g: [] }), directoryOf(['a'], { g: ['a'] })),
      ['group g -member a'],
      { users: 0, groups: 0, memberships: 1 },
    ],
  ])('%s stops the plan', (_, given, keys, deletes) => {
    expect(blocksOf(firstContact, given)).toMatchObject([
      { code: 'first-contact', stops: 'plan', until: 'decision', params: { deletes, later: 0 }, keys },
    ])
    expect(leftAfter(firstContact, given)).toEqual([])
  })

  test('deletes of later runs count: those in the grace period, and of users found again', () => {
    const [block] = blocksOf(firstContact, facts(['x'], {}, IN_GRACE))
    expect(block).toMatchObject({ params: { deletes: { users: 0 }, later: 1 }, keys: ['user x leave'] })
    const again: Given = { found: { user: { x: 'present' } }, after: [[seenAgain]] }
    expect(blocksOf(firstContact, facts(['x'], {}, again))).toMatchObject([{ params: { later: 1 } }])
  })

  test('a protected user does not count', () => {
    const rules = { entries: { users: { protected: ['x'] } } }
    expect(blocksOf(firstContact, facts(['x'], {}, { rules, after: [[protect]] }))).toEqual([])
  })

  test('an empty directory is filled', () => {
    expect(blocksOf(firstContact, factsOf(source, directoryOf([])))).toEqual([])
  })

  test('an approval of all deletes makes the plan, with a newcomer', () => {
    const ledger = approving('first-contact', ['user', 'x', 'leave'])
    const given = factsOf(sourceOf([...ids(9), 'new']), directoryOf([...ids(9), 'x']), { ledger })
    expect(leftAfter(firstContact, given)).toEqual(
      expect.arrayContaining(['user x delete', 'user new create']),
    )
  })
})

test('after a complete run, deletes are free', () => {
  expect(blocksOf(firstContact, facts(['x'], {}, { states: { size: { users: 9, groups: 1 } } }))).toEqual([])
})

const sizeOf = (given: ReturnType<typeof facts>, moment = ended('applied')) =>
  nextOf(firstContact, given, moment).size

describe('the size of the source', () => {
  test('is kept by a run that applied, and by no other', () => {
    expect(sizeOf(facts([]))).toEqual({ users: 9, groups: 1 })
    for (const moment of [BEGUN, ended('held'), ended('failed')])
      expect(sizeOf(facts([]), moment)).toBeUndefined()
  })

  test('shrinks by what a run deleted of a stopped plan, because an operator approved it', () => {
    const given = facts(['x'], {}, { states: { size: { users: 10, groups: 1 } } })
    expect(sizeOf(given, ended('held', { user: ['x'] }))).toEqual({ users: 9, groups: 1 })
  })

  test('counts absent entries that were not deleted yet, so that the source does not look smaller', () => {
    expect(sizeOf(facts(['x'], { old: [] }, IN_GRACE))).toEqual({ users: 10, groups: 2 })
    expect(sizeOf(facts(['x']), ended('applied', { user: ['x'] }))).toEqual({ users: 9, groups: 1 })
  })

  test('counts no entry that stays for another reason', () => {
    const rules = { entries: { users: { protected: ['x'] } } }
    expect(sizeOf(facts(['x'], {}, { rules, after: [[protect]] }))).toEqual({ users: 9, groups: 1 })
  })
})
