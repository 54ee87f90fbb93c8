import { expect, test } from 'vitest'
import { createMemberIndex } from '../../../../../src/source/ldap/membership/members.ts'
import { cpuMsSince } from '../../../../support/machine-load.ts'

test('member names users by DN, in any spelling', () => {
  const index = createMemberIndex('member')
  index.addUser('1', 'cn=Smith\\2C Jr.,ou=People,dc=x', [])
  const { ids, strangers } = index.resolve(['CN=smith\\, jr., OU=people, DC=x', 'cn=Other,dc=x', 'not a DN'])
  expect(ids).toEqual(['1'])
  expect(strangers).toEqual(['cn=Other,dc=x', 'not a DN'])
})

test('the empty DN of a group without members is no stranger', () => {
  const index = createMemberIndex('member')
  expect(index.resolve(['', ' '])).toEqual({ ids: [], strangers: [] })
})

test('uniqueMember may end with a bit string', () => {
  const index = createMemberIndex('uniqueMember')
  index.addUser('1', 'uid=a,dc=x', [])
  expect(index.resolve(["uid=a,dc=x#'0101'B", 'uid=a,dc=x'])).toEqual({ ids: ['1', '1'], strangers: [] })
})

test('a uniqueMember of many blanks takes no time, nor does one that is no DN', () => {
  const index = createMemberIndex('uniqueMember')
  index.addUser('1', 'cn=a b,dc=x', [])
  const blanks = ' '.repeat(90_000)
  const started = process.cpuUsage()
  expect(index.resolve([`cn=a${blanks}b,dc=x#'01'B${blanks}`]).ids).toEqual(['1'])
  expect(index.resolve([`cn=a#'01'B${blanks}b`, `cn=${'a'.repeat(20_000_000)}`]).strangers).toHaveLength(2)
  expect(cpuMsSince(started)).toBeLessThan(2000)
})

test('a DN of two users is nobody, whoever came first', () => {
  const users = [
    ['1', 'x=Ann,dc=x'],
    ['2', 'x=ann,dc=x'],
  ] as const
  for (const order of [users, users.toReversed()]) {
    const index = createMemberIndex('member')
    for (const [id, dn] of order) index.addUser(id, dn, [])
    index.addUser('1', 'x=Ann,dc=x', [])
    expect(index.resolve(['x=Ann,dc=x'])).toEqual({ ids: [], strangers: ['x=Ann,dc=x'] })
  }
})

test('memberUid names users by uid, and by nothing else', () => {
  const index = createMemberIndex('MemberUid')
  expect(index.attributes).toEqual(['uid'])
  index.addUser('1', 'uid=a,dc=x', ['a', 'anna'])
  expect(index.resolve(['anna', 'A', 'uid=a,dc=x'])).toEqual({ ids: ['1'], strangers: ['A', 'uid=a,dc=x'] })
})

test('a uid of two users is nobody', () => {
  const index = createMemberIndex('memberUid')
  index.addUser('1', 'uid=a,ou=1', ['a'])
  index.addUser('2', 'uid=a,ou=2', ['a'])
  expect(index.resolve(['a'])).toEqual({ ids: [], strangers: ['a'] })
})

test('__proto__ is a uid like any other', () => {
  const index = createMemberIndex('memberUid')
  expect(index.resolve(['__proto__', 'constructor']).ids).toEqual([])
})
