import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { LossLook } from '../../src/core/entries/recheck.ts'
import type { SourceSnapshot } from '../../src/core/entries/snapshot.ts'
import { silentLog } from '../../src/base/log/log.ts'
import { createLdapSource } from '../../src/source/ldap/ldap-source.ts'
import type { LdapGroupOptions } from '../../src/source/ldap/options.ts'
import type { Source } from '../../src/source/source.ts'
import { recheckLosses } from '../../src/sync/recheck-losses.ts'
import { type LdapProxy, startLdapProxy } from '../support/ldap-proxy.ts'
import { ldif } from '../support/people.ts'
import { BASE, type Slapd, startSlapd } from '../support/slapd.ts'

const NEVER = new AbortController().signal
const NAMES = ['ann', 'bob', 'cid', 'dan'] as const

/** Each test has people and groups of its own, below a unit of its own. */
const UNITS = [
  'renamed',
  'removed',
  'between',
  'others',
  'inner',
  'hidden',
  'empty',
  'names',
  'left',
  'many',
  'again',
  'gone',
  'told',
  'above',
  'anew',
  'deep',
  'nameless',
  'untold',
  'unnamed',
  'twice',
] as const
type Unit = (typeof UNITS)[number]

let slapd: Slapd
let proxy: LdapProxy

beforeAll(async () => {
  const reader = `cn=reader,ou=services,${BASE}`
  const acl = [
    `access to dn.exact="${dnOf('shut', 'hidden')}" attrs=member by dn.exact="${reader}" none by * break`,
    `access to dn.subtree="ou=unnamed,${BASE}" attrs=memberUid by dn.exact="${reader}" none by * break`,
    `access to dn.subtree="ou=nameless,${BASE}" attrs=uid by dn.exact="${reader}" none by * break`,
    `access to dn.regex="^cn=(ann|bob),ou=untold,${BASE}$" attrs=memberOf by dn.exact="${reader}" none by * break`,
  ]
  slapd = await startSlapd({
    ldifs: [unitLdif(`ou=elsewhere,${BASE}`), ...UNITS.flatMap(records)],
    overlays: ['memberof'],
    acl,
    tls: false,
  })
  proxy = await startLdapProxy(slapd.port)
})

afterAll(async () => {
  await proxy?.[Symbol.asyncDispose]()
  await slapd?.close()
})

const dnOf = (name: string, unit: Unit) => `cn=${name},ou=${unit},${BASE}`
const unitLdif = (dn: string) =>
  ldif(dn, { objectClass: ['organizationalUnit'], ou: [dn.slice(3, dn.indexOf(','))] })

function records(unit: Unit): string[] {
  const people = NAMES.map((name) =>
    ldif(dnOf(name, unit), {
      objectClass: ['inetOrgPerson'],
      cn: [name],
      sn: [name],
      uid: [name],
      employeeNumber: [name],
    }),
  )
  return [unitLdif(`ou=${unit},${BASE}`), ...people]
}

function group(name: string, unit: Unit, members: readonly string[]): string {
  return ldif(dnOf(name, unit), {
    changetype: ['add'],
    objectClass: ['groupOfNames', 'uidObject'],
    cn: [name],
    uid: [name],
    member: members,
  })
}

const people = (unit: Unit, ...names: readonly string[]) => names.map((name) => dnOf(name, unit))

/** Renames an entry and what groups call it, as servers do that keep references intact. */
function rename(from: string, to: string, groups: readonly string[] = []): string {
  const [rdn, above] = [to.slice(0, to.indexOf(',')), to.slice(to.indexOf(',') + 1)]
  const changed = { changetype: ['modrdn'], newrdn: [rdn], deleteoldrdn: ['0'], newsuperior: [above] }
  return ldif(from, changed) + groups.map((dn) => replaceMember(dn, from, to)).join('')
}

function replaceMember(dn: string, from: string, to: string): string {
  return [
    `dn: ${dn}\nchangetype: modify`,
    `add: member\nmember: ${to}\n-`,
    `delete: member\nmember: ${from}\n-\n\n`,
  ].join('\n')
}

const ownList = (name: string, unit: Unit) => ({ group: dnOf(name, unit), list: dnOf(name, unit) })

const dropMember = (dn: string, member: string) =>
  ldif(dn, { changetype: ['modify'], delete: ['member'], member: [member] })

function source(unit: Unit, groups: Partial<LdapGroupOptions> = {}): Source {
  const { dn, password } = slapd.readers.reader
  const base = `ou=${unit},${BASE}`
  return createLdapSource(
    {
      url: proxy.url,
      tls: { startTls: false },
      bind: { dn, password: async () => password },
      pageSize: 2000,
      timeouts: { connectMs: 60_000, answerMs: 60_000 },
      users: { base, scope: 'sub', map: { external_id: 'employeeNumber' } },
      groups: { base, scope: 'sub', map: { external_id: 'uid', name: 'cn' }, ...groups },
    },
    silentLog(),
  )
}

/** Does this before the given search of the next connection: a read searches for the users and then for the groups. */
function before(page: number, changes: string): void {
  proxy.setFault({ kind: 'call', page, call: () => slapd.modify(changes) })
}

const BEFORE_GROUPS = 2

/** Does this between the lists of the groups and the users in a recheck. */
function beforeUsers(of: Source, changes: string): Source {
  const readIds: Source['readIds'] = async (kind, ...asked) => {
    if (kind === 'user') await slapd.modify(changes)
    return of.readIds(kind, ...asked)
  }
  return { ...of, readIds }
}

async function read(of: Source): Promise<SourceSnapshot> {
  const snapshot = await of.read(NEVER)
  proxy.setFault({ kind: 'none' })
  return snapshot
}

async function look(
  of: Source,
  snapshot: SourceSnapshot,
  lost: Readonly<Record<string, readonly string[]>>,
): Promise<Readonly<Record<string, LossLook>>> {
  const looks = await recheckLosses(of, snapshot, new Map(Object.entries(lost)), NEVER)
  proxy.setFault({ kind: 'none' })
  return Object.fromEntries(looks)
}

const membersOf = ({ groups }: SourceSnapshot, id: string) => groups.get(id)?.members

describe('a user who would be lost', () => {
  test('and was renamed between the reading of users and of groups is still a member', async () => {
    await slapd.modify(group('team', 'renamed', people('renamed', 'ann', 'bob', 'cid')))
    const of = source('renamed')
    before(BEFORE_GROUPS, rename(dnOf('ann', 'renamed'), dnOf('anna', 'renamed'), [dnOf('team', 'renamed')]))
    const snapshot = await read(of)
    expect(membersOf(snapshot, 'team')).toEqual(['bob', 'cid'])
    expect(await look(of, snapshot, { team: ['ann'] })).toEqual({ team: { stillMembers: ['ann'] } })
  })

  test('and was removed is no member', async () => {
    await slapd.modify(group('team', 'removed', people('removed', 'ann', 'bob')))
    const of = source('removed')
    const snapshot = await read(of)
    expect(await look(of, snapshot, { team: ['cid', 'dan'] })).toEqual({ team: { stillMembers: [] } })
  })

  test('and is renamed while the look reads is still a member', async () => {
    await slapd.modify(group('team', 'between', people('between', 'ann', 'bob')))
    const of = source('between')
    const team = dnOf('team', 'between')
    before(BEFORE_GROUPS, dropMember(team, dnOf('ann', 'between')))
    const snapshot = await read(of)
    expect(membersOf(snapshot, 'team')).toEqual(['bob'])
    await slapd.modify(
      ldif(team, { changetype: ['modify'], add: ['member'], member: people('between', 'ann') }),
    )
    const changing = beforeUsers(of, rename(dnOf('ann', 'between'), dnOf('anna', 'between')))
    expect(await look(changing, snapshot, { team: ['ann'] })).toEqual({ team: { stillMembers: ['ann'] } })
  })

  test('and is renamed twice, before and after the lists are read, is not taken out', async () => {
    const [ann, anna, annette] = people('twice', 'ann', 'anna', 'annette')
    const [team] = people('twice', 'team')
    await slapd.modify(group('team', 'twice', people('twice', 'ann', 'bob')))
    const of = source('twice')
    before(BEFORE_GROUPS, rename(ann!, anna!, [team!]))
    const snapshot = await read(of)
    expect(membersOf(snapshot, 'team')).toEqual(['bob'])
    const changing = beforeUsers(of, rename(anna!, annette!, [team!]))
    expect(await look(changing, snapshot, { team: ['ann'] })).toEqual({
      team: {
        stillMembers: [],
        unproved: { code: 'unresolved', params: { ...ownList('team', 'twice'), member: anna } },
      },
    })
  })

  test('has an old DN that another user has now: the other user counts', async () => {
    await slapd.modify(group('team', 'others', people('others', 'ann', 'bob')))
    const of = source('others')
    const snapshot = await read(of)
    const [ann, cid] = [dnOf('ann', 'others'), dnOf('cid', 'others')]
    // Ann left the team; Cid joined it and took her old name.
    await slapd.modify(rename(ann, dnOf('anna', 'others')) + rename(cid, ann))
    expect(await look(of, snapshot, { team: ['ann', 'cid'] })).toMatchObject({
      team: { stillMembers: ['cid'] },
    })
  })

  test('and was moved out of the bases is found where the list says', async () => {
    await slapd.modify(group('team', 'left', [...people('left', 'ann', 'bob'), 'cn=x,dc=elsewhere']))
    const of = source('left')
    before(BEFORE_GROUPS, rename(dnOf('ann', 'left'), `cn=ann,ou=elsewhere,${BASE}`, [dnOf('team', 'left')]))
    const snapshot = await read(of)
    expect(membersOf(snapshot, 'team')).toEqual(['bob'])
    expect(await look(of, snapshot, { team: ['ann'] })).toEqual({ team: { stillMembers: ['ann'] } })
  })

  test('is not taken out while more than 1,000 unknown DNs may be hers', async () => {
    const strangers = Array.from({ length: 1001 }, (_, index) => `cn=${index},dc=elsewhere`)
    await slapd.modify(group('team', 'many', [...people('many', 'bob'), ...strangers]))
    const of = source('many')
    const snapshot = await read(of)
    expect(await look(of, snapshot, { team: ['ann'] })).toEqual({ team: { stillMembers: [] } })
    await slapd.modify(rename(dnOf('ann', 'many'), `cn=ann of many,ou=elsewhere,${BASE}`))
    expect(await look(of, snapshot, { team: ['ann'] })).toEqual({
      team: {
        stillMembers: [],
        unproved: { code: 'too-many-unresolved', params: ownList('team', 'many') },
      },
    })
  })

  test('and got another uid between the reads is still a member where groups list names', async () => {
    await slapd.modify(posix('posix', 'names', ['ann', 'bob']))
    const filter = '(objectClass=posixGroup)'
    const of = source('names', { filter, map: { external_id: 'cn', name: 'cn', members: 'memberUid' } })
    const changes = [
      ldif(dnOf('ann', 'names'), { changetype: ['modify'], replace: ['uid'], uid: ['anna'] }),
      ldif(dnOf('posix', 'names'), {
        changetype: ['modify'],
        replace: ['memberUid'],
        memberUid: ['anna', 'bob'],
      }),
    ]
    before(BEFORE_GROUPS, changes.join(''))
    const snapshot = await read(of)
    expect(membersOf(snapshot, 'posix')).toEqual(['bob'])
    expect(await look(of, snapshot, { posix: ['ann', 'cid'] })).toEqual({ posix: { stillMembers: ['ann'] } })
  })
})

test('users who show no uid are not taken out of groups that list uids', async () => {
  await slapd.modify(posix('posix', 'nameless', ['ann', 'bob']))
  const map = { external_id: 'cn', name: 'cn', members: 'memberUid' }
  const of = source('nameless', { filter: '(objectClass=posixGroup)', map })
  const snapshot = await read(of)
  expect(membersOf(snapshot, 'posix')).toEqual([])
  const params = { group: dnOf('posix', 'nameless'), users: { examples: ['ann', 'bob'], total: 2 } }
  expect(await look(of, snapshot, { posix: ['ann', 'bob'] })).toMatchObject({
    posix: { unproved: { code: 'no-uid', params }, unprovedMembers: ['ann', 'bob'] },
  })
})

test('users who show no uid are taken out of groups that list DNs and no uids, where groups may list both', async () => {
  await slapd.modify(group('team', 'nameless', people('nameless', 'cid')))
  const map = { external_id: 'cn', name: 'cn', members: ['member', 'memberUid'] }
  const of = source('nameless', { filter: '(cn=team)', map })
  const snapshot = await read(of)
  expect(membersOf(snapshot, 'team')).toEqual(['cid'])
  expect(await look(of, snapshot, { team: ['ann', 'bob'] })).toEqual({ team: { stillMembers: [] } })
})

function posix(name: string, unit: Unit, memberUid: readonly string[]): string {
  const attributes = { objectClass: ['posixGroup'], cn: [name], gidNumber: ['1'], memberUid }
  return ldif(dnOf(name, unit), { changetype: ['add'], ...attributes })
}

describe('a group within a group', () => {
  const filter = '(cn=outer)'

  test('is read again too, wherever it is now', async () => {
    const [outer, inner] = [dnOf('outer', 'inner'), dnOf('inner', 'inner')]
    await slapd.modify(
      group('inner', 'inner', people('inner', 'bob')) +
        group('outer', 'inner', [inner, ...people('inner', 'cid')]),
    )
    const of = source('inner', { filter, nested: 'flatten' })
    const snapshot = await read(of)
    expect(membersOf(snapshot, 'outer')).toEqual(['bob', 'cid'])
    const added = ldif(inner, { changetype: ['modify'], add: ['member'], member: people('inner', 'ann') })
    await slapd.modify(added)
    expect(await look(of, snapshot, { outer: ['ann'] })).toEqual({ outer: { stillMembers: ['ann'] } })
    await slapd.modify(rename(inner, dnOf('within', 'inner'), [outer]))
    expect(await look(of, snapshot, { outer: ['ann'] })).toEqual({ outer: { stillMembers: ['ann'] } })
  })
})

test('groups within groups within a group are read again', async () => {
  const [middle, inner] = [dnOf('middle', 'deep'), dnOf('inner', 'deep')]
  await slapd.modify(
    group('inner', 'deep', people('deep', 'bob')) +
      group('middle', 'deep', [inner]) +
      group('outer', 'deep', [middle]),
  )
  const of = source('deep', { nested: 'flatten' })
  const snapshot = await read(of)
  await slapd.modify(ldif(inner, { changetype: ['modify'], add: ['member'], member: people('deep', 'ann') }))
  expect(await look(of, snapshot, { outer: ['ann', 'cid'] })).toEqual({ outer: { stillMembers: ['ann'] } })
})

describe('a group', () => {
  test('that lists a DN anew which the server does not show is left alone', async () => {
    const [team, foreign] = [dnOf('team', 'anew'), 'cn=new,dc=elsewhere']
    await slapd.modify(group('team', 'anew', people('anew', 'bob')))
    const of = source('anew')
    const snapshot = await read(of)
    await slapd.modify(ldif(team, { changetype: ['modify'], add: ['member'], member: [foreign] }))
    const { team: seen } = await look(of, snapshot, { team: ['ann'] })
    expect(seen?.unproved).toEqual({
      code: 'unresolved',
      params: { ...ownList('team', 'anew'), member: foreign },
    })
    // What it listed before is nobody who was renamed since.
    const again = await read(of)
    expect(await look(of, again, { team: ['ann'] })).toEqual({ team: { stillMembers: [] } })
  })

  test('whose list the bind account cannot read is not empty, nor is a group around it', async () => {
    const shut = dnOf('shut', 'hidden')
    await slapd.modify(
      group('shut', 'hidden', people('hidden', 'ann', 'bob')) +
        group('around', 'hidden', [shut, ...people('hidden', 'cid')]),
    )
    const of = source('hidden', { nested: 'flatten' })
    const snapshot = await read(of)
    expect([membersOf(snapshot, 'shut'), membersOf(snapshot, 'around')]).toEqual([[], ['cid']])
    const required = (dn: string) => ({
      code: 'attribute-required',
      params: { group: dn, list: shut, attribute: 'member' },
    })
    expect(await look(of, snapshot, { shut: ['ann', 'bob'], around: ['ann'] })).toEqual({
      shut: { stillMembers: [], unproved: required(shut) },
      around: { stillMembers: [], unproved: required(dnOf('around', 'hidden')) },
    })
  })

  test('that lists the empty DN only is proved to be empty', async () => {
    await slapd.modify(group('team', 'empty', ['']))
    const of = source('empty')
    const snapshot = await read(of)
    expect(snapshot.lists?.withMembers).toBe(0)
    expect(await look(of, snapshot, { team: ['ann'] })).toEqual({
      team: { stillMembers: [], provedEmpty: true },
    })
  })

  test('that loses another member meanwhile is left alone', async () => {
    await slapd.modify(group('team', 'again', people('again', 'ann', 'bob', 'cid')))
    const of = source('again')
    const snapshot = await read(of)
    await slapd.modify(dropMember(dnOf('team', 'again'), dnOf('bob', 'again')))
    expect(await look(of, snapshot, { team: ['dan'] })).toEqual({
      team: {
        stillMembers: [],
        unproved: { code: 'more-removed', params: { group: dnOf('team', 'again'), members: 1 } },
      },
    })
  })

  test('that is not found any more is left alone', async () => {
    await slapd.modify(
      group('team', 'gone', people('gone', 'ann')) + group('other', 'gone', people('gone', 'ann')),
    )
    const of = source('gone')
    const snapshot = await read(of)
    await slapd.modify(ldif(dnOf('team', 'gone'), { changetype: ['delete'] }))
    expect(await look(of, snapshot, { team: ['bob'] })).toEqual({
      team: { stillMembers: [], unproved: { code: 'not-found', params: { group: dnOf('team', 'gone') } } },
    })
  })

  test('that lists names and shows none is not proved to be empty by what its users say they are in', async () => {
    await slapd.modify(
      posix('posix', 'unnamed', ['ann', 'bob']) + group('crew', 'unnamed', people('unnamed', 'cid')),
    )
    for (const members of ['memberUid', ['memberUid', 'member']]) {
      const of = source('unnamed', { filter: '(cn=posix)', map: { external_id: 'cn', name: 'cn', members } })
      const snapshot = await read(of)
      expect(membersOf(snapshot, 'posix')).toEqual([])
      const looks = await look(of, snapshot, { posix: ['ann', 'bob'] })
      expect(looks).toEqual({ posix: { stillMembers: [], provedEmpty: false } })
    }
  })
})

describe('where users say what they are in, a group', () => {
  const groups = { membersFrom: 'memberOf', nested: 'flatten' } as const

  test('that was renamed between the reads keeps its members', async () => {
    await slapd.modify(group('team', 'told', people('told', 'ann', 'bob')))
    const of = source('told', groups)
    before(BEFORE_GROUPS, rename(dnOf('team', 'told'), dnOf('crew', 'told')))
    const snapshot = await read(of)
    expect(membersOf(snapshot, 'team')).toEqual([])
    expect(await look(of, snapshot, { team: ['ann', 'bob', 'cid'] })).toEqual({
      team: { stillMembers: ['ann', 'bob'] },
    })
  })

  test('is not proved to be empty by users who do not say it', async () => {
    await slapd.modify(
      group('team', 'untold', people('untold', 'ann', 'bob')) +
        group('crew', 'untold', people('untold', 'cid')),
    )
    const of = source('untold', groups)
    const snapshot = await read(of)
    expect(membersOf(snapshot, 'team')).toEqual([])
    const { team } = await look(of, snapshot, { team: ['ann', 'bob'] })
    expect(team).toEqual({ stillMembers: [], provedEmpty: false })
  })

  test('is looked for above the groups that they name now', async () => {
    const [inner, outer] = [dnOf('inner', 'above'), dnOf('outer', 'above')]
    await slapd.modify(group('inner', 'above', people('above', 'bob')) + group('outer', 'above', [inner]))
    const of = source('above', { ...groups, filter: '(cn=outer)' })
    const snapshot = await read(of)
    expect(membersOf(snapshot, 'outer')).toEqual(['bob'])
    await slapd.modify(group('second', 'above', people('above', 'ann')))
    await slapd.modify(
      ldif(outer, { changetype: ['modify'], add: ['member'], member: people('above', 'second') }),
    )
    expect(await look(of, snapshot, { outer: ['ann', 'cid'] })).toEqual({ outer: { stillMembers: ['ann'] } })
  })
})
