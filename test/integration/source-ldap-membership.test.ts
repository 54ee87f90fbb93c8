import { noticeText } from '../../src/ui/messages/notices.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { silentLog } from '../../src/base/log/log.ts'
import { createLdapSource } from '../../src/source/ldap/ldap-source.ts'
import type { LdapGroupOptions, LdapSourceOptions, LdapUserOptions } from '../../src/source/ldap/options.ts'
import type { SourceSnapshot } from '../../src/core/entries/snapshot.ts'
import { ldif } from '../support/people.ts'
import { BASE, type Slapd, startSlapd } from '../support/slapd.ts'
import { statesOf } from '../support/states-of.ts'

const NEVER = new AbortController().signal
const ORG = `ou=org,${BASE}`
const PEOPLE = `ou=staff,${ORG}`
const GROUPS = `ou=teams,${ORG}`
const HELPERS = `ou=helpers,${ORG}`
const BACK = `ou=back,${BASE}`
const CHAIN = 30

let slapd: Slapd

beforeAll(async () => {
  const acl = ['limits anonymous size=unlimited size.pr=100 size.prtotal=unlimited']
  slapd = await startSlapd({ people: 1200, ldifs: records(), acl })
})

afterAll(async () => {
  await slapd.close()
})

const userDn = (name: string) => `uid=${name},${PEOPLE}`
const groupDn = (name: string) => `cn=${name},${GROUPS}`

function records(): string[] {
  return [
    ...[ORG, PEOPLE, GROUPS, HELPERS, BACK].map(unit),
    rehired('gus-old', '7', ['former']),
    rehired('gus', '7', []),
    rehired('ida', '8', ['former']),
    user('ann', { gidNumber: ['100'] }),
    user('bob', { gidNumber: ['100'] }),
    user('cid', { gidNumber: ['200'] }),
    user('dan', { employeeType: ['former'] }),
    ldif(`cn=Eve\\, \\"E\\"+uid=eve,${PEOPLE}`, {
      objectClass: ['inetOrgPerson'],
      cn: ['Eve, "E"'],
      uid: ['eve'],
      sn: ['eve'],
    }),
    group('direct', [userDn('ann'), userDn('dan'), `uid=ghost,${PEOPLE}`, 'cn=foreign,dc=elsewhere']),
    group('odd', [`UID=Eve + CN=eve\\2C \\22e\\22, OU=Staff,${ORG}`]),
    group('outer', [userDn('ann'), groupDn('inner')]),
    group('inner', [userDn('bob'), groupDn('outer')]),
    group('mixed', [`cn=helper,${HELPERS}`, `cn=away,ou=groups,${BASE}`]),
    group('helper', [userDn('cid')], HELPERS),
    group('away', [userDn('bob')], `ou=groups,${BASE}`),
    ...Array.from({ length: CHAIN }, (_, at) =>
      group(`chain${at}`, at === CHAIN - 1 ? [userDn('cid')] : [groupDn(`chain${at + 1}`)]),
    ),
    ldif(groupDn('posix'), {
      objectClass: ['posixGroup'],
      cn: ['posix'],
      gidNumber: ['100'],
      memberUid: ['cid'],
    }),
  ]
}

function unit(dn: string): string {
  return ldif(dn, { objectClass: ['organizationalUnit'], ou: [dn.slice(3, dn.indexOf(','))] })
}

function user(uid: string, more: Record<string, string[]>): string {
  const posix = more['gidNumber'] === undefined ? {} : { uidNumber: ['1'], homeDirectory: ['/'], cn: [uid] }
  const classes = ['inetOrgPerson', ...(more['gidNumber'] === undefined ? [] : ['posixAccount'])]
  return ldif(userDn(uid), { objectClass: classes, cn: [uid], sn: [uid], uid: [uid], ...posix, ...more })
}

/** People of one number, of whom an old account was kept. */
function rehired(uid: string, number: string, employeeType: readonly string[]): string {
  const attributes = { cn: [uid], sn: [uid], uid: [uid], employeeNumber: [number] }
  const former = employeeType.length === 0 ? {} : { employeeType: [...employeeType] }
  return ldif(`uid=${uid},${BACK}`, { objectClass: ['inetOrgPerson'], ...attributes, ...former })
}

function group(cn: string, member: string[], below = GROUPS): string {
  return ldif(`cn=${cn},${below}`, { objectClass: ['groupOfNames'], cn: [cn], member })
}

interface More {
  readonly users?: Partial<LdapUserOptions>
  readonly groups?: Partial<LdapGroupOptions>
  readonly options?: Partial<LdapSourceOptions>
}

function source({ users, groups, options }: More = {}) {
  const { dn, password } = slapd.readers.reader
  const all: LdapSourceOptions = {
    url: slapd.url,
    tls: { startTls: false },
    bind: { dn, password: async () => password },
    pageSize: 10,
    timeouts: { connectMs: 60_000, answerMs: 60_000 },
    users: { base: PEOPLE, scope: 'sub', map: { external_id: 'uid' }, ...users },
    groups: { base: GROUPS, scope: 'sub', map: { external_id: 'cn', name: 'cn' }, ...groups },
    ...options,
  }
  return createLdapSource(all, silentLog())
}

function membersOf(snapshot: SourceSnapshot, id: string): readonly string[] | undefined {
  return snapshot.groups.get(id)?.members
}

describe('a vendor', () => {
  test('gives what is not configured, found by what the server says', async () => {
    const snapshot = await source({ users: { map: {} }, groups: { map: { name: 'cn' } } }).read(NEVER)
    expect(snapshot.users.size).toBe(5)
    for (const id of snapshot.users.keys()) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f-]{27}$/)
    expect([...snapshot.groups.values()].find(({ name }) => name === 'direct')?.members).toHaveLength(2)
  })

  test.each<[string, More]>([
    ['users.filter: a server of unknown make has no usual value', { options: { vendor: 'generic' } }],
    [
      'users.disabledWhen: a server of the vendor lldap has no usual value',
      { options: { vendor: 'lldap' }, users: { disabled: 'skip' } },
    ],
    [
      'groups.nested: "in-chain" is for Active Directory',
      { options: { vendor: '389ds' }, groups: { nested: 'in-chain' } },
    ],
    ['users.base: the list of DNs is empty', { users: { base: [] } }],
    ['users.disabledWhen: "(x" is not an LDAP filter', { users: { disabledWhen: '(x' } }],
  ])('lacks something: %s', (sentence, more) => {
    expect(() => source(more)).toThrow(expect.objectContaining({ code: 'config-invalid' }))
    expect(() => source(more)).toThrow(sentence)
  })

  test('that was found lacks something: the first connection says so', async () => {
    const chain = source({ groups: { nested: 'in-chain' } })
    await expect(chain.read(NEVER)).rejects.toThrow(
      '"in-chain" is for Active Directory, and this is openldap',
    )
    await expect(chain.read(NEVER)).rejects.toMatchObject({ code: 'config-invalid' })
  })
})

describe('disabled accounts', () => {
  const rule = { disabledWhen: '(employeeType=former)' } as const

  test('are kept by default', async () => {
    const snapshot = await source({ users: rule }).read(NEVER)
    expect(snapshot.users.has('dan')).toBe(true)
    expect(snapshot.notices.map(({ code }) => code)).not.toContain('disabled')
  })

  test('are skipped: present, in their groups, and not written', async () => {
    const skipping = source({ users: { ...rule, disabled: 'skip' } })
    const snapshot = await skipping.read(NEVER)
    expect([snapshot.users.has('dan'), snapshot.seen.user.has('dan')]).toEqual([false, true])
    expect(membersOf(snapshot, 'direct')).toEqual(['ann', 'dan'])
    const notice = snapshot.notices.find(({ code }) => code === 'disabled')
    expect(notice).toMatchObject({ kind: 'user', id: 'dan', params: { from: userDn('dan') } })
    expect(await statesOf(skipping.readIds('user', ['dan'], NEVER))).toEqual(new Map([['dan', 'present']]))
  })

  test('are gone, and the second look says why', async () => {
    const deleting = source({ users: { ...rule, disabled: 'delete' } })
    const snapshot = await deleting.read(NEVER)
    expect([snapshot.users.has('dan'), snapshot.seen.user.has('dan')]).toEqual([false, false])
    expect(membersOf(snapshot, 'direct')).toEqual(['ann'])
    expect(await statesOf(deleting.readIds('user', ['ann', 'dan', 'ghost'], NEVER))).toEqual(
      new Map([
        ['ann', 'present'],
        ['dan', 'disabled'],
        ['ghost', 'absent'],
      ]),
    )
  })
})

describe('somebody who came back and has a disabled account of the same id too', () => {
  const map = { external_id: 'employeeNumber', name: 'uid' }
  const coming = (disabled: 'delete' | 'skip') =>
    source({ users: { base: BACK, map, disabledWhen: '(employeeType=former)', disabled } })

  test('is there, where disabled accounts are as good as gone', async () => {
    const snapshot = await coming('delete').read(NEVER)
    expect([...snapshot.users.values()]).toMatchObject([{ id: '7', name: 'gus', from: `uid=gus,${BACK}` }])
    expect([...snapshot.seen.user]).toEqual(['7'])
    const notices = snapshot.notices.filter(({ kind }) => kind === 'user')
    expect(notices.map(({ code, id }) => `${code} ${id}`)).toEqual(['disabled 7', 'disabled 8'])
    expect(await statesOf(coming('delete').readIds('user', ['7', '8'], NEVER))).toEqual(
      new Map([
        ['7', 'present'],
        ['8', 'disabled'],
      ]),
    )
  })

  test('is two entries of one id, where disabled accounts are left as they are', async () => {
    const { users, seen, notices } = await coming('skip').read(NEVER)
    expect([[...users], [...seen.user].toSorted()]).toEqual([[], ['7', '8']])
    const twins = notices.filter(({ code }) => code === 'duplicate-id').map(noticeText)
    expect(twins).toEqual([
      `uid=gus,${BACK}: the id "7" is also used by "uid=gus-old,${BACK}"`,
      `uid=gus-old,${BACK}: the id "7" is also used by "uid=gus,${BACK}"`,
    ])
  })
})

describe('members', () => {
  test('are found whatever the spelling of their DN, and others are named', async () => {
    const snapshot = await source().read(NEVER)
    expect(membersOf(snapshot, 'odd')).toEqual(['eve'])
    expect(membersOf(snapshot, 'direct')).toEqual(['ann', 'dan'])
    const notice = snapshot.notices.find(({ id }) => id === 'direct')
    expect(noticeText(notice!)).toContain(
      `2 members are no users of this sync: "cn=foreign,dc=elsewhere", "uid=ghost`,
    )
  })

  test('of nested groups do not count by themselves', async () => {
    const snapshot = await source({ groups: { nested: 'direct' } }).read(NEVER)
    expect(membersOf(snapshot, 'outer')).toEqual(['ann'])
    expect(membersOf(snapshot, 'chain0')).toEqual([])
  })

  test('of nested groups count when flattened: in circles, at any depth, and outside of the filter', async () => {
    const filter = '(&(objectClass=groupOfNames)(!(cn=chain15)))'
    const groups = { nested: 'flatten', base: [GROUPS, HELPERS], filter } as const
    const snapshot = await source({ groups }).read(NEVER)
    expect(membersOf(snapshot, 'outer')).toEqual(['ann', 'bob'])
    expect(membersOf(snapshot, 'inner')).toEqual(['ann', 'bob'])
    expect(snapshot.groups.has('chain15')).toBe(false)
    expect(membersOf(snapshot, 'chain0')).toEqual(['cid'])
    expect(membersOf(snapshot, 'mixed')).toEqual(['cid'])
    const named = snapshot.notices.filter(({ code }) => code === 'unknown-members').map(({ id }) => id)
    expect(named).toEqual(['direct', 'mixed'])
    expect(snapshot.notices.find(({ id }) => id === 'mixed')?.params).toMatchObject({
      examples: [`cn=away,ou=groups,${BASE}`],
    })
  })

  test('by primary group number and by user name', async () => {
    const groups = { filter: '(objectClass=posixGroup)', primaryGroup: true }
    const map = { external_id: 'cn', name: 'cn', members: 'memberUid' }
    const snapshot = await source({ groups: { ...groups, map } }).read(NEVER)
    expect(membersOf(snapshot, 'posix')).toEqual(['ann', 'bob', 'cid'])
  })
})

test('a server that refuses long pages is asked for shorter ones', async () => {
  const users = { base: `ou=people,${BASE}`, scope: 'sub', map: {} } as const
  const timeouts = { connectMs: 60_000, answerMs: 60_000 }
  const options = { url: slapd.url, tls: { startTls: false }, pageSize: 1000, timeouts, users }
  expect((await createLdapSource(options, silentLog()).read(NEVER)).users.size).toBe(1200)
})

describe('bases', () => {
  test('may be several and overlap: nobody comes twice', async () => {
    const users = { base: [ORG, PEOPLE, `ou=people,${BASE}`] }
    const several = source({ users, options: { pageSize: 1000 } })
    const snapshot = await several.read(NEVER)
    expect([snapshot.users.size, snapshot.notices.filter(({ kind }) => kind === 'user')]).toEqual([1205, []])
    expect(await statesOf(several.readIds('user', ['ann', 'u000001', 'nobody'], NEVER))).toEqual(
      new Map([
        ['ann', 'present'],
        ['u000001', 'present'],
        ['nobody', 'absent'],
      ]),
    )
  })

  test('that overlap count who has no id once', async () => {
    const users = { base: [ORG, PEOPLE], filter: '(sn=*)', map: { external_id: 'employeeType' } }
    const snapshot = await source({ users }).read(NEVER)
    expect([[...snapshot.users.keys()], snapshot.unreadable]).toEqual([['former'], 4])
  })

  test('of which one does not exist are an error', async () => {
    const reading = source({ users: { base: [PEOPLE, `ou=nowhere,${BASE}`] } }).read(NEVER)
    await expect(reading).rejects.toMatchObject({ code: 'source-refused' })
    await expect(reading).rejects.toThrow(
      `has no entry "ou=nowhere,${BASE}", the base of the search: noSuchObject`,
    )
  })
})
