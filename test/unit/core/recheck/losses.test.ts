import { describe, expect, test } from 'vitest'
import type { EntryNow, GroupNow, Recheck } from '../../../../src/core/entries/recheck.ts'
import { atOnce, forEachInSteps } from '../../../../src/base/steps.ts'
import { judgeLoss } from '../../../../src/core/recheck/judge-loss.ts'
import { MembersNow } from '../../../../src/core/recheck/members-now.ts'
import { listsOf, sourceOf, wantGroup, wantUser } from '../diff/build.ts'

/** Users by the DNs that they had in the first read, in lower case. */
const FIRST: Readonly<Record<string, string>> = { 'cn=ann': 'ann', 'cn=bob': 'bob', 'cn=cid': 'cid' }

/** The first read: the group g has these members, and lists these DNs besides. */
type Before = MembersNow['before']

const MOST_UNKNOWN = 1000

function before(members: readonly string[], unresolved: readonly string[] = []): Before {
  const users = Object.values(FIRST).map((id) => wantUser(id))
  return {
    ...sourceOf(users, [wantGroup('g', 'G', members)]),
    lists: listsOf({ g: { unresolved } }, { isFlat: false }),
    names: {
      prepare: () => forEachInSteps([], () => undefined),
      idOf: (name) => FIRST[name.toLowerCase()],
      dnOf: (name) => (name.includes('=') ? name.toLowerCase() : undefined),
    },
  }
}

const NOTHING = { uids: [], memberOf: [], primaryGroup: undefined }

function userNow(id: string, dn = `CN=${id}`, more: Partial<EntryNow> = {}): Recheck {
  const ids = { user: [id], group: [] }
  const entry = { dn, normalDn: dn.toLowerCase(), ids, group: undefined, ...NOTHING, ...more }
  return { state: 'present', entries: [entry] }
}

function groupNow(members: readonly string[], more: Partial<GroupNow> = {}): Recheck {
  const list = { attribute: 'member', isShown: members.length > 0, isOfNames: false, members }
  const told = { primaryNames: [], chained: [], whyUnknown: undefined, demanded: undefined }
  const group = { lists: [list], ...told, isMemberOfShown: false, ...more }
  const entry = { dn: 'CN=G', normalDn: 'cn=g', ids: { user: [], group: ['g'] }, group, ...NOTHING }
  return { state: 'present', entries: [entry] }
}

/** Judges the group by what the second read shows; nothing is at the DNs that are looked up. */
function look(first: Before, group: Recheck, users: Readonly<Record<string, Recheck>>) {
  const user = new Map(Object.entries(users))
  const now = new MembersNow(first, { user, group: new Map([['g', group]]) })
  const asked = atOnce(now.unknown())
  now.take(asked, new Map())
  const losing = { id: 'g', lost: [...user.keys()], entries: group.entries ?? [], wasRenamed: false }
  return { asked, ...atOnce(judgeLoss(losing, now, atOnce(now.listed()))) }
}

test('a DN that a lost user has now is of that user, however it is spelled, and not of the one before', () => {
  const { stillMembers } = look(before([]), groupNow(['CN=Ann']), {
    ann: userNow('ann', 'CN=Anna'),
    cid: userNow('cid', 'cn=ANN'),
  })
  expect(stillMembers).toEqual(['cid'])
})

test('who was renamed twice is perhaps listed by the name in between, which the first read had resolved to nobody', () => {
  const { asked, stillMembers, unproved } = look(before([], ['cn=anna']), groupNow(['CN=Anna']), {
    ann: userNow('ann', 'CN=Annette'),
  })
  expect(asked).toEqual(['cn=anna'])
  expect(stillMembers).toEqual([])
  expect(unproved).toEqual({ code: 'unresolved', params: { group: 'CN=G', list: 'CN=G', member: 'cn=anna' } })
})

test('who left a group is not listed by a name of earlier times', () => {
  const { asked, unproved } = look(before(['bob'], ['cn=old']), groupNow(['CN=Bob', 'CN=Old']), {
    ann: userNow('ann'),
  })
  expect([asked, unproved]).toEqual([[], undefined])
})

test('a list that lost others since the first read proves nothing', () => {
  expect(look(before(['bob']), groupNow(['CN=Cid']), { ann: userNow('ann') })).toMatchObject({
    stillMembers: [],
    unproved: { code: 'more-removed', params: { group: 'CN=G', members: 1 } },
  })
})

describe('a DN that the first read did not have', () => {
  const members = ['CN=Bob', 'CN=Old', 'CN=New']

  test('is looked up, and proves nothing where the server does not show it', () => {
    const { asked, unproved } = look(before(['bob'], ['cn=old']), groupNow(members), { ann: userNow('ann') })
    expect(asked).toEqual(['cn=new'])
    expect(unproved).toEqual({
      code: 'unresolved',
      params: { group: 'CN=G', list: 'CN=G', member: 'cn=new' },
    })
  })

  test('was perhaps there before, where a lost user is found nowhere', () => {
    const { asked } = look(before(['bob'], ['cn=old']), groupNow(members), { ann: { state: 'absent' } })
    expect(asked).toEqual(['cn=old', 'cn=new'])
  })

  test('proves nothing among too many', () => {
    const many = Array.from({ length: MOST_UNKNOWN + 1 }, (_, index) => `cn=${index},dc=x`)
    const { asked, unproved } = look(before([]), groupNow(many), { ann: userNow('ann') })
    expect(asked).toHaveLength(MOST_UNKNOWN)
    expect(unproved?.code).toBe('unresolved')
    const without = look(before([], many), groupNow(many), { ann: { state: 'absent' } })
    expect(without.unproved?.code).toBe('too-many-unresolved')
  })
})

describe('a list that shows nobody', () => {
  test.each<[string, Partial<GroupNow>, Partial<EntryNow>, object]>([
    [
      'proves nothing where the schema demands members',
      { demanded: 'member' },
      {},
      { unproved: { code: 'attribute-required' } },
    ],
    [
      'proves nothing where a lost user names it',
      {},
      { memberOf: ['cn=g'] },
      { unproved: { code: 'member-of' } },
    ],
    ['is empty where lost users name others', {}, { memberOf: ['cn=h'] }, { provedEmpty: true }],
    ['is empty where users show what they are in', { isMemberOfShown: true }, {}, { provedEmpty: true }],
    ['is perhaps hidden where none does', {}, {}, { provedEmpty: false }],
  ])('%s', (_, group, user, expected) => {
    const found = look(before([]), groupNow([], group), { ann: userNow('ann', 'CN=Ann', user) })
    expect(found).toMatchObject({ stillMembers: [], ...expected })
  })
})
