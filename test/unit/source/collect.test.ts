import fc from 'fast-check'
import { expect, test } from 'vitest'
import { examplesOf } from '../../../src/core/notice.ts'
import { Collector, type GroupCandidate, type UserCandidate } from '../../../src/source/collect.ts'

function user(id: string, from: string, more: Partial<UserCandidate> = {}): UserCandidate {
  return { ids: [id], idName: 'uid', from, email: undefined, name: undefined, employeeId: undefined, ...more }
}

function group(id: string, from: string, more: Partial<GroupCandidate> = {}): GroupCandidate {
  return { ids: [id], idName: 'cn', from, name: 'Team', members: [], unknownMembers: [], ...more }
}

/** What comes back, or the sentence of the refusal. */
function outcomeOf<T>(make: () => T): T | string {
  try {
    return make()
  } catch (error) {
    return String(error)
  }
}

function codesOf(collector: Collector): string[] {
  return snapshotOf(collector).notices.map(({ kind, id, code }) => `${kind} ${id ?? '-'} ${code}`)
}

/** With sets and maps, which can be compared. */
function snapshotOf(collector: Collector) {
  const snapshot = collector.snapshot()
  const { user: users, group: groups } = snapshot.seen
  return {
    ...snapshot,
    users: new Map(snapshot.users),
    seen: { user: new Set(users), group: new Set(groups) },
  }
}

test('an entry is taken as it is', () => {
  const collector = new Collector()
  expect(collector.addUser(user('1', 'uid=a', { email: 'a@x', name: 'A' }))).toEqual({ id: '1', row: 0 })
  const snapshot = snapshotOf(collector)
  expect(snapshot.users.get('1')).toEqual({
    id: '1',
    email: 'a@x',
    name: 'A',
    employeeId: undefined,
    from: 'uid=a',
  })
  expect(snapshot.seen.user).toEqual(new Set(['1']))
  expect(snapshot).toMatchObject({ unreadable: 0, notices: [] })
})

function failed(id: string, from: string, fault: string) {
  return { id, code: 'value-failed', params: { from, fault } }
}

test('a value with a control character is named and not taken; line breaks and tabs of a name are', () => {
  const collector = new Collector()
  collector.addUser(user('1', 'uid=a', { email: 'a\u0007@x', name: 'A\u001b[2J', employeeId: '7\u007f' }))
  collector.addUser(user('2', 'uid=b', { email: 'b@x', name: 'B\tC\r\nD\u0085' }))
  expect(collector.addGroup(group('g', 'cn=g', { name: 'Te\u0001am' }))).toBe('g')
  collector.addUser(user('3', 'uid=c', { email: 'c\r\n@x', name: 'C' }))
  const { users, groups, seen, notices, unreadable } = snapshotOf(collector)
  expect(users.get('1')).toMatchObject({ email: undefined, name: undefined, employeeId: undefined })
  expect(users.get('2')).toMatchObject({ email: 'b@x', name: 'B\tC\r\nD\u0085' })
  expect([...groups.keys(), ...seen.group]).toEqual(['g'])
  expect(unreadable).toBe(0)
  expect(notices).toMatchObject([
    failed('1', 'uid=a', 'the e-mail holds the control character U+0007'),
    failed('1', 'uid=a', 'the employee id holds the control character U+007F'),
    failed('1', 'uid=a', 'the name holds the control character U+001B'),
    failed('3', 'uid=c', 'the e-mail holds the control character U+000D'),
    { id: 'g', code: 'no-name', params: { from: 'cn=g' } },
    failed('g', 'cn=g', 'the name holds the control character U+0001'),
  ])
})

function duplicate(from: string, ...others: readonly string[]) {
  return { from, others: examplesOf(others) }
}

test('all entries that share an id are skipped, named and seen', () => {
  const collector = new Collector()
  for (const from of ['uid=a', 'uid=b', 'uid=c']) expect(collector.addUser(user('1', from))?.id).toBe('1')
  collector.addUser(user('2', 'uid=d'))
  const snapshot = snapshotOf(collector)
  expect([...snapshot.users.keys()]).toEqual(['2'])
  expect(snapshot.seen.user).toEqual(new Set(['1', '2']))
  expect(snapshot.unreadable).toBe(0)
  expect(snapshot.notices.map(({ params }) => params)).toEqual([
    duplicate('uid=a', 'uid=b', 'uid=c'),
    duplicate('uid=b', 'uid=a', 'uid=c'),
    duplicate('uid=c', 'uid=a', 'uid=b'),
  ])
})

test('where no entry of a kind has an id, the read is refused: the configuration is wrong, or the reader', () => {
  const collector = new Collector()
  for (const from of ['uid=a', 'uid=b']) collector.addUser(user('', from, { ids: [] }))
  expect(() => snapshotOf(collector)).toThrow(
    'none of the 2 users has an id (external_id is "uid"); check users.map.external_id and the read permission',
  )
  collector.addUser(user('1', 'uid=c'))
  expect(snapshotOf(collector)).toMatchObject({ unreadable: 2 })
  for (const from of ['cn=a', 'cn=b']) collector.addGroup(group('', from, { ids: [] }))
  expect(() => snapshotOf(collector)).toThrow('none of the 2 groups has an id (external_id is "cn")')
})

test('ids differ by case, blanks and Unicode form', () => {
  const collector = new Collector()
  for (const id of ['a', 'A', 'a ', '\u00e9', 'e\u0301']) collector.addUser(user(id, `uid=${id}`))
  expect(snapshotOf(collector).users.size).toBe(5)
})

test('an entry that the server sends twice is one entry', () => {
  const collector = new Collector()
  collector.addUser(user('1', 'uid=a', { name: 'Ana' }))
  collector.addUser(user('1', 'uid=a', { name: 'Ana' }))
  collector.addGroup(group('g', 'cn=g', { name: undefined, members: [], unknownMembers: [] }))
  collector.addGroup(group('g', 'cn=g', { name: undefined, members: [], unknownMembers: [] }))
  expect(codesOf(collector)).toEqual(['group g no-name'])
  expect(snapshotOf(collector).users.get('1')?.name).toBe('Ana')
})

test('an entry that changed between two readings of it is left alone, and seen', () => {
  const collector = new Collector()
  collector.addUser(user('1', 'uid=a', { name: 'before' }))
  collector.addUser(user('1', 'uid=a', { name: 'after' }))
  const { users, seen, notices, unreadable } = snapshotOf(collector)
  expect([users.size, seen.user.has('1'), unreadable]).toEqual([0, true, 0])
  const params = { from: 'uid=a', others: examplesOf([]) }
  expect(notices).toEqual([{ kind: 'user', id: '1', code: 'duplicate-id', params }])
})

test('the order of reading changes nothing, notices included', () => {
  const id = fc.constantFrom('1', '2', '3', '', '..', 'a\nb')
  const place = fc.constantFrom('p1', 'p2', 'p3')
  const users = fc.record({
    kind: fc.constant('user' as const),
    entry: fc
      .record({ ids: fc.array(id, { maxLength: 2 }), place, name: fc.constantFrom(undefined, 'Ana', 'Bo') })
      .map(({ ids, place: from, name }) => user('', from, { ids, name })),
  })
  const groups = fc.record({
    kind: fc.constant('group' as const),
    entry: fc
      .record({
        ids: fc.array(id, { maxLength: 2 }),
        place,
        name: fc.constantFrom(undefined, 'Team'),
        members: fc.subarray(['1', '2', '3']),
        unknownMembers: fc.subarray(['s', 't', 'u', 'v', 'w']),
      })
      .map(({ ids, place: from, ...more }) => group('', from, { ids, ...more })),
  })
  const disabled = fc.record({
    kind: fc.constant('disabled' as const),
    entry: fc.record({
      ids: fc.array(id, { maxLength: 2 }),
      idName: fc.constant('uid'),
      from: place,
      gone: fc.boolean(),
    }),
  })
  const reading = fc
    .array(fc.oneof(users, groups, disabled), { maxLength: 12 })
    .chain((one) => fc.tuple(fc.constant(one), fc.shuffledSubarray(one, { minLength: one.length })))
  fc.assert(
    fc.property(reading, ([one, other]) => {
      const read = (list: typeof one) => {
        const collector = new Collector()
        for (const each of list) {
          if (each.kind === 'user') collector.addUser(each.entry)
          else if (each.kind === 'disabled') collector.addDisabled(each.entry)
          else collector.addGroup(each.entry)
        }
        return outcomeOf(() => snapshotOf(collector))
      }
      expect(read(other)).toEqual(read(one))
    }),
  )
})

test.each([
  ['no id', [], 'there is no id'],
  ['two ids', ['1', '2'], 'there are 2 ids instead of one'],
  ['an empty id', [''], 'the id is empty'],
  ['an id that leaves its path', ['..'], 'the id ".." cannot be part of a URL path'],
  ['an id with a line break', ['a\nb'], 'the id "a\\nb" holds a control character'],
  ['an id of half a character', ['\ud800'], 'the id is not well-formed Unicode'],
])('an entry with %s is unreadable, and what it may be is seen', (_, ids, problem) => {
  const collector = new Collector()
  expect(collector.addUser(user('', 'uid=a', { ids }))).toBeUndefined()
  const snapshot = snapshotOf(collector)
  expect(snapshot).toMatchObject({ unreadable: 1, users: new Map() })
  expect(snapshot.notices[0]?.params).toEqual({ from: 'uid=a', fault: `${problem} (external_id is "uid")` })
  expect([...snapshot.seen.user]).toEqual(ids)
})

test.each([[true], [false]])('a disabled user without a usable id is unreadable (gone: %s)', (gone) => {
  for (const ids of [[], ['1', '2'], ['..']]) {
    const collector = new Collector()
    expect(collector.addDisabled({ ids, idName: 'uid', from: 'uid=a', gone })).toBeUndefined()
    expect(snapshotOf(collector)).toMatchObject({ unreadable: 1, seen: { user: new Set(ids) } })
    expect(codesOf(collector)).toEqual(['user - unreadable'])
  }
})

test('a group without a name is skipped and seen', () => {
  const collector = new Collector()
  collector.addGroup(group('g', 'cn=g', { name: undefined }))
  expect(snapshotOf(collector)).toMatchObject({
    unreadable: 0,
    groups: new Map(),
    seen: { group: new Set(['g']) },
  })
  expect(codesOf(collector)).toEqual(['group g no-name'])
})

test('a group without a name makes its twin a duplicate', () => {
  const collector = new Collector()
  collector.addGroup(group('g', 'cn=g', { name: undefined }))
  collector.addGroup(group('g', 'cn=h'))
  expect(snapshotOf(collector).groups.size).toBe(0)
  expect(codesOf(collector)).toEqual(['group g duplicate-id', 'group g duplicate-id', 'group g no-name'])
})

test('a group whose members are hidden is left alone, and so is another group of its id', () => {
  const why = { why: 'global-catalog', isOwn: true, groups: examplesOf([]) } as const
  const hidden = { ids: ['g'], idName: 'cn', from: 'cn=hidden', why }
  const collector = new Collector()
  collector.addGroupWithUnknownMembers(hidden)
  expect(snapshotOf(collector)).toMatchObject({ groups: new Map(), seen: { group: new Set(['g']) } })
  expect(codesOf(collector)).toEqual(['group g members-hidden'])
  collector.addGroup(group('g', 'cn=other'))
  expect(snapshotOf(collector).groups.size).toBe(0)
  expect(codesOf(collector)).toEqual([
    'group g duplicate-id',
    'group g duplicate-id',
    'group g members-hidden',
  ])
})

test('a disabled user is left alone, and so is another user of its id', () => {
  const collector = new Collector()
  expect(collector.addDisabled({ ids: ['1'], idName: 'uid', from: 'uid=disabled', gone: false })).toBe('1')
  expect(snapshotOf(collector)).toMatchObject({ users: new Map(), seen: { user: new Set(['1']) } })
  collector.addUser(user('1', 'uid=other'))
  expect(snapshotOf(collector).users.size).toBe(0)
  expect(codesOf(collector)).toEqual(['user 1 disabled', 'user 1 duplicate-id', 'user 1 duplicate-id'])
})

test('members are sorted and unique, unknownMembers are one notice with examples', () => {
  const collector = new Collector()
  collector.addGroup(
    group('g', 'cn=g', { members: ['b', 'a', 'b'], unknownMembers: ['u', 'v', 'w', 'x', 'y'] }),
  )
  const snapshot = snapshotOf(collector)
  expect(snapshot.groups.get('g')?.members).toEqual(['a', 'b'])
  expect(snapshot.notices.map(({ params }) => params)).toEqual([
    { from: 'cn=g', examples: ['u', 'v', 'w'], total: 5, groups: 0, shared: examplesOf([]) },
  ])
})

test('a user and a group may have one id, and any id is only an id', () => {
  const collector = new Collector()
  for (const id of ['__proto__', 'constructor', 'toString']) {
    collector.addUser(user(id, `uid=${id}`))
    collector.addGroup(group(id, `cn=${id}`))
  }
  const snapshot = snapshotOf(collector)
  expect([snapshot.users.size, snapshot.groups.size, snapshot.notices.length]).toEqual([3, 3, 0])
})

test('many entries with one id do not take for ever', () => {
  const collector = new Collector()
  for (let index = 0; index < 50_000; index += 1) collector.addUser(user('same', `row ${index}`))
  expect(snapshotOf(collector).notices).toHaveLength(50_000)
})
