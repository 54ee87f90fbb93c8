import { describe, expect, test } from 'vitest'
import { examplesOf } from '../../../../src/core/notice.ts'
import type { SourceSnapshot } from '../../../../src/core/entries/snapshot.ts'
import { atOnce } from '../../../../src/base/steps.ts'
import { Collector } from '../../../../src/source/collect.ts'
import { compileOptions } from '../../../../src/source/ldap/compile.ts'
import type { LdapEntry } from '../../../../src/source/ldap/entry.ts'
import { type GlobalCatalog, recordsOf } from '../../../../src/source/ldap/global-catalog.ts'
import type { GroupRecord } from '../../../../src/source/ldap/image.ts'
import type { LdapGroupOptions } from '../../../../src/source/ldap/options.ts'
import { snapshotOf } from '../../../../src/source/ldap/snapshot-of.ts'
import { ReadUsers } from '../../../../src/source/ldap/users.ts'
import { PROFILES } from '../../../../src/source/ldap/vendor.ts'
import { type Attributes, ldapEntry } from '../../../support/ldap-entry.ts'

const BASE = 'dc=x'

interface World {
  readonly users: Readonly<Record<string, Attributes>>
  /** Accounts that cannot log in, by what the options do with them. */
  readonly disabled?: Readonly<Record<string, 'skip' | 'delete'>>
  readonly groups: Readonly<Record<string, Attributes>>
  /** Groups outside of the filter. */
  readonly others?: Readonly<Record<string, Attributes>>
  readonly options?: Partial<LdapGroupOptions>
  readonly members?: string
  readonly catalog?: GlobalCatalog
  /** The DNs of entries that kept changing while they were read. */
  readonly torn?: readonly string[]
  readonly server?: keyof typeof PROFILES
  readonly withChain?: (group: GroupRecord) => GroupRecord
}

function read({ users, disabled = {}, groups, others = {}, ...more }: World): SourceSnapshot {
  const {
    options,
    members,
    catalog,
    torn = [],
    server = 'openldap',
    withChain = (group: GroupRecord) => group,
  } = more
  const entryOf = (dn: string, attributes: Attributes): LdapEntry => {
    const entry = ldapEntry(dn, attributes)
    return torn.includes(dn) ? { ...entry, isTorn: true } : entry
  }
  const place = { base: BASE, scope: 'sub', filter: '(cn=*)' } as const
  const map = { external_id: 'cn', name: 'cn', ...(members !== undefined && { members }) }
  const compiled = compileOptions(
    {
      url: 'ldap://localhost',
      tls: { startTls: false },
      pageSize: 100,
      timeouts: { connectMs: 1, answerMs: 1 },
      users: { ...place, map: { external_id: 'cn', email: 'mail' } },
      groups: { ...place, map, ...options },
    },
    { ...PROFILES[server], inChain: true },
  )
  const records = recordsOf({ catalog }, compiled)
  const covers = { groups: true, members: compiled.groups?.membersFrom !== undefined }
  const readUsers = new ReadUsers(new Collector(covers), 'cn', records.listed)
  for (const [dn, attributes] of Object.entries(users)) {
    readUsers.add(records.userOf(entryOf(dn, attributes), disabled[dn]))
  }
  return atOnce(
    snapshotOf(
      {
        users: readUsers,
        groups: Object.entries(groups).map(([dn, values]) =>
          withChain(records.groupOf(entryOf(dn, values), readUsers)),
        ),
        others: Object.entries(others).map(([dn, values]) => records.otherOf(entryOf(dn, values), readUsers)),
      },
      compiled,
    ),
  )
}

function membersIn({ groups }: SourceSnapshot): Record<string, readonly string[]> {
  return Object.fromEntries([...groups].map(([id, { members }]) => [id, members]))
}

const USERS = {
  'cn=Ann,ou=p,dc=x': { cn: ['ann'], uid: ['a'], gidNumber: ['7'] },
  'cn=Bob,ou=p,dc=x': { cn: ['bob'], uid: ['b'], gidNumber: ['8'] },
  'cn=Cid,ou=p,dc=x': { cn: ['cid'], uid: ['c'] },
}

describe('who is a member', () => {
  test('by DN, in any spelling; others are named', () => {
    const snapshot = read({
      users: USERS,
      groups: {
        'cn=g,dc=x': { cn: ['g'], member: ['CN=ann, OU=P, DC=x', 'cn=Cid,ou=p,dc=x', 'cn=z,dc=y', ''] },
      },
    })
    expect(membersIn(snapshot)).toEqual({ g: ['ann', 'cid'] })
    expect(snapshot.notices).toMatchObject([
      {
        id: 'g',
        code: 'unknown-members',
        params: { from: 'cn=g,dc=x', ...examplesOf(['cn=z,dc=y']), groups: 0 },
      },
    ])
  })

  test('of a group within a group is nobody, unless groups are flattened; the notice counts it', () => {
    const groups = {
      'cn=outer,dc=x': { cn: ['outer'], member: ['CN=Inner, dc=x', 'cn=z,dc=y'] },
      'cn=inner,dc=x': { cn: ['inner'], member: ['cn=Bob,ou=p,dc=x'] },
    }
    const snapshot = read({ users: USERS, groups })
    expect(membersIn(snapshot)).toEqual({ outer: [], inner: ['bob'] })
    const unresolved = examplesOf(['CN=Inner, dc=x', 'cn=z,dc=y'])
    expect(snapshot.notices.map(({ params }) => params)).toEqual([
      { from: 'cn=outer,dc=x', ...unresolved, groups: 1, shared: examplesOf([]) },
    ])
  })

  test('by user name', () => {
    const groups = { 'cn=g,dc=x': { cn: ['g'], memberUid: ['a', 'c', 'zoe'] } }
    expect(membersIn(read({ users: USERS, groups, members: 'memberUid' }))).toEqual({ g: ['ann', 'cid'] })
  })

  test('by uniqueMember', () => {
    const groups = { 'cn=g,dc=x': { cn: ['g'], uniqueMember: ["cn=Bob,ou=p,dc=x#'01'B"] } }
    expect(membersIn(read({ users: USERS, groups, members: 'uniqueMember' }))).toEqual({ g: ['bob'] })
  })

  test('by what the users say, through groups outside of the filter too', () => {
    const world = {
      users: { 'cn=Ann,dc=x': { cn: ['ann'], memberOf: ['CN=Inner, dc=x'] } },
      groups: { 'cn=outer,dc=x': { cn: ['outer'] } },
      others: { 'cn=inner,dc=x': { memberOf: ['CN=Outer,DC=x'] } },
    }
    const flat = { membersFrom: 'memberOf', nested: 'flatten' } as const
    expect(membersIn(read({ ...world, options: flat }))).toEqual({ outer: ['ann'] })
    expect(membersIn(read({ ...world, options: { membersFrom: 'memberOf' } }))).toEqual({ outer: [] })
  })

  test('of groups within groups, where they are flattened', () => {
    const world = {
      users: USERS,
      groups: {
        'cn=outer,dc=x': { cn: ['outer'], member: ['cn=Ann,ou=p,dc=x', 'cn=helper,dc=x', 'cn=gone,dc=x'] },
        'cn=inner,dc=x': { cn: ['inner'], member: ['cn=Bob,ou=p,dc=x', 'cn=outer,dc=x'] },
      },
      others: { 'cn=helper,dc=x': { member: ['cn=inner,dc=x', 'cn=Cid,ou=p,dc=x'] } },
    }
    const flat = read({ ...world, options: { nested: 'flatten' } })
    expect(membersIn(flat)).toEqual({ outer: ['ann', 'bob', 'cid'], inner: ['ann', 'bob', 'cid'] })
    expect(flat.notices).toMatchObject([{ params: { ...examplesOf(['cn=gone,dc=x']), groups: 0 } }])
    expect(membersIn(read(world))).toEqual({ outer: ['ann'], inner: ['bob'] })
  })

  test('by primary group', () => {
    const groups = { 'cn=g,dc=x': { cn: ['g'], gidNumber: ['7'], member: ['cn=Bob,ou=p,dc=x'] } }
    expect(membersIn(read({ users: USERS, groups, options: { primaryGroup: true } }))).toEqual({
      g: ['ann', 'bob'],
    })
  })

  test('by what the server found in the chain, without accounts that count as gone', () => {
    const snapshot = read({
      users: USERS,
      disabled: { 'cn=Bob,ou=p,dc=x': 'delete', 'cn=Cid,ou=p,dc=x': 'skip' },
      groups: { 'cn=g,dc=x': { cn: ['g'] } },
      options: { nested: 'in-chain' },
      withChain: (group) => ({ ...group, chained: ['ann', 'bob', 'cid', 'zoe'] }),
    })
    expect(membersIn(snapshot)).toEqual({ g: ['ann', 'cid'] })
  })

  test('is not told where the catalog hides the members of a group, or of one within it', () => {
    const snapshot = read({
      users: USERS,
      groups: {
        'cn=outer,dc=x': { cn: ['outer'], groupType: ['8'], member: ['cn=inner,dc=x'] },
        'cn=inner,dc=x': { cn: ['inner'], groupType: ['2'] },
        'cn=own,dc=x': { cn: ['own'], groupType: ['8'], member: ['cn=Ann,ou=p,dc=x'] },
      },
      options: { nested: 'flatten' },
      catalog: { domain: 'dc=y' },
    })
    expect(membersIn(snapshot)).toEqual({ own: ['ann'] })
    expect([...snapshot.seen.group].toSorted()).toEqual(['inner', 'outer', 'own'])
  })
})

function changing(id: string, isOwn: boolean, within: readonly string[]) {
  const params = { from: `cn=${id},dc=x`, why: 'changing', isOwn, groups: examplesOf(within) }
  return { kind: 'group', id, code: 'members-hidden', params }
}

test('who is in a group that kept changing while it was read is not told, nor who is in one around it', () => {
  const groups = {
    'cn=outer,dc=x': { cn: ['outer'], member: ['cn=inner,dc=x'] },
    'cn=inner,dc=x': { cn: ['inner'] },
    'cn=own,dc=x': { cn: ['own'], member: ['cn=Ann,ou=p,dc=x'] },
  }
  const snapshot = read({ users: USERS, groups, options: { nested: 'flatten' }, torn: ['cn=inner,dc=x'] })
  expect(membersIn(snapshot)).toEqual({ own: ['ann'] })
  expect(snapshot.notices).toEqual([changing('inner', true, []), changing('outer', false, ['cn=inner,dc=x'])])
})

test('a user that kept changing while it was read makes the read incomplete', () => {
  expect(() => read({ users: USERS, groups: {}, torn: ['cn=Bob,ou=p,dc=x'] })).toThrow(
    'could not read all of "cn=Bob,ou=p,dc=x": it changed each time while its values were read',
  )
})

test('a group that kept changing makes a read without members incomplete', () => {
  const groups = { 'cn=own,dc=x': { cn: ['own'] } }
  expect(() => read({ users: USERS, groups, server: 'generic', torn: ['cn=own,dc=x'] })).toThrow(
    'could not read all of "cn=own,dc=x": it changed each time while its values were read',
  )
})

test('a member that may be any of several users is named as such', () => {
  const users = { 'cn=a,dc=x': { cn: ['a'], uid: ['one'] }, 'cn=b,dc=x': { cn: ['b'], uid: ['b', 'one'] } }
  const groups = { 'cn=g,dc=x': { cn: ['g'], memberUid: ['b', 'one'] } }
  const snapshot = read({ users, groups, members: 'memberUid' })
  expect(membersIn(snapshot)).toEqual({ g: ['b'] })
  expect(snapshot.notices.map(({ params }) => params)).toEqual([
    { from: 'cn=g,dc=x', ...examplesOf(['one']), groups: 0, shared: examplesOf(['one']) },
  ])
})

test('a value that is not UTF-8 is no text of digits, and is an id all the same', () => {
  const latin1 = Buffer.from('J\xf6rg', 'latin1')
  const users = {
    'cn=j,dc=x': { cn: [latin1], mail: [latin1] },
    'cn=a,dc=x': { cn: ['4af67267a'], mail: ['a@x'] },
  }
  const snapshot = read({ users, groups: { 'cn=g,dc=x': { cn: [Buffer.from([0xfe])] } } })
  expect([...snapshot.users.values()].map(({ id, email }) => [id, email])).toEqual([
    ['4af67267', undefined],
    ['4af67267a', 'a@x'],
  ])
  expect([snapshot.groups.size, snapshot.seen.group.has('fe')]).toEqual([0, true])
  expect(snapshot.notices.map(({ id, code, params }) => [id, code, params])).toEqual([
    [
      '4af67267',
      'value-failed',
      { from: 'cn=j,dc=x', fault: 'users.map.email: it is not well-formed Unicode' },
    ],
    ['fe', 'no-name', { from: 'cn=g,dc=x' }],
    ['fe', 'value-failed', { from: 'cn=g,dc=x', fault: 'groups.map.name: it is not well-formed Unicode' }],
  ])
})

test('a contact that names a group is no group whose members the catalog hides', () => {
  const snapshot = read({
    users: { 'cn=Ann,dc=x': { cn: ['ann'], memberOf: ['cn=g,dc=x'] } },
    groups: { 'cn=g,dc=x': { cn: ['g'], groupType: ['8'] } },
    others: { 'cn=contact,dc=x': { memberOf: ['cn=g,dc=x'] } },
    options: { membersFrom: 'memberOf', nested: 'flatten' },
    catalog: { domain: 'dc=y' },
  })
  expect(membersIn(snapshot)).toEqual({ g: ['ann'] })
})

describe('a snapshot', () => {
  const disabled = { 'cn=Bob,ou=p,dc=x': 'delete', 'cn=Cid,ou=p,dc=x': 'skip' } as const
  const twins = { ...USERS, 'cn=Ann,ou=q,dc=x': { cn: ['ann'] }, 'cn=two,dc=x': { cn: ['d', 'e'] } }
  const groups = {
    'cn=g,dc=x': { cn: ['g'], member: ['cn=Ann,ou=p,dc=x'] },
    'cn=h,dc=x': { cn: ['h'], member: ['cn=stranger,dc=y'] },
    'cn=i,dc=x': { cn: ['i'], member: [''] },
    'cn=j,dc=x': { cn: ['j'] },
  }

  test('names everything that was seen with its place, whatever became of it', () => {
    const { places: where, seen } = read({ users: twins, disabled, groups })
    const places: string[] = []
    atOnce(where!.user.each((id, container) => places.push(`${id} ${container}`)))
    expect(places).toEqual([
      'ann ou=p,dc=x',
      'bob ou=p,dc=x',
      'cid ou=p,dc=x',
      'ann ou=q,dc=x',
      'd dc=x',
      'e dc=x',
    ])
    expect([...seen.user].toSorted()).toEqual(['ann', 'cid', 'd', 'e'])
    const ofGroups: string[] = []
    atOnce(where!.group.each((id) => ofGroups.push(id)))
    expect(ofGroups).toEqual(['g', 'h', 'i', 'j'])
  })

  test.each([
    [String.raw`cn=Doe\, Ann,OU=P,dc=x`, 'ou=p,dc=x'],
    ['cn="Doe, Ann",ou=p, dc=x', 'ou=p,dc=x'],
    ['cn=Ann+uid=7,ou=p,dc=x', 'ou=p,dc=x'],
    ['cn=top', ''],
  ])('knows the place of %s', (dn, place) => {
    const places: string[] = []
    const { places: where } = read({ users: { [dn]: { cn: ['ann'] } }, groups: {} })
    atOnce(where!.user.each((_id, container) => places.push(container)))
    expect(places).toEqual([place])
  })

  test('counts the groups that list anybody', () => {
    expect(read({ users: twins, groups }).lists?.withMembers).toBe(2)
    expect(read({ users: twins, groups, members: '2.5.4.31' }).lists?.withMembers).toBe(0)
    const told = { users: { 'cn=A,dc=x': { cn: ['a'], memberOf: ['CN=J,dc=x'] } }, groups }
    expect(read({ ...told, options: { membersFrom: 'memberOf' } }).lists?.withMembers).toBe(1)
  })
})

/** Of each group, by its key, the groups that it lists and what it lists besides. */
function listedIn({ lists }: SourceSnapshot) {
  return Object.fromEntries(
    [...lists!.groups.values()].map((group) => [
      group.key,
      group.lists
        .flatMap(({ nested, unresolved }) => [...nested.map((dn) => `+${dn}`), ...unresolved])
        .toSorted(),
    ]),
  )
}

describe('groups within groups', () => {
  const groups = {
    'cn=Outer,dc=x': {
      cn: ['outer'],
      member: ['CN=Inner, dc=x', 'cn=Ann,ou=p,dc=x', 'cn=Z,dc=y', 'cn=helper,dc=x', 'cn=A,dc=y'],
    },
    'cn=inner,dc=x': { cn: ['inner'], member: ['cn=Bob,ou=p,dc=x', 'cn=stranger,dc=y'] },
    'cn=twice,dc=x': { cn: ['one', 'two'], member: ['cn=inner,dc=x'] },
  }
  const others = { 'cn=Helper,dc=x': { member: ['cn=inner,dc=x', 'cn=deep,dc=y'] } }

  test('are named with those that list them, and with what these list besides', () => {
    const snapshot = read({ users: USERS, groups, others, options: { nested: 'flatten' } })
    expect(listedIn(snapshot)).toEqual({
      outer: ['+cn=helper,dc=x', '+cn=inner,dc=x', 'cn=a,dc=y', 'cn=z,dc=y'],
      inner: ['cn=stranger,dc=y'],
      'cn=twice,dc=x': ['+cn=inner,dc=x'],
      'cn=helper,dc=x': ['+cn=inner,dc=x', 'cn=deep,dc=y'],
    })
    expect(snapshot.lists?.groups.get('cn=twice,dc=x')).toMatchObject({ id: '', dn: 'cn=twice,dc=x' })
  })

  test('are nothing special where they are not flattened', () => {
    const { outer, inner } = listedIn(read({ users: USERS, groups }))
    expect(outer).toEqual(['cn=a,dc=y', 'cn=helper,dc=x', 'cn=inner,dc=x', 'cn=z,dc=y'])
    expect(inner).toEqual(['cn=stranger,dc=y'])
  })
})

test('a member in several attributes counts once, and so does a stranger', () => {
  const member = ['cn=Ann,ou=p,dc=x', 'cn=z,dc=y']
  const groups = {
    'cn=g,dc=x': { cn: ['g'], member, uniqueMember: ["cn=Ann,ou=p,dc=x#'01'B", 'cn=z,dc=y'] },
  }
  const map = { external_id: 'cn', name: 'cn', members: ['member', 'uniqueMember'] }
  const snapshot = read({ users: USERS, groups, options: { map } })
  expect(membersIn(snapshot)).toEqual({ g: ['ann'] })
  expect(snapshot.notices).toMatchObject([
    { code: 'unknown-members', params: { examples: ['cn=z,dc=y'], total: 1 } },
  ])
})

test('a snapshot holds data and tables, and no closures', () => {
  const groups = { 'cn=g,dc=x': { cn: ['g'], member: ['cn=Ann,ou=p,dc=x'] } }
  const found: string[] = []
  const visit = (value: unknown, path: string): void => {
    if (typeof value === 'function') found.push(path)
    if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return
    const inside = value instanceof Map ? [...value] : Object.entries(value)
    for (const [name, each] of inside) visit(each, `${path}.${String(name)}`)
  }
  const snapshot = read({ users: USERS, groups, options: { nested: 'flatten' } })
  for (const [name, value] of Object.entries(snapshot)) visit(value, name)
  expect(found).toEqual([])
})
