import { describe, expect, test } from 'vitest'
import {
  createMemberIndex,
  membersIn,
  resolveMembers,
} from '../../../../../src/source/ldap/membership/members.ts'
import type { UserRecord } from '../../../../../src/source/ldap/image.ts'
import { cpuMsSince } from '../../../../support/machine-load.ts'

function user(id: string, dn: string, uids: readonly string[]): UserRecord {
  const fields = { email: undefined, name: undefined, employeeId: undefined, faults: [] }
  return { ...fields, ids: [id], id, dn, disabled: undefined, uids, memberOf: [], primaryGroup: undefined }
}

/** An index with its users. */
function createIndex(listed: readonly string[]) {
  const users: UserRecord[] = []
  const index = createMemberIndex(listed, {
    idAt: (number) => users[number]?.id,
    dnAt: (number) => users[number]?.dn ?? '',
  })!
  const idOf = (name: string) => {
    const found = index.get(name)
    return found === 'several' ? null : users[found ?? -1]?.id
  }
  return {
    addUser: (each: UserRecord) => index.addUser(users.push(each) - 1, each),
    resolve(values: readonly string[]) {
      const { users: ids, nonUsers } = resolveMembers(values, { idOf })
      return { ids, nonUsers }
    },
  }
}

function resolve(index: ReturnType<typeof createIndex>, values: readonly string[]) {
  return index.resolve(values)
}

test('member names users by DN, in any spelling', () => {
  const index = createIndex(['member'])
  index.addUser(user('1', 'cn=Smith\\2C Jr.,ou=People,dc=x', []))
  const { ids, nonUsers } = resolve(index, ['CN=smith\\, jr., OU=people, DC=x', 'cn=Other,dc=x', 'not a DN'])
  expect(ids).toEqual(['1'])
  expect(nonUsers).toEqual(['cn=Other,dc=x', 'not a DN'])
})

test('the empty DN of a group without members is no stranger', () => {
  expect(membersIn('member', () => ['', ' '])).toEqual([])
})

test('uniqueMember may end with a bit string', () => {
  const values = ["uid=a,dc=x#'0101'B", 'uid=a,dc=x']
  expect(membersIn('uniqueMember', () => values)).toEqual(['uid=a,dc=x', 'uid=a,dc=x'])
  expect(membersIn('member', () => values)).toEqual(values)
})

test('a uniqueMember of many blanks takes no time, nor does one that is no DN', () => {
  const index = createIndex(['uniqueMember'])
  index.addUser(user('1', 'cn=a b,dc=x', []))
  const blanks = ' '.repeat(90_000)
  const started = process.cpuUsage()
  const namesIn = (...values: readonly string[]) =>
    resolve(
      index,
      membersIn('uniqueMember', () => values),
    )
  expect(namesIn(`cn=a${blanks}b,dc=x#'01'B${blanks}`).ids).toEqual(['1'])
  expect(namesIn(`cn=a#'01'B${blanks}b`, `cn=${'a'.repeat(20_000_000)}`).nonUsers).toHaveLength(2)
  expect(cpuMsSince(started)).toBeLessThan(2000)
})

test('a DN of two users is nobody, whoever came first', () => {
  const users = [
    ['1', 'x=Ann,dc=x'],
    ['2', 'x=ann,dc=x'],
  ] as const
  for (const order of [users, users.toReversed()]) {
    const index = createIndex(['member'])
    for (const [id, dn] of order) index.addUser(user(id, dn, []))
    index.addUser(user('1', 'x=Ann,dc=x', []))
    expect(resolve(index, ['x=Ann,dc=x'])).toEqual({ ids: [], nonUsers: ['x=Ann,dc=x'] })
  }
})

function byUid(...users: readonly UserRecord[]): ReturnType<typeof createIndex> {
  const index = createIndex(['MemberUid'])
  for (const each of users) index.addUser(each)
  return index
}

describe('memberUid names users', () => {
  test('by uid, in the case of the uid or another one', () => {
    const index = byUid(user('1', 'uid=a,dc=x', ['a', 'Anna']))
    expect(resolve(index, ['Anna', 'aNNA', 'A'])).toEqual({ ids: ['1', '1', '1'], nonUsers: [] })
    expect(resolve(index, ['ann', 'x'])).toEqual({ ids: [], nonUsers: ['ann', 'x'] })
  })

  test('exactly before in any case, and nobody where the case would have to decide', () => {
    const index = byUid(user('1', 'uid=1,dc=x', ['Anna']), user('2', 'uid=2,dc=x', ['anna']))
    expect(resolve(index, ['anna', 'Anna', 'ANNA'])).toEqual({ ids: ['2', '1'], nonUsers: ['ANNA'] })
  })

  test('by DN, in any spelling, also users that are added later', () => {
    const index = byUid(user('1', 'uid=a,dc=x', ['a']))
    expect(resolve(index, ['UID=A, dc=x', 'uid=b,dc=x', 'a=']).ids).toEqual(['1'])
    index.addUser(user('2', 'uid=b,dc=x', ['b']))
    expect(resolve(index, ['UID=A, dc=x', 'uid=b,dc=x']).ids).toEqual(['1', '2'])
  })

  test('by a uid that looks like a DN before the DN', () => {
    const index = byUid(user('1', 'uid=a,dc=x', ['a']), user('2', 'uid=b,dc=x', ['uid=a,dc=x']))
    expect(resolve(index, ['uid=a,dc=x']).ids).toEqual(['2'])
  })
})

describe('members in several attributes', () => {
  const anna = user('1', 'uid=a,dc=x', ['a'])
  const ben = user('2', 'uid=b,dc=x', ['b', 'uid=a,dc=x', 'cn=Admins,dc=x'])
  const index = createIndex(['member', 'memberUid'])
  for (const each of [anna, ben]) index.addUser(each)

  test('are named by DN and by uid', () => {
    expect(resolve(index, ['uid=a,dc=x', 'B', 'x'])).toEqual({ ids: ['1', '2'], nonUsers: ['x'] })
  })

  test('are nobody whose uid looks like the DN of somebody else, or of a group', () => {
    const members = ['uid=a,dc=x', 'cn=admins,dc=x']
    expect(resolve(index, members)).toEqual({ ids: ['1'], nonUsers: ['cn=admins,dc=x'] })
  })
})

test('a uid of two users is nobody', () => {
  const index = createIndex(['memberUid'])
  index.addUser(user('1', 'uid=a,ou=1', ['a']))
  index.addUser(user('2', 'uid=a,ou=2', ['a']))
  expect(resolve(index, ['a'])).toEqual({ ids: [], nonUsers: ['a'] })
})

test('__proto__ is a uid like any other', () => {
  const index = createIndex(['memberUid'])
  expect(resolve(index, ['__proto__', 'constructor']).ids).toEqual([])
})

function dnOf(number: number): string {
  return `CN=User ${number}, OU=People,dc=x`
}

test('users are found by DN among many, and after the index has grown', () => {
  const index = createIndex(['member'])
  for (let number = 0; number < 5000; number += 1) index.addUser(user(`id-${number}`, dnOf(number), []))
  for (const number of [0, 1, 1228, 1229, 4999]) {
    const spellings = [dnOf(number), dnOf(number).toLowerCase(), `cn=user ${number},ou=people,dc=x`]
    expect(resolve(index, spellings).ids).toEqual(Array(3).fill(`id-${number}`))
  }
  expect(resolve(index, [dnOf(5000)]).nonUsers).toEqual([dnOf(5000)])
})
