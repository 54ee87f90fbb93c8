import { expect, test } from 'vitest'
import { removalsNotConfirmed } from '../../../../src/core/checks/removals-not-confirmed.ts'
import type { Rechecks } from '../../../../src/core/checks/check.ts'
import { examplesOf } from '../../../../src/core/notice.ts'
import { approving, blockedBy, blocksOf, directoryOf, factsOf, leftAfter, ofKey, sourceOf } from './build.ts'

const CHANGING = { code: 'changing', params: { list: 'cn=g' } } as const
const NO_UID = { code: 'no-uid', params: { group: 'cn=g', users: examplesOf(['a']) } } as const
const source = sourceOf(['a', 'b', 'new'], { g: ['new'], h: [] })
const directory = directoryOf(['a', 'b', 'gone'], { g: ['a', 'b', 'gone'], h: ['a'] })
const found = (removals: Rechecks['removals']) => factsOf(source, directory, { removals })
const all = new Map([['g', { stillMembers: [], unproved: CHANGING }]])

test('a group keeps the members whose removal the recheck did not prove, and gets its new ones', () => {
  const [block] = blocksOf(removalsNotConfirmed, found(all))
  expect(block).toMatchObject({ code: 'removals-not-confirmed', until: 'time' })
  expect(block?.keys).toEqual(['group g -member a', 'group g -member b'])
  expect(ofKey(block, 'group', 'g', '-member', 'a')).toEqual(CHANGING)
  expect(leftAfter(removalsNotConfirmed, found(all))).toContain('group g +member new')
})

test('an absent user leaves it, and other groups lose their members', () => {
  const left = leftAfter(removalsNotConfirmed, found(all))
  expect(left).toEqual(expect.arrayContaining(['group g -member gone', 'group h -member a']))
})

test('where only some removals are not proved, the others are made', () => {
  const some = new Map([['g', { stillMembers: [], unproved: NO_UID, unprovedMembers: ['a'] }]])
  expect(blockedBy(removalsNotConfirmed, found(some))).toEqual(['group g -member a'])
})

test('a group of few members, too, keeps them where its list cannot be read', () => {
  const params = { group: 'cn=h', list: 'cn=h', attribute: 'member' }
  const hidden = { code: 'attribute-required', params } as const
  const one = new Map([['h', { stillMembers: [], unproved: hidden }]])
  expect(blockedBy(removalsNotConfirmed, found(one))).toEqual(['group h -member a'])
})

test('an approval removes the member that it names', () => {
  const ledger = approving('removals-not-confirmed', ['group', 'g', '-member', 'a'])
  const left = leftAfter(removalsNotConfirmed, factsOf(source, directory, { removals: all, ledger }))
  expect(left).toContain('group g -member a')
  expect(left).not.toContain('group g -member b')
})

test('blocks nothing where the recheck proved every removal', () => {
  expect(blockedBy(removalsNotConfirmed, found(new Map([['g', { stillMembers: [] }]])))).toEqual([])
})
