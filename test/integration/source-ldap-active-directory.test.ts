import { randomInt } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { pino } from 'pino'
import { silentLog, type Log } from '../../src/base/log/log.ts'
import { createLdapSource } from '../../src/source/ldap/ldap-source.ts'
import { recheckLosses } from '../../src/sync/recheck-losses.ts'
import type { LdapGroupOptions, LdapSourceOptions, LdapUserOptions } from '../../src/source/ldap/options.ts'
import { valueBytes } from '../../src/source/ldap/values.ts'
import { type FakeAnswer, type FakeEntry, type FakeSearch, startFakeLdap } from '../support/fake-ldap.ts'

const NEVER = new AbortController().signal
const BASE = 'DC=ad,DC=test'
const RANGE = 1500
const BIG = `CN=big,${BASE}`
const SCHEMA = 'CN=Schema,DC=ad,DC=test'
const ROOT: FakeEntry = {
  dn: '',
  attributes: {
    supportedCapabilities: ['1.2.840.113556.1.4.800'],
    defaultNamingContext: [BASE],
    schemaNamingContext: [SCHEMA],
  },
}

const guid = (index: number) => `00000000-0000-0000-0000-${String(index).padStart(12, '0')}`
const userDn = (index: number) => `CN=User ${index},OU=Staff,${BASE}`
const bytes = (attribute: string, text: string) => valueBytes(attribute, text)[0] ?? Buffer.alloc(0)

function user(index: number, domain = 'S-1-5-21-1-2-3'): FakeEntry {
  const attributes = {
    objectGUID: [bytes('objectGUID', guid(index))],
    objectSid: [bytes('objectSid', `${domain}-${1000 + index}`)],
    primaryGroupID: ['513'],
    userAccountControl: ['512'],
    memberOf: [BIG.replace(',', ' , ').toUpperCase()],
    displayName: [`User ${index}`],
  }
  return { dn: userDn(index), attributes }
}

function group(dn: string, index: number, rid: number, more: FakeEntry['attributes'] = {}): FakeEntry {
  const sid = [bytes('objectSid', `S-1-5-21-1-2-3-${rid}`)]
  return {
    dn,
    attributes: { objectGUID: [bytes('objectGUID', guid(index))], cn: [dn], objectSid: sid, ...more },
  }
}

const DOMAIN_USERS = group(`CN=Domain Users,${BASE}`, 9001, 513)

interface World {
  readonly users: readonly FakeEntry[]
  readonly groups: readonly FakeEntry[]
  /** The members of the big group, and its uSNChanged, as they are at this moment. */
  readonly big?: () => { readonly members: readonly string[]; readonly usn: number | undefined }
  /** How many members come at once. */
  readonly range?: number
  /** What a server makes of a part of the big group on its way. */
  readonly tamper?: (attributes: FakeEntry['attributes']) => FakeEntry['attributes']
  readonly disabled?: readonly FakeEntry[]
  /** Groups that are not within the sync's filter. */
  readonly outside?: readonly FakeEntry[]
  readonly references?: readonly string[]
}

/** As a domain controller answers: large attributes in ranges, nobody listed in the primary group. */
function controller(world: World) {
  const { users, groups, big, range = RANGE, tamper = (same) => same } = world
  const { disabled = [], outside = [], references = [] } = world
  return (search: FakeSearch): FakeAnswer => {
    if (search.base === '') return { entries: [ROOT] }
    if (search.base === SCHEMA) return { entries: notReplicated(search) }
    if (search.base === BIG && big !== undefined) {
      const { dn, attributes } = bigEntry(search, big(), range)
      return { entries: [{ dn, attributes: tamper(attributes) }] }
    }
    if (search.filter.includes('803:=2')) return { entries: disabled }
    if (search.filter.includes('(!')) return { entries: outside }
    if (search.filter.includes('1941:=')) return { entries: users.slice(0, 2) }
    if (!search.filter.includes('objectclass=group')) return { entries: users, references }
    const whole = big === undefined ? [] : [bigEntry({ ...search, attributes: ['member'] }, big(), range)]
    return { entries: [...groups, ...whole] }
  }
}

function bigEntry(
  { attributes }: Pick<FakeSearch, 'attributes'>,
  { members, usn }: ReturnType<NonNullable<World['big']>>,
  range: number,
): FakeEntry {
  const asked = attributes.find((name) => name.startsWith('member'))
  const from = Number(/range=(\d+)/.exec(asked ?? '')?.[1] ?? 0)
  const part = members.slice(from, from + range)
  const to = from + range >= members.length ? '*' : String(from + range - 1)
  const mark = usn === undefined ? {} : { uSNChanged: [String(usn)] }
  return group(BIG, 9000, 5000, { member: [], [`member;range=${from}-${to}`]: part, ...mark })
}

interface More {
  readonly users?: Partial<LdapUserOptions>
  readonly groups?: Partial<LdapGroupOptions>
  readonly options?: Partial<LdapSourceOptions>
  readonly log?: Log
  /** Where the server listens. */
  readonly at?: { readonly host: string; readonly port: number }
}

const SETTINGS = {
  tls: { startTls: false },
  pageSize: 1000,
  timeouts: { connectMs: 60_000, answerMs: 60_000 },
} as const

async function read(world: World, { users, groups, options, log = silentLog(), at }: More = {}) {
  await using server = await startFakeLdap(controller(world), at)
  const source = createLdapSource(
    {
      ...SETTINGS,
      url: server.url,
      pageSize: 5000,
      users: { base: BASE, scope: 'sub', map: { name: 'displayName' }, ...users },
      groups: { base: BASE, scope: 'sub', map: { name: 'cn' }, ...groups },
      ...options,
    },
    log,
  )
  return { snapshot: await source.read(NEVER), searches: server.searches }
}

function reversed(attributes: FakeEntry['attributes']): FakeEntry['attributes'] {
  return Object.fromEntries(Object.entries(attributes).toReversed())
}

const people = (count: number) => Array.from({ length: count }, (_, index) => user(index))

describe('a group with more members than one answer holds', () => {
  test('is read range by range, behind the pages', async () => {
    const members = Array.from({ length: 3000 }, (_, index) => userDn(index))
    const world = { users: people(3001), groups: [DOMAIN_USERS], big: () => ({ members, usn: 7 }) }
    const { snapshot, searches } = await read(world)
    expect(snapshot.groups.get(guid(9000))?.members).toHaveLength(3000)
    const asked = searches.filter(({ base }) => base === BIG).map(({ attributes }) => attributes)
    expect(asked.map((names) => names.find((name) => name.startsWith('member')))).toEqual([
      'member',
      // The last value of the range before comes again: it tells whether anything has moved.
      'member;range=1499-*',
      'member;range=2998-*',
    ])
  })

  test.each([
    ['shows', 8],
    ['does not show, because a member was deleted', 7],
  ])('is read again after a change between two ranges that it %s', async (_, usn) => {
    let looks = 0
    const members = Array.from({ length: 3200 }, (__, index) => userDn(index))
    const big = () => {
      looks += 1
      if (looks === 3) members.shift()
      return { members, usn: looks < 3 ? 7 : usn }
    }
    const { snapshot } = await read({ users: people(3200), groups: [], big })
    const ids = snapshot.groups.get(guid(9000))?.members
    expect([ids?.length, ids?.includes(guid(0)), ids?.includes(guid(RANGE))]).toEqual([3199, false, true])
  })

  test('is read whole when its empty attribute comes behind the range', async () => {
    const members = Array.from({ length: 3000 }, (_, index) => userDn(index))
    const { snapshot } = await read({
      users: people(3000),
      groups: [],
      big: () => ({ members, usn: 7 }),
      tamper: reversed,
    })
    expect(snapshot.groups.get(guid(9000))?.members).toHaveLength(3000)
  })

  test.each<[string, (look: number) => boolean, number | undefined]>([
    ['and is there again is read again', (look) => look === 2, 3000],
    ['for good is an incomplete read', (look) => look > 1, undefined],
  ])('that vanishes between two ranges %s', async (_, isAway, expected) => {
    const members = Array.from({ length: 3000 }, (__, index) => userDn(index))
    const world = controller({ users: people(3000), groups: [], big: () => ({ members, usn: 7 }) })
    let looks = 0
    await using server = await startFakeLdap((search) => {
      if (search.base === BIG) looks += 1
      return search.base === BIG && isAway(looks) ? { code: 32 } : world(search)
    })
    const place = { base: BASE, scope: 'sub', map: { name: 'cn' } } as const
    const source = createLdapSource(
      { ...SETTINGS, url: server.url, users: place, groups: place },
      silentLog(),
    )
    const reading = source.read(NEVER)
    if (expected === undefined) {
      await expect(reading).rejects.toMatchObject({ code: 'source-incomplete' })
      await expect(reading).rejects.toThrow(/could not read all of "CN=big.*it is no longer there/)
      return
    }
    const whole = reading.then(({ groups }) => groups.get(guid(9000))?.members.length)
    await expect(whole).resolves.toBe(expected)
  })

  test.each<[string, string, number]>([
    ['begins again', 'member;range=0-*', 1500],
    ['has fewer values than it says', 'member;range=1499-2998', 3],
    ['is empty and not the last', 'member;range=1499-1498', 0],
  ])('whose second range %s is an incomplete read', async (_, name, count) => {
    const members = Array.from({ length: 2999 }, (__, index) => userDn(index))
    const tamper = ({ 'member;range=1499-*': second, ...others }: FakeEntry['attributes']) =>
      second === undefined ? others : { ...others, [name]: second.slice(0, count) }
    const reading = read({ users: people(10), groups: [], big: () => ({ members, usn: 7 }), tamper })
    await expect(reading).rejects.toMatchObject({ code: 'source-incomplete' })
    await expect(reading).rejects.toThrow('the server does not go on with value 1500 of member')
  })

  test('that never stops to change is left as it is, and named', async () => {
    let looks = 0
    const members = Array.from({ length: 3000 }, (_, index) => userDn(index))
    const big = () => {
      looks += 1
      return { members, usn: looks }
    }
    const { snapshot } = await read({ users: people(10), groups: [], big })
    expect(snapshot.users.size).toBe(10)
    expect([...snapshot.groups.keys()]).not.toContain(guid(9000))
    expect(snapshot.seen.group.has(guid(9000))).toBe(true)
    expect(snapshot.notices).toMatchObject([
      {
        kind: 'group',
        id: guid(9000),
        code: 'members-hidden',
        params: expect.objectContaining({ why: 'changing', isOwn: true }),
      },
    ])
  })

  test('that does not show whether it changes is an incomplete read', async () => {
    const members = Array.from({ length: 3000 }, (_, index) => userDn(index))
    const reading = read({ users: people(10), groups: [], big: () => ({ members, usn: undefined }) })
    await expect(reading).rejects.toMatchObject({ code: 'source-incomplete' })
    await expect(reading).rejects.toThrow('does not see whether it changes meanwhile')
  })
})

test('a server that cuts off a page is asked for shorter ones, and no user is counted twice', async () => {
  const users = [{ dn: `CN=no id,${BASE}`, attributes: {} }, ...people(5)]
  let cut = 0
  await using server = await startFakeLdap(({ base, filter }) => {
    if (base === '' || filter.includes('=group')) return { entries: base === '' ? [ROOT] : [] }
    cut += 1
    return cut === 1 ? { entries: users.slice(0, 3), code: 4 } : { entries: users }
  })
  const place = { base: BASE, scope: 'sub', map: {} } as const
  const source = createLdapSource(
    {
      ...SETTINGS,
      url: server.url,
      users: place,
    },
    silentLog(),
  )
  const snapshot = await source.read(NEVER)
  expect([...snapshot.users.keys()].toSorted()).toEqual([0, 1, 2, 3, 4].map(guid))
  expect([cut, snapshot.unreadable, snapshot.notices.length]).toEqual([2, 1, 1])
})

test('a source without an attribute of members does not cover memberships', async () => {
  await using server = await startFakeLdap(({ attributes }) =>
    attributes.includes('cn') ? { entries: [{ dn: `cn=g,${BASE}`, attributes: { cn: ['g'] } }] } : {},
  )
  const place = { base: BASE, scope: 'sub' } as const
  const source = createLdapSource(
    {
      ...SETTINGS,
      url: server.url,
      users: { ...place, filter: '(uid=*)', map: { external_id: 'uid' } },
      groups: { ...place, filter: '(cn=*)', map: { external_id: 'cn', name: 'cn' } },
    },
    silentLog(),
  )
  const { covers, groups } = await source.read(NEVER)
  expect(covers).toEqual({ groups: true, members: false })
  expect(groups.get('g')?.members).toEqual([])
})

describe('Active Directory', () => {
  test('identifies users by objectGUID, and computes the primary group in each domain', async () => {
    const stranger = user(2, 'S-1-5-21-9-9-9')
    const { snapshot, searches } = await read({ users: [user(0), user(1), stranger], groups: [DOMAIN_USERS] })
    expect([...snapshot.users.keys()]).toEqual([guid(0), guid(1), guid(2)])
    expect(snapshot.groups.get(guid(9001))?.members).toEqual([guid(0), guid(1)])
    const filters = searches.map(({ filter }) => filter)
    expect(filters).toContain('(&(objectcategory=person)(objectclass=user))')
  })

  test('shows disabled accounts by a bit of userAccountControl', async () => {
    const world = { users: people(3), groups: [], disabled: [user(1)] }
    const { snapshot } = await read(world, { users: { disabled: 'delete' } })
    expect([...snapshot.users.keys()]).toEqual([guid(0), guid(2)])
    expect(snapshot.notices).toMatchObject([{ code: 'disabled', id: guid(1) }])
  })

  test('hides userAccountControl from the bind account: the log names the attribute', async () => {
    const users = people(2).map(({ dn, attributes }) => {
      const { userAccountControl: _, ...visible } = attributes
      return { dn, attributes: visible }
    })
    const lines: { readonly attributes?: string[] }[] = []
    const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(JSON.parse(line)) })
    const { snapshot } = await read({ users, groups: [] }, { users: { disabled: 'delete' }, log })
    expect(snapshot.users.size).toBe(2)
    expect(lines.flatMap(({ attributes }) => attributes)).toEqual(['userAccountControl'])
  })

  test('follows chains of groups itself', async () => {
    const groups = { nested: 'in-chain', primaryGroup: false } as const
    const world = { users: people(4), groups: [DOMAIN_USERS] }
    const { snapshot, searches } = await read(world, { groups })
    expect(snapshot.groups.get(guid(9001))?.members).toEqual([guid(0), guid(1)])
    expect(searches.some(({ attributes }) => attributes.includes('member'))).toBe(false)
  })

  test('does not follow chains to a primary group, so that the groups around it are asked for', async () => {
    const everybody = group(`CN=Everybody,${BASE}`, 9002, 5001)
    const world = controller({ users: people(4), groups: [DOMAIN_USERS, everybody] })
    await using server = await startFakeLdap((search) => {
      // Nobody is listed; Domain Users is, in one group.
      if (search.filter.includes('(memberof:')) return {}
      if (search.filter.includes('(objectsid=')) return { entries: [DOMAIN_USERS] }
      return search.filter.includes('(member:') ? { entries: [everybody] } : world(search)
    })
    const place = { base: BASE, scope: 'sub', map: { name: 'cn' } } as const
    const source = createLdapSource(
      {
        ...SETTINGS,
        url: server.url,
        users: place,
        groups: { ...place, nested: 'in-chain' },
      },
      silentLog(),
    )
    const { groups } = await source.read(NEVER)
    expect([...groups.values()].map(({ members }) => members.length)).toEqual([4, 4])
  })

  test('follows that side through groups that are not in the sync, in circles too', async () => {
    const above = group(`CN=above,${BASE}`, 9002, 5001)
    const between = group(`CN=between,${BASE}`, 9003, 5002, { memberOf: [above.dn, `cn=other,${BASE}`] })
    const other = group(`CN=other,${BASE}`, 9004, 5003, { memberOf: [between.dn] })
    const big = group(BIG, 9000, 5000, { memberOf: [other.dn] })
    const groups = { membersFrom: 'memberOf', nested: 'flatten', primaryGroup: false } as const
    const world = { users: people(4), groups: [above], outside: [between, other, big] }
    const { snapshot, searches } = await read(world, { groups })
    expect(snapshot.groups.get(guid(9002))?.members).toHaveLength(4)
    expect(snapshot.groups.size).toBe(1)
    const inside = await read({ users: people(4), groups: [group(BIG, 9000, 5000)] }, { groups })
    expect(inside.searches.length).toBeLessThan(searches.length)
  })

  test('may refer to other servers: reported, or refused', async () => {
    const urls = ['emea', 'apac', 'Configuration'].map((dc) => `ldap://dc/DC=${dc},${BASE}`)
    const world = { users: people(2), groups: [], references: urls }
    const lines: { readonly references?: number }[] = []
    const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(JSON.parse(line)) })
    expect((await read(world, { log })).snapshot.users.size).toBe(2)
    expect(lines.map(({ references }) => references)).toContain(3)
    const refusing = read(world, { options: { referrals: 'refuse' } })
    await expect(refusing).rejects.toThrow('the server names 3 other places to look at')
  })

  test('refers to its configuration and its name servers, where nobody is', async () => {
    const places = ['CN=Configuration', 'DC=DomainDnsZones', 'DC=ForestDnsZones']
    const urls = places.map((place) => `ldap://${place}.corp.example/${place},${BASE}`)
    const lines: string[] = []
    const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) })
    const world = { users: people(2), groups: [], references: urls }
    const { snapshot } = await read(world, { log, options: { referrals: 'refuse' } })
    expect(snapshot.users.size).toBe(2)
    expect(lines).toEqual([])
  })
})

/** The user who names these groups; without any, the attribute is not shown. */
function named(index: number, ...memberOf: readonly string[]): FakeEntry {
  const { dn, attributes } = user(index)
  return { dn, attributes: { ...attributes, memberOf } }
}

describe('a look at members who would be lost', () => {
  const BY_ID = '(objectguid='
  const TEAM = `CN=Team,${BASE}`

  interface Second {
    /** The users as the look finds them by their ids. */
    readonly users: readonly FakeEntry[]
    /** The groups as the look finds them by their ids. */
    readonly groups: readonly FakeEntry[]
    /** Whether the server finds nobody by id. */
    readonly unsearchable?: boolean
  }

  /** Reads, and then looks at what the big group, or another one, would lose. */
  async function lookAt(world: World, second: Second, lost: ReadonlyMap<string, readonly string[]>) {
    const answer = controller(world)
    let isLook = false
    await using server = await startFakeLdap((search) => {
      // The entry at the DN of a group.
      if (isLook && search.base.toLowerCase() === TEAM.toLowerCase()) return { entries: second.groups }
      if (!isLook || !search.filter.includes(BY_ID)) return answer(search)
      if (second.unsearchable === true) return {}
      // Their attributes are not asked for to prove that entries can be found by their ids.
      if (search.attributes.every((name) => name === 'objectGUID' || name === 'objectClass'))
        return { entries: [...world.users, ...second.groups] }
      const found = search.attributes.includes('memberOf') ? second.users : second.groups
      return { entries: found }
    })
    const place = { base: BASE, scope: 'sub', map: { name: 'cn' } } as const
    const source = createLdapSource(
      { ...SETTINGS, url: server.url, users: place, groups: { ...place, primaryGroup: false } },
      silentLog(),
    )
    const snapshot = await source.read(NEVER)
    isLook = true
    return { snapshot, looks: await recheckLosses(source, snapshot, lost, NEVER) }
  }

  const lost = new Map([[guid(9005), [guid(0), guid(1)]]])

  test('reads a list of many members range by range', async () => {
    const members = Array.from({ length: 3000 }, (_, index) => userDn(index))
    const renamed = [...members.slice(1), `CN=Renamed,${BASE}`]
    const all = { users: people(3000), groups: [] }
    let looks = 0
    const big = () => {
      looks += 1
      return { members: renamed, usn: 7 }
    }
    const { attributes } = user(0)
    const found = {
      users: [{ dn: `CN=Renamed,${BASE}`, attributes }],
      groups: [bigEntry({ attributes: ['member'] }, big(), RANGE)],
    }
    const result = await lookAt({ ...all, big }, found, new Map([[guid(9000), [guid(0)]]]))
    expect(result.snapshot.groups.get(guid(9000))?.members).toHaveLength(2999)
    expect(result.looks).toEqual(new Map([[guid(9000), { stillMembers: [guid(0)] }]]))
    expect(looks).toBeGreaterThan(4)
  })

  test.each<[string, readonly FakeEntry[], object]>([
    [
      'is not proved where the users still name it',
      [named(0, TEAM), named(1)],
      { unproved: { code: 'member-of', params: { group: TEAM, list: TEAM, attributes: [], users: 1 } } },
    ],
    ['is proved where the users name others', [named(0, BIG), named(1)], { provedEmpty: true }],
  ])('of a group that lists nobody %s', async (_, users, expected) => {
    const team = group(TEAM, 9005, 5005, { objectClass: ['group'] })
    const { looks } = await lookAt({ users: people(2), groups: [team] }, { users, groups: [team] }, lost)
    expect(looks?.get(guid(9005))).toEqual({ stillMembers: [], ...expected })
  })

  test('of a group without members proves nothing where no user shows memberOf', async () => {
    const team = group(TEAM, 9005, 5005)
    const bare = [named(0), named(1)]
    const { looks } = await lookAt({ users: bare, groups: [team] }, { users: bare, groups: [team] }, lost)
    expect(looks?.get(guid(9005))).toEqual({ stillMembers: [], provedEmpty: false })
  })

  test('of users who cannot be found by their ids fails', async () => {
    const team = group(TEAM, 9005, 5005)
    const second = { users: [], groups: [team], unsearchable: true }
    const looking = lookAt({ users: people(2), groups: [team] }, second, lost)
    await expect(looking).rejects.toMatchObject({ code: 'source-incomplete' })
  })
})

/** Of the attributes that a search of the schema names, those that are not in the global catalog. */
function notReplicated({ filter }: FakeSearch): FakeEntry[] {
  return ['memberOf', 'employeeNumber', 'employeeType']
    .filter((name) => filter.includes(`=${name.toLowerCase()})`))
    .map((name) => ({ dn: `CN=${name},${SCHEMA}`, attributes: { lDAPDisplayName: [name] } }))
}

function typed(dn: string, index: number, groupType: string, member: readonly string[] = []): FakeEntry {
  return group(dn, index, index, { groupType: [groupType], ...(member.length > 0 && { member }) })
}

/** Groups that are asked for without their ids are not those of the filter. */
function isOther({ attributes }: FakeSearch): boolean {
  return attributes.includes('groupType') && !attributes.includes('objectGUID')
}

describe('a global catalog', () => {
  const other = 'DC=other,DC=test'
  const [universal, global] = ['-2147483640', '-2147483646']
  const host = `127.${randomInt(16, 240)}.${randomInt(1, 250)}.${randomInt(1, 250)}`
  const at = { host, port: 3268 }
  const world = {
    users: people(4),
    groups: [
      typed(`CN=Everywhere,${other}`, 9001, universal, [userDn(0)]),
      typed(`CN=Hidden,${other}`, 9002, global),
      typed(`CN=Own,${BASE}`, 9003, global, [userDn(1)]),
      typed(`CN=Around,${other}`, 9004, universal, [userDn(2), `CN=Hidden,${other}`]),
    ],
  }

  test('leaves groups alone whose members it does not have', async () => {
    const { snapshot } = await read(world, { at })
    const members = new Map([...snapshot.groups].map(([id, { members: ids }]) => [id, ids]))
    expect(members).toEqual(
      new Map([
        [guid(9001), [guid(0)]],
        [guid(9003), [guid(1)]],
        [guid(9004), [guid(2)]],
      ]),
    )
    expect([...snapshot.seen.group]).toContain(guid(9002))
    const hidden = snapshot.notices.filter(({ code }) => code === 'members-hidden')
    expect(hidden.map(({ id }) => id)).toEqual([guid(9002)])
    expect(hidden[0]?.params).toMatchObject({
      from: expect.stringMatching(/^CN=Hidden,/),
      why: 'global-catalog',
      isOwn: true,
    })
  })

  test('that does not say which domain is its own leaves all groups alone that are not universal', async () => {
    const odd = typed('CN=Odd,O=odd', 9005, global)
    const answer = controller({ users: world.users, groups: [...world.groups, odd] })
    const root = { dn: '', attributes: { supportedCapabilities: ['1.2.840.113556.1.4.800'] } }
    await using server = await startFakeLdap(
      (search) => (search.base === '' ? { entries: [root] } : answer(search)),
      at,
    )
    const place = { base: BASE, scope: 'sub', map: { name: 'cn' } } as const
    const source = createLdapSource(
      { ...SETTINGS, url: server.url, users: place, groups: place },
      silentLog(),
    )
    const { groups, notices } = await source.read(NEVER)
    expect([...groups.keys()]).toEqual([guid(9001), guid(9004)])
    const hidden = notices.filter(({ code }) => code === 'members-hidden')
    expect(hidden.map(({ id }) => id)).toEqual([guid(9002), guid(9003), guid(9005)])
  })

  test.each<'member' | 'memberOf'>(['member', 'memberOf'])(
    'looks for such groups outside of the filter too, told by %s',
    async (membersFrom) => {
      const [around, hidden] = [`CN=Around,${other}`, `CN=Hidden,${other}`]
      const isInFilter = ({ dn }: FakeEntry) => dn !== hidden
      const told = world.groups.map(({ dn, attributes }) => ({
        dn,
        attributes: { ...attributes, ...(dn === hidden && { memberOf: [around] }) },
      }))
      // No member names a group that was not read.
      const users = world.users.map(({ dn, attributes }) => ({
        dn,
        attributes: { ...attributes, memberOf: [around] },
      }))
      const answer = controller({ users, groups: told.filter(isInFilter) })
      await using server = await startFakeLdap(
        (search) => (isOther(search) ? { entries: told } : answer(search)),
        at,
      )
      const place = { base: BASE, scope: 'sub', map: { name: 'cn' } } as const
      const source = createLdapSource(
        {
          ...SETTINGS,
          url: server.url,
          users: place,
          groups: { ...place, nested: 'flatten', membersFrom },
        },
        silentLog(),
      )
      const { groups, notices } = await source.read(NEVER)
      expect([...groups.keys()]).toEqual([guid(9001), guid(9003)])
      expect(notices.filter(({ code }) => code === 'members-hidden').map(({ id }) => id)).toEqual([
        guid(9004),
      ])
    },
  )

  test('is not asked for what it does not have', async () => {
    const filter = '(&(objectClass=user)(!(employeeType=external))(memberOf=CN=x,DC=y))'
    await expect(read(world, { at, users: { filter } })).rejects.toMatchObject({
      code: 'config-invalid',
      message:
        `users: the global catalog ldap://${host}:3268 does not have employeeType, which the filter or the map needs; ` +
        'read from port 389 or 636, leave it out, or let the schema replicate it',
    })
    const map = { name: 'cn', employee_id: 'employeeNumber' }
    await expect(read(world, { at, users: { map } })).rejects.toThrow('does not have employeeNumber')
    const disabled = { disabled: 'delete', disabledWhen: '(employeeType=left)' } as const
    await expect(read(world, { at, users: disabled })).rejects.toThrow('does not have employeeType')
    const groups = { filter: '(employeeType=team)' }
    await expect(read(world, { at, groups })).rejects.toThrow('groups: the global catalog')
  })

  test('does not follow chains', async () => {
    const groups = { nested: 'in-chain' } as const
    await expect(read(world, { at, groups })).rejects.toThrow(
      /^groups\.nested: "in-chain" overlooks members at the global catalog ldap:.*:3268; use "flatten"/,
    )
  })
})
