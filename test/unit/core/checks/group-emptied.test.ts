import { describe, expect, test } from 'vitest'
import { groupEmptied } from '../../../../src/core/checks/group-emptied.ts'
import { grace } from '../../../../src/core/checks/grace.ts'
import { policy } from '../../../../src/core/checks/policy.ts'
import { recentlyDeleted } from '../../../../src/core/checks/recently-deleted.ts'
import { rejected } from '../../../../src/core/checks/rejected.ts'
import { removalsNotConfirmed } from '../../../../src/core/checks/removals-not-confirmed.ts'
import type { Check, RunFacts, States } from '../../../../src/core/checks/check.ts'
import { unreadable } from '../../../../src/core/checks/unreadable.ts'
import type { Key } from '../../../../src/core/keys.ts'
import type { SourceSnapshot } from '../../../../src/core/entries/snapshot.ts'
import {
  approving,
  BEGUN,
  blockedBy,
  blocksOf,
  directoryOf,
  ended,
  factsOf,
  type Groups,
  ids,
  leftAfter,
  listsOf,
  nextOf,
  ofKey,
  rejecting,
  sourceOf,
  statesAfter,
  type Given,
} from './build.ts'

const ALL = ids(7)
const SALES = ALL.slice(0, 5)
const OTHERS = ALL.slice(5)
type Lists = Parameters<typeof listsOf>[0]

/** A read in which everybody is in the source. */
function read(
  groups: Groups,
  lists: Lists,
  more: Partial<SourceSnapshot> & { asked?: readonly string[] } = {},
) {
  const { asked, ...others } = more
  return sourceOf(ALL, groups, { lists: listsOf(lists, asked), ...others })
}
const listing = (users: readonly string[]) => ({ member: { users } })
const minus = (group: string, users: readonly string[]) => users.map((id) => `group ${group} -member ${id}`)
const keysOf = (group: string, users: readonly string[]) =>
  users.map((id): Key => ['group', group, '-member', id])

const proofOf = (provedEmpty: boolean) => new Map([['g', { stillMembers: [], provedEmpty }]])

describe('a group that lost all of its members', () => {
  const directory = directoryOf(ALL, { g: SALES, few: SALES.slice(1) })
  const facts = (groups: Groups, given: Given = {}) => factsOf(sourceOf(ALL, groups), directory, given)
  const emptied = { g: [], few: SALES.slice(1) }

  test('keeps them where it had five', () => {
    const [block] = blocksOf(groupEmptied, facts(emptied))
    expect(block).toMatchObject({
      code: 'group-emptied',
      until: 'decision',
      keys: minus('g', SALES),
      params: {
        how: 'no-members',
        removals: 5,
        attributes: [],
      },
    })
    expect(ofKey(block, 'group', 'g', '-member', 'u000')).toMatchObject({ had: 5, dn: 'cn=g' })
  })

  test('loses them where it had four, or where one is left', () => {
    expect(blockedBy(groupEmptied, facts({ g: SALES, few: [] }))).toEqual([])
    expect(blockedBy(groupEmptied, facts({ ...emptied, g: ['u000'] }))).toEqual([])
  })

  test('loses them where another source proves it empty, and not where the recheck says nothing', () => {
    expect(blockedBy(groupEmptied, facts(emptied, { removals: proofOf(true) }))).toEqual([])
    expect(blockedBy(groupEmptied, facts(emptied, { removals: proofOf(false) }))).toHaveLength(5)
  })

  test('loses the members that an operator approved', () => {
    const ledger = approving('group-emptied', ...keysOf('g', ['u000']))
    expect(leftAfter(groupEmptied, facts(emptied, { ledger }))).toEqual(minus('g', ['u000']))
  })

  test('is no question where an operator rejected the removals', () => {
    const ledger = rejecting(...keysOf('g', SALES))
    expect(blocksOf(groupEmptied, facts(emptied, { ledger, after: [[rejected]] }))).toEqual([])
  })

  test('loses users that are absent from the source', () => {
    expect(blockedBy(groupEmptied, factsOf(sourceOf(OTHERS, { g: [] }), directory))).toEqual([])
  })
})

const groupsWith = (g: readonly string[]) => ({ g, h: ['u000'] })

describe('a group with members in two attributes', () => {
  const TWO = ['member', 'memberUid']
  const both = { member: { users: OTHERS }, memberUid: { users: SALES } }
  const elsewhere = { h: { memberUid: { users: ['u000'] } } }
  const directory = directoryOf(ALL, { g: ALL, h: ['u000'] })
  const before = factsOf(read(groupsWith(ALL), { g: both, ...elsewhere }, { asked: TWO }), directory)
  const STATES = statesAfter(groupEmptied, before)
  const factsWith = (
    g: readonly string[],
    lists: Lists,
    { asked = TWO, ...given }: Given & { asked?: readonly string[] } = {},
  ) => factsOf(read(groupsWith(g), lists, { asked }), directory, { states: STATES, ...given })
  const silent = { g: { member: { users: OTHERS } }, ...elsewhere }

  test('keeps its members where one of them shows none any more, until an approval', () => {
    expect(blocksOf(groupEmptied, factsWith(OTHERS, silent))).toMatchObject([
      { params: { how: 'not-shown', attributes: ['memberuid'], removals: 5 }, keys: minus('g', SALES) },
    ])
    const ledger = approving('group-emptied', ...keysOf('g', SALES))
    expect(leftAfter(groupEmptied, factsWith(OTHERS, silent, { ledger }))).toEqual(minus('g', SALES))
  })

  test('loses members that both attributes do without', () => {
    const shown = { g: { ...both, memberUid: { users: ['u000'] } }, ...elsewhere }
    expect(blockedBy(groupEmptied, factsWith([...OTHERS, 'u000'], shown))).toEqual([])
  })

  test('may lose few where the attribute had few', () => {
    const few = { g: { member: { users: ALL }, memberUid: { users: ['u000'] } }, ...elsewhere }
    const states = statesAfter(groupEmptied, factsOf(read(groupsWith(ALL), few, { asked: TWO }), directory))
    const rest = { g: { member: { users: ALL.slice(1) } }, ...elsewhere }
    expect(blockedBy(groupEmptied, factsWith(ALL.slice(1), rest, { states }))).toEqual([])
  })

  test.each<[string, Lists, readonly string[], string]>([
    [
      'no group shows the attribute any more',
      { g: { member: { users: ALL.slice(1) } } },
      TWO,
      'not-shown-by-any-group',
    ],
    ['the configuration does not name it any more', silent, ['MEMBER'], 'not-read'],
  ])('keeps even one where %s', (_, lists, asked, how) => {
    const facts = factsWith(ALL.slice(1), lists, { asked })
    expect(blocksOf(groupEmptied, facts)).toMatchObject([
      { params: { how, attributes: ['memberuid'], removals: 1 }, keys: minus('g', ['u000']) },
    ])
  })

  test('keeps even one where the attribute had no other user', () => {
    const one = { g: { member: { users: ALL }, memberUid: { users: ['u000'] } } }
    const states = statesAfter(groupEmptied, factsOf(read(groupsWith(ALL), one, { asked: TWO }), directory))
    const lists = { g: { member: { users: ALL.slice(1) } } }
    expect(blockedBy(groupEmptied, factsWith(ALL.slice(1), lists, { states }))).toEqual(minus('g', ['u000']))
  })

  test('keeps it there also where the group is proved empty', () => {
    const removals = new Map([['g', { stillMembers: [], provedEmpty: true }]])
    expect(blockedBy(groupEmptied, factsWith([], { g: {} }, { removals }))).toHaveLength(7)
    expect(blockedBy(groupEmptied, factsWith([], { g: {}, ...elsewhere }, { removals }))).toHaveLength(7)
    const none = { g: {}, h: { memberUid: { users: ['u000'] }, member: { users: ['u000'] } } }
    expect(blockedBy(groupEmptied, factsWith([], none, { removals }))).toEqual([])
  })

  test('where nothing is known of earlier runs, blocks nothing', () => {
    expect(blockedBy(groupEmptied, factsWith(OTHERS, silent, { states: {} }))).toEqual([])
  })
})

const aroundInner = (unresolved: readonly string[] = []) => ({
  around: { member: { users: OTHERS, nested: unresolved.length === 0 ? ['cn=inner'] : [], unresolved } },
})

describe('a group within another one', () => {
  const directory = directoryOf(ALL, { around: ALL, inner: SALES, other: ['u000'] })
  const whole = { around: ALL, inner: SALES, other: ['u000'] }
  const listsBefore = { ...aroundInner(), inner: listing(SALES), other: listing(['u000']) }
  const STATES = statesAfter(groupEmptied, factsOf(read(whole, listsBefore), directory))
  const factsWith = (groups: Groups, lists: Lists, given: Given = {}) =>
    factsOf(read(groups, lists), directory, { states: STATES, ...given })

  test('that became silent keeps its members in both', () => {
    const facts = factsWith(
      { around: OTHERS, inner: [], other: ['u000'] },
      { ...aroundInner(), inner: {}, other: listing(['u000']) },
    )
    expect(blockedBy(groupEmptied, facts)).toEqual(
      expect.arrayContaining([...minus('around', SALES), ...minus('inner', SALES)]),
    )
    expect(leftAfter(groupEmptied, facts)).toEqual([])
  })

  test('that is absent, while the one around lists a member that nobody resolves, is not deleted', () => {
    const gone = { around: OTHERS, other: ['u000'] }
    const facts = factsWith(gone, { ...aroundInner(['cn=inner']), other: listing(['u000']) })
    expect(blocksOf(groupEmptied, facts)).toMatchObject([{ params: { how: 'group-absent', removals: 5 } }])
    expect(leftAfter(groupEmptied, facts)).toEqual([])
    const ledger = approving('group-emptied', ['group', 'inner', 'delete'], ...keysOf('around', SALES))
    const decided = factsWith(gone, { ...aroundInner(['cn=inner']), other: listing(['u000']) }, { ledger })
    expect(leftAfter(groupEmptied, decided)).toEqual(['group inner delete', ...minus('around', SALES)])
  })

  test('that is absent and listed by no group any more is deleted', () => {
    const lists = { around: listing(OTHERS), other: listing(['u000']) }
    const facts = factsWith({ around: OTHERS, other: ['u000'] }, lists)
    expect(leftAfter(groupEmptied, facts)).toEqual(['group inner delete', ...minus('around', SALES)])
  })

  test('that is absent is doubted through two levels', () => {
    const top = { top: { member: { nested: ['cn=around'] } } }
    const there = directoryOf(ALL, { top: ALL, ...whole })
    const states = statesAfter(
      groupEmptied,
      factsOf(read({ top: ALL, ...whole }, { ...listsBefore, ...top }), there),
    )
    const lists = { top: { member: { unresolved: ['cn=new'] } }, other: listing(['u000']) }
    const facts = factsOf(read({ top: OTHERS, other: ['u000'] }, lists), there, { states })
    expect(blockedBy(groupEmptied, facts)).toEqual(
      expect.arrayContaining([...minus('top', SALES), 'group inner delete', 'group around delete']),
    )
  })

  test('that is absent and had fewer than five members is deleted', () => {
    const few = SALES.slice(1)
    const there = directoryOf(ALL, { around: [...few, ...OTHERS], inner: few })
    const lists = { ...aroundInner(), inner: listing(few) }
    const states = statesAfter(
      groupEmptied,
      factsOf(read({ around: ALL.slice(1), inner: few }, lists), there),
    )
    const facts = factsOf(read({ around: OTHERS }, aroundInner(['cn=inner'])), there, { states })
    expect(blockedBy(groupEmptied, facts)).toEqual([])
  })

  test('outside of the filter keeps its members in the one around', () => {
    const there = directoryOf(ALL, { around: ALL })
    const outside = {
      around: { member: { users: OTHERS, nested: ['cn=x,dc=org'] } },
      'cn=x,dc=org': listing(SALES),
    }
    const states = statesAfter(groupEmptied, factsOf(read({ around: ALL }, outside), there))
    const lists = { around: { member: { users: OTHERS, unresolved: ['cn=x,dc=org'] } } }
    expect(blockedBy(groupEmptied, factsOf(read({ around: OTHERS }, lists), there, { states }))).toEqual(
      minus('around', SALES),
    )
  })

  test('in a circle is judged once', () => {
    const circle = {
      around: { member: { users: OTHERS, nested: ['cn=inner'] } },
      inner: { member: { users: SALES, nested: ['cn=around'] } },
      other: listing(['u000']),
    }
    const all = { around: ALL, inner: ALL }
    const there = directoryOf(ALL, all)
    const states = statesAfter(groupEmptied, factsOf(read(all, circle), there))
    const now = { around: circle.around, inner: { memberUid: { nested: ['cn=around'] } } }
    const facts = factsOf(read({ around: OTHERS, inner: OTHERS }, now), there, { states })
    expect(blockedBy(groupEmptied, facts)).toEqual([...minus('around', SALES), ...minus('inner', SALES)])
  })
})

const afterTier = (facts: RunFacts, checks: readonly Check[]): RunFacts => ({
  ...facts,
  ...factsOf(facts.wanted.snapshots.source, facts.wanted.snapshots.directory, {
    states: facts.states,
    after: [checks],
  }),
})

const listsIn = (states: States) => Object.fromEntries(states.groups?.get('g')?.lists ?? [])

describe('the next run compares with', () => {
  const directory = directoryOf(ALL, { g: ALL })
  const before = listing(ALL)
  const STATES = statesAfter(groupEmptied, factsOf(read({ g: ALL }, { g: before }), directory))
  const now = (g: readonly string[], given: Given = {}, more: Partial<SourceSnapshot> = {}) =>
    factsOf(read({ g }, { g: g.length === 0 ? {} : listing(g) }, more), directory, {
      states: STATES,
      ...given,
    })

  test('the lists of the last run that applied, and of no other', () => {
    const facts = now(OTHERS)
    for (const moment of [BEGUN, ended('held'), ended('failed')])
      expect(nextOf(groupEmptied, facts, moment)).toEqual({})
    expect(listsIn(statesAfter(groupEmptied, facts))).toEqual({ member: 2 })
  })

  test('the lists as they were where its removals were blocked, and doubts them although some show again', () => {
    const states = statesAfter(groupEmptied, afterTier(now([]), [groupEmptied]))
    expect(listsIn(states)).toEqual({ member: 7 })
    const oneIsBack = now(['u000'], { states })
    expect(blockedBy(groupEmptied, oneIsBack)).toEqual(minus('g', ALL.slice(1)))
    const again = statesAfter(groupEmptied, now(['u000'], { states, after: [[groupEmptied]] }))
    expect(blockedBy(groupEmptied, now(['u000', 'u001'], { states: again }))).toEqual(
      minus('g', ALL.slice(2)),
    )
    const ledger = approving('group-emptied', ...keysOf('g', ALL.slice(1)))
    const decided = now(['u000'], { states, ledger, after: [[groupEmptied]] })
    expect(leftAfter(groupEmptied, now(['u000'], { states, ledger }))).toHaveLength(6)
    expect(listsIn(statesAfter(groupEmptied, decided))).toEqual({ member: 1 })
  })

  test('and doubts nothing any more when the group loses no member', () => {
    const states = statesAfter(groupEmptied, afterTier(now([]), [groupEmptied]))
    const back = statesAfter(groupEmptied, now(ALL, { states }))
    expect(back.groups?.get('g')?.doubted).toBeUndefined()
    expect(blockedBy(groupEmptied, now(['u000'], { states: back }))).toEqual([])
  })

  const unproved = { code: 'changing', params: { list: 'cn=g' } } as const
  const excluded = { entries: { groups: { exclude: ['g'] } } }

  test.each<[string, RunFacts]>([
    ['an entry was unreadable', now([], { after: [[unreadable]] }, { unreadable: 1 })],
    ['nothing is deleted', now([], { rules: { policy: 'upsert' }, after: [[policy]] })],
    [
      'the recheck proved no removal',
      now([], {
        removals: new Map([['g', { stillMembers: [], unproved }]]),
        after: [[removalsNotConfirmed]],
      }),
    ],
    ['the sync leaves the group out', now([], { rules: excluded })],
    ['the group was read and cannot be used', now([], {}, { groups: new Map() })],
  ])('the lists as they were, in doubt, after a run that saw none and in which %s', (_, facts) => {
    const states = statesAfter(groupEmptied, facts)
    expect(listsIn(states)).toEqual({ member: 7 })
    expect(blockedBy(groupEmptied, now(['u006'], { states }))).toEqual(minus('g', ALL.slice(0, 6)))
  })

  test.each<[string, RunFacts]>([
    ['no members are read', now([], {}, { covers: { groups: true, members: false } })],
    ['members are only reported', now([], { rules: { membership: 'report' } })],
    ['members are not compared', now([], { rules: { membership: 'off' } })],
  ])('the lists as they were after a run in which %s', (_, facts) => {
    expect(statesAfter(groupEmptied, facts)).toEqual(STATES)
  })

  test('one removal that was blocked for another reason is made when that has ended', () => {
    const removals = new Map([['g', { stillMembers: [], unproved }]])
    const states = statesAfter(groupEmptied, now(ALL.slice(1), { removals, after: [[removalsNotConfirmed]] }))
    expect(blockedBy(groupEmptied, now(ALL.slice(1), { states }))).toEqual([])
  })

  test('an absent group in its grace period as it was, and its delete is no question then', () => {
    const rule = { deleteAfter: { group: { runs: 2 } }, confirmAfterMs: undefined }
    const states = statesAfter(
      groupEmptied,
      factsOf(read({}, {}), directory, { states: STATES, grace: rule, after: [[grace]] }),
    )
    expect(blockedBy(groupEmptied, factsOf(read({}, {}), directory, { states }))).toEqual([])
  })

  test('an absent group that was not deleted, and forgets it when it was', () => {
    const facts = factsOf(read({}, {}), directory, { states: STATES })
    expect(listsIn(statesAfter(groupEmptied, facts))).toEqual({ member: 7 })
    expect(statesAfter(groupEmptied, facts, ended('applied', { group: ['g'] })).groups?.size).toBe(0)
  })

  test('an absent group whose list was in doubt is not deleted', () => {
    const states = statesAfter(groupEmptied, afterTier(now([]), [groupEmptied]))
    const facts = factsOf(read({}, {}), directory, { states })
    expect(blockedBy(groupEmptied, facts)).toEqual(['group g delete'])
    expect(blockedBy(groupEmptied, { ...facts, states: STATES })).toEqual([])
  })
})

test('groups that get members lose nothing by it', () => {
  const facts = factsOf(sourceOf(ALL, { g: ALL }), directoryOf(ALL, { g: [] }), {
    after: [[recentlyDeleted]],
  })
  expect(blocksOf(groupEmptied, facts)).toEqual([])
})
