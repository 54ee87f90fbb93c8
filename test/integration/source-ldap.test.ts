import { noticeText } from '../../src/ui/messages/notices.ts'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { pino } from 'pino'
import { type Log, silentLog } from '../../src/base/log/log.ts'
import { createLdapSource } from '../../src/source/ldap/ldap-source.ts'
import type { LdapSourceOptions } from '../../src/source/ldap/options.ts'
import type { Source } from '../../src/source/source.ts'
import { makeCertificates } from '../support/certificates.ts'
import { ldif, person, personGroup } from '../support/people.ts'
import { BASE, type BindUser, type Slapd, startSlapd, peopleSections } from '../support/slapd.ts'
import { statesOf } from '../support/states-of.ts'
import { groupsWithin } from '../../src/core/entries/groups.ts'

const PEOPLE = 10_000
const GROUPS = 200
const NEVER = new AbortController().signal

let slapd: Slapd

const MORE = [
  ldif(`ou=unix,${BASE}`, { objectClass: ['organizationalUnit'], ou: ['unix'] }),
  ldif(`cn=posix,ou=unix,${BASE}`, {
    objectClass: ['posixGroup'],
    cn: ['posix'],
    gidNumber: ['100'],
    memberUid: ['u000001', 'u000002', 'U000003', person(4, BASE).dn.replaceAll(',', ', '), 'ghost'],
  }),
  ldif(`cn=outer,ou=unix,${BASE}`, {
    objectClass: ['posixGroup'],
    cn: ['outer'],
    gidNumber: ['101'],
    memberUid: ['u000005', `CN=posix,OU=unix,${BASE}`],
  }),
  ldif(`cn=unique,ou=unix,${BASE}`, {
    objectClass: ['groupOfUniqueNames'],
    cn: ['unique'],
    uniqueMember: [person(1, BASE).dn, `${person(2, BASE).dn}#'0101'B`, `uid=ghost,${BASE}`],
  }),
  ldif(`ou=odd,${BASE}`, { objectClass: ['organizationalUnit'], ou: ['odd'] }),
  ldif(`cn=one,ou=odd,${BASE}`, {
    objectClass: ['person'],
    cn: ['one'],
    sn: ['same'],
    description: ['b', 'a', 'c'],
  }),
  ldif(`cn=two,ou=odd,${BASE}`, { objectClass: ['person'], cn: ['two'], sn: ['same'] }),
  ldif(`cn=three,ou=odd,${BASE}`, { objectClass: ['person'], cn: ['three', 'drei'], sn: ['three', 'drei'] }),
  ldif(`cn=four,ou=odd,${BASE}`, { objectClass: ['person'], cn: ['four'], sn: ['M\u00fcller \\ (*)'] }),
]

const FAR = [
  ldif(`ou=far,${BASE}`, { objectClass: ['organizationalUnit'], ou: ['far'] }),
  ldif(`cn=near,ou=far,${BASE}`, { objectClass: ['person'], cn: ['near'], sn: ['near'] }),
  ldif(`cn=elsewhere,ou=far,${BASE}`, {
    objectClass: ['referral', 'extensibleObject'],
    cn: ['elsewhere'],
    ref: ['ldap://127.0.0.1:1/dc=elsewhere'],
  }),
]

beforeAll(async () => {
  slapd = await startSlapd({ people: PEOPLE, groups: GROUPS, ldifs: [...MORE, ...FAR] })
})

afterAll(async () => {
  await slapd.close()
})

function as({ dn, password }: BindUser): NonNullable<LdapSourceOptions['bind']> {
  return { dn, password: async () => password }
}

function options(more: Partial<LdapSourceOptions> = {}): LdapSourceOptions {
  const { users, groups } = peopleSections(BASE)
  return {
    url: slapd.url,
    tls: { startTls: false },
    bind: as(slapd.readers.reader),
    pageSize: 1000,
    timeouts: { connectMs: 60_000, answerMs: 60_000 },
    users: { ...users, scope: 'sub' },
    groups: { ...groups, scope: 'one' },
    ...more,
  }
}

function source(more: Partial<LdapSourceOptions> = {}): Source {
  return createLdapSource(options(more), silentLog())
}

function usersOnly(
  users: Partial<LdapSourceOptions['users']>,
  more: Partial<LdapSourceOptions> = {},
): Source {
  const { groups: _, ...rest } = options(more)
  return createLdapSource({ ...rest, users: { ...rest.users, ...users } }, silentLog())
}

function oddOnly(users: Partial<LdapSourceOptions['users']>): Source {
  return usersOnly({ base: `ou=odd,${BASE}`, map: { external_id: 'cn' }, ...users })
}

interface Line {
  readonly msg: string
  readonly attributes?: string[]
  readonly references?: number
}

/** A logger that keeps its warnings. */
function recorder(): { readonly lines: Line[]; readonly log: Log } {
  const lines: Line[] = []
  const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(JSON.parse(line)) })
  return { lines, log }
}

describe('a read', () => {
  test('has every user and every group with its members', async () => {
    const snapshot = await source().read(NEVER)
    expect([snapshot.users.size, snapshot.groups.size]).toEqual([PEOPLE, GROUPS])
    expect(snapshot).toMatchObject({ unreadable: 0, notices: [] })
    for (const index of [0, 3, 10, 60, 9999]) {
      const { entryUuid, mail, givenName, sn, employeeNumber } = person(index, BASE)
      const expected = { id: entryUuid, email: mail, name: `${givenName} ${sn}`, employeeId: employeeNumber }
      expect(snapshot.users.get(entryUuid)).toMatchObject(expected)
    }
    for (let index = 0; index < GROUPS; index += 1) {
      const { entryUuid, cn, members } = personGroup(index, BASE, PEOPLE)
      const ids = members.map((member) => person(member, BASE).entryUuid).toSorted()
      expect(snapshot.groups.get(entryUuid)).toMatchObject({ name: cn, members: ids })
    }
  })

  test.each([
    ['ldaps', () => ({ url: slapd.ldapsUrl, tls: { ca: slapd.ca, startTls: false } })],
    ['StartTLS', () => ({ url: slapd.namedUrl, tls: { ca: slapd.ca, startTls: true } })],
  ])('goes over %s with a CA of its own', async (_, more) => {
    const snapshot = await source(more()).read(NEVER)
    expect(snapshot.users.size).toBe(PEOPLE)
  })

  test('finds members by memberUid: names in any case, DNs of users and of groups', async () => {
    const groups = {
      base: `ou=unix,${BASE}`,
      scope: 'one' as const,
      filter: '(objectClass=posixGroup)',
      map: { external_id: 'cn', name: 'cn', members: 'memberUid' },
    }
    const snapshot = await source({ groups: { ...groups, nested: 'flatten' } }).read(NEVER)
    const uuids = [0, 1, 2, 3, 4, 5].map((index) => person(index, BASE).entryUuid)
    const ids = (people: number[]) => people.map((index) => uuids[index]).toSorted()
    expect(snapshot.groups.get('posix')?.members).toEqual(ids([1, 2, 3, 4]))
    expect(snapshot.groups.get('outer')?.members).toEqual(ids([1, 2, 3, 4, 5]))
    expect(snapshot.notices.map(noticeText)).toEqual([
      `cn=posix,ou=unix,${BASE}: 1 member is no user of this sync: "ghost"`,
    ])
  })

  test('finds members in several attributes, each once, and says where each group lists some', async () => {
    const groups = {
      base: `ou=unix,${BASE}`,
      scope: 'one' as const,
      filter: '(|(objectClass=posixGroup)(objectClass=groupOfUniqueNames))',
      map: { external_id: 'cn', name: 'cn', members: ['uniqueMember', 'memberUid'] },
    }
    const snapshot = await source({ groups: { ...groups, nested: 'flatten' } }).read(NEVER)
    const members = ['outer', 'posix', 'unique'].map((id) => snapshot.groups.get(id)?.members)
    const uuids = [1, 2, 3, 4, 5].map((index) => person(index, BASE).entryUuid)
    expect(members).toEqual([5, 4, 2].map((count) => uuids.slice(0, count).toSorted()))
    const { groups: listed } = snapshot.lists!
    expect([...listed.values()].map(({ id, lists }) => [id, lists.map((list) => list.attribute)])).toEqual([
      ['posix', ['memberUid']],
      ['outer', ['memberUid']],
      ['unique', ['uniqueMember']],
    ])
    const all = snapshot.lists!.groups
    const outer = [...all.values()].find(({ id }) => id === 'outer')!
    expect(groupsWithin(all, outer).map(({ id }) => id)).toEqual(['outer', 'posix'])
  })

  test.each([
    ['email', 'rfc822Mailbox', 'mail'],
    ['name', '{surname}', 'sn'],
    ['employee_id', '2.16.840.1.113730.3.1.3', 'employeeNumber'],
    ['name', ['commonName;lang-de', 'sn'], 'cn;lang-de'],
  ])('refuses %s from %s, which it sends by another name', async (field, attribute, sent) => {
    const of = usersOnly({ map: { external_id: 'entryUUID', [field]: attribute } })
    const words = `" is another name of ${sent}, and ${slapd.url} sends it as ${sent}, so write ${sent}`
    for (const ask of [() => of.read(NEVER), () => of.probe(NEVER)]) {
      await expect(ask()).rejects.toMatchObject({
        code: 'config-invalid',
        message: expect.stringContaining(words),
      })
    }
  })

  test('refuses such a name in a list of attributes too, and says which attribute it does not know', async () => {
    const groups = {
      base: `ou=unix,${BASE}`,
      scope: 'one',
      filter: '(objectClass=groupOfUniqueNames)',
    } as const
    const map = { external_id: 'cn', name: 'cn' }
    const byOid = { ...groups, map: { ...map, members: ['uniqueMember', '1.3.6.1.1.1.1.12'] } }
    await expect(source({ groups: byOid }).read(NEVER)).rejects.toThrow(
      'groups.map: "1.3.6.1.1.1.1.12" is another name of memberUid',
    )
    for (const [second, named] of [
      ['memberUid', []],
      ['nosuch', ['nosuch']],
    ] as const) {
      const { lines, log } = recorder()
      const listed = { ...groups, map: { ...map, members: ['uniqueMember', second] } }
      await createLdapSource(options({ groups: listed }), log).read(NEVER)
      expect(lines.flatMap(({ attributes }) => attributes ?? [])).toEqual(named)
    }
  })

  test('skips twins, refuses two ids and takes the first value in order', async () => {
    const odd = { base: `ou=odd,${BASE}`, filter: '(objectClass=person)' }
    const snapshot = await usersOnly({ ...odd, map: { external_id: 'sn', name: 'description' } }).read(NEVER)
    expect([...snapshot.users.keys()]).toEqual(['M\u00fcller \\ (*)'])
    expect(new Set(snapshot.seen.user)).toEqual(new Set(['same', 'three', 'drei', 'M\u00fcller \\ (*)']))
    expect(snapshot.unreadable).toBe(1)
    const byName = await usersOnly({ ...odd, map: { external_id: 'entryUUID', name: 'description' } }).read(
      NEVER,
    )
    expect([...byName.users.values()].map(({ name }) => name)).toContain('a')
  })

  test('compares with the time at which it began, and so does its second look; a search compares with its own', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    onTestFinished(() => void vi.useRealTimers())
    const filter = '(&(sn=same)(createTimestamp<=now()))'
    const some = oddOnly({ filter })
    const locking = oddOnly({
      filter: '(sn=same)',
      disabled: 'delete',
      disabledWhen: '(createTimestamp<=now())',
    })
    expect([...(await some.read(NEVER)).users.keys()]).toEqual(['one', 'two'])
    expect([...(await locking.read(NEVER)).users.keys()]).toEqual([])
    vi.setSystemTime('2001-01-01')
    expect((await statesOf(some.readIds('user', ['one'], NEVER))).get('one')).toBe('present')
    expect((await statesOf(locking.readIds('user', ['one'], NEVER))).get('one')).toBe('disabled')
    const { entries } = await some.find({ who: 'one', kinds: ['user'] }, NEVER)
    expect(entries.map(({ standing }) => standing?.inFilter)).toEqual([false])
    expect([...(await some.read(NEVER)).users.keys()]).toEqual([])
    expect([...(await locking.read(NEVER)).users.keys()]).toEqual(['one', 'two'])
  })

  test('does not follow references to other servers, and the log counts them', async () => {
    const { lines, log } = recorder()
    const { groups: _, users, ...rest } = options()
    const far = { ...users, base: `ou=far,${BASE}`, filter: '(objectClass=*)', map: { external_id: 'cn' } }
    const snapshot = await createLdapSource({ ...rest, users: far }, log).read(NEVER)
    expect([...snapshot.users.keys()]).toEqual(['near'])
    expect(lines.map(({ references }) => references)).toContain(1)
  })

  test('names the server that it is referred to for a whole base', async () => {
    const reading = usersOnly({ base: `cn=elsewhere,ou=far,${BASE}` }).read(NEVER)
    await expect(reading).rejects.toMatchObject({ code: 'source-incomplete' })
    await expect(reading).rejects.toThrow(
      /referral: .* \(result 10\); give that server's URL \(ldap:\/\/127\.0\.0\.1:1\/dc=elsewhere\S*\)$/,
    )
  })
})

describe('a bind user', () => {
  test('with a size limit reads everything in pages', async () => {
    const snapshot = await source({ bind: as(slapd.readers.sizeLimited) }).read(NEVER)
    expect(snapshot.users.size).toBe(PEOPLE)
  })

  test.each([
    ['with a limit for all pages', () => as(slapd.readers.totallyLimited), 'sizeLimitExceeded'],
    ['without the right to page', () => as(slapd.readers.unpaged), 'adminLimitExceeded'],
    ['that is nobody', () => undefined, 'sizeLimitExceeded'],
  ])('%s never gets half a snapshot', async (_, bind, words) => {
    const { bind: _without, ...rest } = options()
    const user = bind()
    const reading = createLdapSource({ ...rest, ...(user && { bind: user }) }, silentLog()).read(NEVER)
    await expect(reading).rejects.toMatchObject({ code: 'source-incomplete' })
    await expect(reading).rejects.toThrow(words)
    await expect(reading).rejects.toThrow(
      `"ou=people,${BASE}" (scope sub) with the filter (objectClass=inetOrgPerson)`,
    )
  })

  test('has the result of each request counted', async () => {
    const results: string[] = []
    const onResult = (operation: string, result: string) => void results.push(`${operation} ${result}`)
    await createLdapSource(options(), silentLog(), { onResult }).read(NEVER)
    expect(new Set(results)).toEqual(new Set(['bind success', 'search success', 'extended success']))
    expect(results.filter((each) => each === 'search success').length).toBeGreaterThan(3)

    results.length = 0
    const { dn } = slapd.readers.reader
    const wrong = options({ bind: { dn, password: async () => 'wrong', allowPlainText: true } })
    await expect(createLdapSource(wrong, silentLog(), { onResult }).read(NEVER)).rejects.toThrow('49')
    expect(results).toEqual(['bind invalidCredentials'])
  })

  test('that cannot read mail clears no e-mail, and the log names the attribute', async () => {
    const { lines, log } = recorder()
    const snapshot = await createLdapSource(options({ bind: as(slapd.readers.noMail) }), log).read(NEVER)
    expect(snapshot.users.size).toBe(PEOPLE)
    expect([...snapshot.users.values()].every(({ email }) => email === undefined)).toBe(true)
    expect(lines.flatMap(({ attributes }) => attributes)).toEqual(['mail'])
  })

  test('that does not see an ou cannot tell, and neither can the second look', async () => {
    const blind = source({ bind: as(slapd.readers.noExternal) })
    const hidden = person(3, BASE).entryUuid
    const snapshot = await blind.read(NEVER)
    expect(snapshot.seen.user.has(hidden)).toBe(false)
    expect(await statesOf(blind.readIds('user', [hidden], NEVER))).toEqual(new Map([[hidden, 'absent']]))
  })

  test.each([
    ['a wrong password', () => ({ dn: slapd.readers.reader.dn, password: 'wrong' })],
    ['an unknown name', () => ({ dn: `cn=nobody,${BASE}`, password: 'wrong' })],
  ])('with %s is refused once, without its password in the sentence', async (_, user) => {
    const reading = source({ bind: as(user()) }).read(NEVER)
    await expect(reading).rejects.toMatchObject({ code: 'source-refused' })
    await expect(reading).rejects.toThrow(`${slapd.url} refused the bind as "${user().dn}"`)
    await expect(reading).rejects.not.toThrow('"wrong"')
  })

  test('with an empty password is not taken for anonymous', async () => {
    const bind = { dn: slapd.readers.reader.dn, password: async () => '' }
    await expect(source({ bind }).read(NEVER)).rejects.toMatchObject({ code: 'secret-unavailable' })
  })
})

describe('the second look', () => {
  const filter = '(&(objectClass=inetOrgPerson)(uid=u00000*))'

  test('tells gone, outside of the filter and present apart', async () => {
    const [inside, outside] = [person(1, BASE).entryUuid, person(5000, BASE).entryUuid]
    const ids = [inside, outside, '00000000-0000-4000-8000-000000000000', '__proto__', '*)(uid=*']
    const answer = await statesOf(usersOnly({ filter }).readIds('user', ids, NEVER))
    expect([...answer.values()]).toEqual(['present', 'out-of-scope', 'absent', 'absent', 'absent'])
    expect([...answer.keys()]).toEqual(ids)
  })

  test('asks for more ids than fit into one search', async () => {
    const ids = Array.from({ length: 250 }, (_, index) => person(index * 40, BASE).entryUuid)
    const answer = await statesOf(source({ pageSize: 30 }).readIds('user', [...ids, 'nobody'], NEVER))
    expect([...answer.values()].filter((sighting) => sighting === 'present')).toHaveLength(250)
    expect(answer.get('nobody')).toBe('absent')
  })

  test('compares ids byte for byte, although the server does not', async () => {
    const answer = await statesOf(
      usersOnly({ map: { external_id: 'uid' } }).readIds('user', ['u000001', 'U000001'], NEVER),
    )
    expect([...answer.values()]).toEqual(['present', 'absent'])
  })

  test('finds ids with the characters of filters', async () => {
    const users = { base: `ou=odd,${BASE}`, filter: '(objectClass=person)', map: { external_id: 'sn' } }
    const id = 'M\u00fcller \\ (*)'
    expect(await statesOf(usersOnly(users).readIds('user', [id], NEVER))).toEqual(new Map([[id, 'present']]))
  })

  test('of groups looks where groups are', async () => {
    const id = personGroup(1, BASE, PEOPLE).entryUuid
    expect(await statesOf(source().readIds('group', [id, person(1, BASE).entryUuid], NEVER))).toEqual(
      new Map([
        [id, 'present'],
        [person(1, BASE).entryUuid, 'absent'],
      ]),
    )
  })

  test('of groups, at a source that has none, proves none of them absent', async () => {
    expect(await statesOf(usersOnly({}).readIds('group', ['x'], NEVER))).toEqual(new Map([['x', 'present']]))
  })

  test('at a base that is gone is an error and never "gone"', async () => {
    const looking = usersOnly({ base: `ou=moved,${BASE}` }).readIds('user', ['x'], NEVER)
    await expect(looking).rejects.toMatchObject({ code: 'source-refused' })
    await expect(looking).rejects.toThrow(`has no entry "ou=moved,${BASE}"`)
  })

  test('by an attribute that the server cannot search proves no user absent', async () => {
    // Photos have no equality rule: a search for one succeeds and finds nobody.
    const photo = ldif(`cn=photo,ou=odd,${BASE}`, {
      changetype: ['add'],
      objectClass: ['inetOrgPerson'],
      cn: ['photo'],
      sn: ['x'],
      jpegPhoto: ['cheese'],
    })
    await slapd.modify(photo)
    try {
      const users = { base: `ou=odd,${BASE}`, filter: '(jpegPhoto=*)', map: { external_id: 'jpegPhoto' } }
      const looking = usersOnly(users).readIds('user', ['00'], NEVER)
      await expect(looking).rejects.toMatchObject({ code: 'source-incomplete' })
      await expect(looking).rejects.toThrow('nothing can be proved absent')
    } finally {
      await slapd.modify(ldif(`cn=photo,ou=odd,${BASE}`, { changetype: ['delete'] }))
    }
  })
})

describe('a server that is not as configured', () => {
  test('has another certificate authority', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'dirsyncd-ca-'))
    const { caFile } = await makeCertificates(directory, 'localhost')
    const ca = await readFile(caFile, 'utf8')
    await rm(directory, { recursive: true, force: true })
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0')
    onTestFinished(() => void vi.unstubAllEnvs())
    for (const more of [
      { url: slapd.ldapsUrl, tls: { ca, startTls: false } },
      { url: slapd.namedUrl, tls: { ca, startTls: true } },
      { url: slapd.ldapsUrl, tls: { startTls: false } },
    ]) {
      const reading = source(more).read(NEVER)
      await expect(reading).rejects.toMatchObject({ code: 'source-unreachable' })
      await expect(reading).rejects.toThrow(
        /its certificate is not trusted; (it does not come from the CA in tls\.ca|give its CA in tls\.ca)/,
      )
    }
  })

  test('has a certificate for another host', async () => {
    for (const more of [
      { url: slapd.ldapsUrl.replace('localhost', '127.0.0.1'), tls: { ca: slapd.ca, startTls: false } },
      { url: slapd.url, tls: { ca: slapd.ca, startTls: true } },
    ]) {
      const reading = source(more).read(NEVER)
      await expect(reading).rejects.toMatchObject({ code: 'source-unreachable' })
      await expect(reading).rejects.toThrow('its certificate is for another host')
    }
  })
})

test('a read that was interrupted before it began makes no connection', async () => {
  await expect(source({ url: 'ldap://127.0.0.1:1' }).read(AbortSignal.abort())).rejects.toMatchObject({
    code: 'interrupted',
  })
})

test('a read in the middle stops at once, and the reason is passed on', async () => {
  const controller = new AbortController()
  const reading = source({ pageSize: 50 }).read(controller.signal)
  setTimeout(() => controller.abort(), 60)
  await expect(reading).rejects.toMatchObject({ code: 'interrupted' })
})

test('a probe says where it is, who it is, whom it is taken for and what it is given', async () => {
  const over = { url: slapd.namedUrl, tls: { ca: slapd.ca, startTls: true } }
  const lines = await source(over).probe(NEVER)
  const told = Object.fromEntries(lines.map(({ label, detail }) => [label, detail]))
  expect(told).toEqual({
    server: slapd.namedUrl,
    vendor: 'openldap, found from what the server says about itself',
    tls: expect.stringMatching(
      /^TLSv1\.3 by StartTLS, TLS_\w+, certificate of localhost, issued by Test CA, dirsyncd tests, expires \d{4}-\d\d-\d\d, in \d+ days?$/,
    ),
    reader: `bound as ${slapd.readers.reader.dn}, as the server confirms`,
    paging: expect.stringMatching(/^offered; pages of [\d,]+ are asked for$/),
    servers: 'one address, 127.0.0.1',
    position: expect.stringMatching(
      /^the server does not show how new its data is, so a restored server may not be noticed; .*overlay syncprov/,
    ),
    limits: expect.stringMatching(/^none found: the first page is full, with [\d,]+ entries$/),
    users: `ou=people,${BASE} (scope sub), filter (objectClass=inetOrgPerson)`,
    groups: `ou=groups,${BASE} (scope one), filter (objectClass=groupOfNames)`,
  })
  const missing = usersOnly({ base: `ou=nowhere,${BASE}` }).probe(NEVER)
  await expect(missing).rejects.toMatchObject({ code: 'source-refused' })
})

test('an entry is found by its id, with how its values came about', async () => {
  const snapshot = await source().read(NEVER)
  const [user] = snapshot.users.values()
  const find = async (who: string, kind: 'user' | 'group') =>
    (await source().find({ who, kinds: [kind] }, NEVER)).entries
  const [trace] = await find(user?.id ?? '', 'user')
  expect(trace).toMatchObject({ kind: 'user', ids: [user?.id], from: user?.from })
  expect(trace?.fields.map(({ field, value }) => [field, value])).toEqual([
    ['email', user?.email],
    ['name', user?.name],
    ['employee_id', user?.employeeId],
  ])
  const [group] = snapshot.groups.values()
  expect(await find(group?.id ?? '', 'group')).toMatchObject([
    { from: group?.from, fields: [{ field: 'name', value: group?.name }], members: group?.members.length },
  ])
  for (const id of ['00000000-0000-0000-0000-000000000000', '*', ''])
    expect(await find(id, 'user')).toEqual([])
})
