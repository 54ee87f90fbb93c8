import { expect, test } from 'vitest'
import { examplesOf } from '../../../src/core/notice.ts'
import { Collector } from '../../../src/source/collect.ts'
import { countSource, findingsOf, percent } from '../../../src/source/statistics.ts'

const MAPPED = { email: true, name: true }

function user(id: string, email?: string, name?: string) {
  return { ids: [id], idName: 'id', from: `row ${id}`, email, name, employeeId: undefined }
}

test('a source without faults has counts and no findings', () => {
  const collector = new Collector()
  collector.addUser(user('1', 'a@x', 'A'))
  collector.addUser(user('2', 'b@x', 'B'))
  collector.addGroup({
    ids: ['g'],
    idName: 'id',
    from: 'row g',
    name: 'G',
    members: ['1', '2'],
    unknownMembers: [],
  })
  collector.addGroup({ ids: ['h'], idName: 'id', from: 'row h', name: 'H', members: [], unknownMembers: [] })
  const snapshot = collector.snapshot()
  expect(countSource(snapshot)).toEqual({
    users: 2,
    groups: 2,
    memberships: 2,
    usersWithEmail: 2,
    usersWithName: 2,
    usersWithEmployeeId: 0,
    groupsWithoutMembers: 1,
  })
  expect(findingsOf(snapshot, MAPPED)).toEqual([])
})

test('everything that is worth a look is found, the worst first', () => {
  const collector = new Collector()
  for (let each = 0; each < 98; each += 1) collector.addUser(user(`u${each}`, `u${each}@x`, 'N'))
  collector.addUser(user('n1', ' U1@X ', 'N'))
  collector.addUser(user('n2', undefined, undefined))
  collector.addUser({ ...user('twice'), from: 'row 7' })
  collector.addUser({ ...user('twice'), from: 'row 8' })
  collector.addUnreadable('user', { from: 'row 9', fault: 'does not parse' })
  collector.addGroup({
    ids: ['g'],
    idName: 'id',
    from: 'row g',
    name: 'G',
    members: [],
    unknownMembers: ['x'],
  })
  collector.addGroup({
    ids: ['h'],
    idName: 'id',
    from: 'row h',
    name: undefined,
    members: [],
    unknownMembers: [],
  })
  const findings = findingsOf(collector.snapshot(), MAPPED)
  expect(findings.map(({ code, count, sentence }) => [code, count, sentence])).toEqual([
    ['unreadable', 1, '1 entry cannot be understood; until that is corrected, nothing is deleted'],
    ['duplicate-id', 1, '1 id is used more than once, by 2 entries in all; all of them are skipped'],
    ['no-email', 1, 'no e-mail: 1 % (1 of 100 users)'],
    ['duplicate-email', 1, '1 e-mail address is used by more than one user, 2 users in all'],
    ['no-name', 1, 'no name: 1 % (1 of 100 users)'],
    ['unknown-members', 1, '1 group has members that are no users of this sync; those are left out'],
    ['no-name', 1, '1 group has no name and is left out'],
  ])
  expect(findings.find(({ code }) => code === 'duplicate-email')?.examples).toEqual(['u1@x'])
  expect(findings.find(({ code }) => code === 'no-email')?.examples).toEqual(['n2'])
})

test('nobody is the worst, and what is not mapped is not missed', () => {
  const empty = new Collector()
  expect(findingsOf(empty.snapshot(), MAPPED).map(({ code }) => code)).toEqual(['nobody'])
  const bare = new Collector()
  bare.addUser(user('1'))
  expect(findingsOf(bare.snapshot(), { email: false, name: false })).toEqual([])
  const [finding] = findingsOf(bare.snapshot(), { email: true, name: false })
  expect(finding?.sentence).toBe('no e-mail: 100 % (1 of 1 user); check the mapping and the read permission')
})

test('disabled accounts and values that failed are said in words', () => {
  const collector = new Collector()
  collector.addUser({ ...user('1', 'a@x', 'A'), faults: ['users.map.email: too long'] })
  for (const id of ['2', '3'])
    collector.addDisabled({ ids: [id], idName: 'id', from: `row ${id}`, gone: false })
  expect(
    findingsOf(collector.snapshot(), MAPPED)
      .map(({ sentence }) => sentence)
      .toSorted(),
  ).toEqual([
    '1 entry with a value that the mapping could not compute',
    '2 entries that cannot log in: not created, and else as users.disabled says',
  ])
})

test('no sentence names anybody', () => {
  const collector = new Collector()
  collector.addUser(user('secret-1'))
  collector.addUser({ ...user('secret-2', 'secret@x'), from: 'secret 1' })
  collector.addUser({ ...user('secret-2', 'secret@x'), from: 'secret 2' })
  collector.addUser(user('a', 'secret@x', 'A'))
  collector.addUser(user('b', 'secret@x', 'B'))
  collector.addUnreadable('group', { from: 'secret row', fault: 'secret' })
  collector.addMembersOfUnknownGroup('secret', ['secret member'])
  for (const { sentence } of findingsOf(collector.snapshot(), MAPPED))
    expect(sentence).not.toContain('secret')
})

test.each([
  [0, 10, '0 %'],
  [1, 1000, 'under 1 %'],
  [12, 100, '12 %'],
  [999, 1000, 'over 99 %'],
  [10, 10, '100 %'],
])('%i of %i is %s', (part, whole, share) => {
  expect(percent(part, whole)).toBe(share)
})

test('groups whose members are hidden are counted', () => {
  const collector = new Collector()
  collector.addUser(user('1', 'a@x', 'A'))
  const why = { why: 'global-catalog', isOwn: true, groups: examplesOf([]) } as const
  collector.addGroupWithUnknownMembers({ ids: ['g'], idName: 'id', from: 'cn=g', why })
  const sentences = () => findingsOf(collector.snapshot(), MAPPED).map(({ sentence }) => sentence)
  expect(sentences()).toEqual(['1 group is left as it is: this server does not have all of its members'])
  collector.addGroupWithUnknownMembers({ ids: ['h'], idName: 'id', from: 'cn=h', why })
  expect(sentences()).toEqual([
    '2 groups are left as they are: this server does not have all of their members',
  ])
  expect(new Set(collector.snapshot().seen.group)).toEqual(new Set(['g', 'h']))
})
