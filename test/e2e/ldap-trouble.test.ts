import type { RequestLine } from '../../src/service/http/request-log.ts'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type ApiProxy, startApiProxy } from '../support/api-proxy.ts'
import { type LdapFault, type LdapProxy, startLdapProxy } from '../support/ldap-proxy.ts'
import { ldif, person, personGroup } from '../support/people.ts'
import type { ProgramResult } from '../support/program.ts'
import { readService } from '../support/read-service.ts'
import { FIXTURE } from '../support/fixture.ts'
import { openSite, type ServiceSite, type Site, startServiceSite } from '../support/site.ts'
import { directorySection, databaseConfig } from '../support/sync-config.ts'
import { BASE, type BindUser, type Slapd, startSlapd } from '../support/slapd.ts'
import { readTruth } from '../support/ldif-truth.ts'

/** Seven pages of people, the last of them not full, and one of groups. */
const PEOPLE = 630
const GROUPS = 20
const PAGE = 100
const FILTER = '(&(objectClass=inetOrgPerson)(!(employeeType=former)))'

const stack = new AsyncDisposableStack()
let slapd: Slapd
let proxy: LdapProxy
let service: ServiceSite
let api: ApiProxy
let site: Site

beforeAll(async () => {
  slapd = stack.use(await startSlapd({ people: PEOPLE, groups: GROUPS }))
  proxy = stack.use(await startLdapProxy(slapd.port))
  service = stack.use(await startServiceSite())
  api = stack.use(await startApiProxy(service.baseUrl))
  site = stack.use(await openSite())
  await site.write('ca.pem', slapd.ca)
  await configure({})
  expect(await sync()).toMatchObject({ code: 0, stderr: '' })
  await expectEqualToSource()
})

afterEach(async () => {
  proxy.setFault({ kind: 'none' })
  await configure({})
})

afterAll(() => stack.disposeAsync())

interface Variation {
  readonly reader?: BindUser
  readonly filter?: string
  readonly base?: string | readonly string[]
  readonly startTls?: boolean
}

async function configure(variation: Variation): Promise<void> {
  const { reader = slapd.readers.reader, filter = FILTER, base = `ou=people,${BASE}`, startTls } = variation
  await site.write('ldap-password', reader.password)
  const source = {
    type: 'ldap',
    url: proxy.url.replace('127.0.0.1', 'localhost'),
    ...(startTls === true && { tls: { ca: './ca.pem', startTls } }),
    bind: { dn: reader.dn, password: { file: './ldap-password' } },
    pageSize: PAGE,
    users: {
      base,
      filter,
      map: { external_id: 'entryUUID', email: 'mail', name: '{givenName} {sn}' },
    },
    groups: {
      base: `ou=groups,${BASE}`,
      filter: '(objectClass=groupOfNames)',
      map: { external_id: 'entryUUID', name: 'cn', members: 'member' },
    },
  }
  await site.configure(databaseConfig([{ name: 'corp', source, directory: directorySection(api) }]))
}

const sync = (): Promise<ProgramResult> => site.run('sync', 'corp')

describe('a read that fails writes nothing, and one sentence says why', () => {
  test.each<[string, boolean, LdapFault, string]>([
    [
      'is cut off in the middle of a page',
      false,
      { kind: 'cut', page: 3, entry: 40 },
      'the connection was lost',
    ],
    ['ends with a cookie still set', false, { kind: 'left-over-cookie', after: 'forward' }, 'result'],
    [
      'is cut off in the middle of the users behind StartTLS',
      true,
      { kind: 'within-tls', bytes: 60_000, action: 'cut' },
      'the connection was lost while reading',
    ],
  ])('when a server %s', async (_, startTls, fault, words) => {
    await configure({ startTls })
    proxy.setFault(fault)
    const [ended, writes] = await withWrites(sync)
    expectOneSentence(ended, words)
    expect(writes).toEqual([])
  })

  test('when the server limits the size of the result', async () => {
    await configure({ reader: slapd.readers.totallyLimited })
    const [ended, writes] = await withWrites(sync)
    expectOneSentence(ended, 'sizeLimitExceeded: ')
    expect(ended.stderr).toContain('(result 4); have this limit raised for the bind user')
    expect(writes).toEqual([])
  })

  test('when the bind account cannot see one of the bases', async () => {
    const base = [`ou=people,${BASE}`, `ou=external,ou=people,${BASE}`]
    await configure({ reader: slapd.readers.noExternal, base })
    const [ended, writes] = await withWrites(sync)
    expectOneSentence(ended, `has no entry "${base[1]}", the base of the search`)
    expect(ended.stderr).toContain('correct the base, or let the bind user see it')
    expect(writes).toEqual([])
  })

  test('when the password was changed', async () => {
    await configure({ reader: { ...slapd.readers.reader, password: 'the-old-one' } })
    const [ended, writes] = await withWrites(sync)
    expectOneSentence(ended, 'wrong password or unknown bind DN')
    expect(ended.stderr).not.toContain('the-old-one')
    expect(writes).toEqual([])
    expectOneSentence(await sync(), 'the same secret is not tried again for')
    expect((await site.run('check')).stdout.replaceAll(/\s+/g, ' ')).toContain(
      'secret is not tried again for',
    )
  })

  test('and the next run finds nothing to change', async () => {
    await expectEqualToSource()
    expect(await sync()).toMatchObject({ code: 0, stderr: '' })
  })
})

test('a bind account that cannot see the mail deletes no user and clears no e-mail', async () => {
  await configure({ reader: slapd.readers.noMail })
  const [ended, writes] = await withWrites(() => site.json('sync', 'corp'))
  expect(ended).toMatchObject({ code: 0, stderr: expect.stringContaining('the bind user cannot see') })
  const [run] = ended.lines
  expect(run).toMatchObject({ state: 'done', totalChanges: 0, counts: { notices: { 'value-kept': PEOPLE } } })
  expect(run.notices).toHaveLength(PEOPLE)
  expect(writes).toEqual([])
  await configure({})
  await expectEqualToSource()
})

test('an OU that the bind account cannot see is asked about with names, and a rejection silences it', async () => {
  await configure({ reader: slapd.readers.noExternal })
  const [ended, writes] = await withWrites(sync)
  expect(ended).toMatchObject({ code: 3, stderr: '' })
  expect(ended.stdout).toContain(
    `container-emptied (90): 90 users of "ou=external,ou=people,${BASE}" are absent`,
  )
  // By name: who would be deleted, and which groups have members that cannot be seen.
  expect(ended.stdout).toMatch(/Needs approval:\n.*\n +- delete user {3}\S+ {2}.* <u\d{6}@example\.org>\n/)
  expect(ended.stdout).toMatch(/: no changes; 90 deletions of users need approval \(run \d+\)\.\n\n$/)
  expect(ended.stdout).toMatch(/unknown-members \(20\)/)
  expect(ended.stdout).toMatch(/members are no users of this sync: .*"uid=u\d{6},ou=external,/)

  const [{ run }] = (await site.json('runs', '--limit', '1')).lines
  expect(await site.run('reject', `${run}`)).toMatchObject({ code: 0, stderr: '' })
  const [next, writesOfNext] = await withWrites(() => site.json('sync', 'corp'))
  expect(next).toMatchObject({ code: 0, stderr: '' })
  expect(next.lines[0]).toMatchObject({
    questions: 0,
    counts: { planned: {}, rejected: { 'delete-user': 90 } },
  })
  expect([...writes, ...writesOfNext]).toEqual([])
  await configure({})
  expect(await sync()).toMatchObject({ code: 0, stderr: '' })
  await expectEqualToSource()
})

describe('users that leave the source', () => {
  const former = [20, 21, 10]
  const gone = [30, 31]

  beforeAll(async () => {
    await slapd.modify([...former.map(leave), ...gone.map(remove)].join(''))
  })

  test('are not deleted if the recheck fails', async () => {
    proxy.setFault({ kind: 'result', page: 1, code: 51 }, 1)
    const [ended, writes] = await withWrites(sync)
    expectOneSentence(ended, 'busy')
    expect(writes).toEqual([])
  })

  test('are deleted, and the report says whether they left the filter or the source', async () => {
    const [ended, writes] = await withWrites(() => site.json('sync', 'corp'))
    expect(ended).toMatchObject({ code: 0, stderr: '' })
    const [run] = ended.lines
    const reasons = run.changes.map(
      ({ change }: { change: Deletion }) => `${change.op} ${change.id} ${change.why}`,
    )
    const expected = [
      ...former.map((index) => `delete-user ${person(index, BASE).entryUuid} left-filter`),
      ...gone.map((index) => `delete-user ${person(index, BASE).entryUuid} gone`),
    ]
    expect(reasons.toSorted()).toEqual(expected.toSorted())
    expect(writes.map(({ method }) => method)).toEqual(expected.map(() => 'DELETE'))
    const { stdout } = await site.run('runs', `${run.run}`)
    expect(stdout).toMatch(/- delete user .*u000020@.* \(outside the sync's filter\)/)
    expect(stdout).toMatch(/- delete user .*u000030@.* \(not in the source, or outside base and filter\)/)
    await expectEqualToSource()
  })
})

test('users and members who are back before what failed is sent again stay', async () => {
  const group = personGroup(0, BASE, PEOPLE)
  const member = person(group.members[1]!, BASE)
  const membership = (does: string) =>
    ldif(group.dn, { changetype: ['modify'], [does]: ['member'], member: [member.dn] })
  await slapd.modify([membership('delete'), leave(40)].join(''))
  let areBack = false
  // The delete comes after the list of members, and both are rechecked after it.
  api.intercept = async ({ method }) => {
    if (method === 'DELETE' && !areBack) {
      areBack = true
      await slapd.modify([membership('add'), comeBack(40)].join(''))
    }
    return method === 'DELETE' || (method !== 'GET' && !areBack) ? { status: 500 } : undefined
  }
  const [result, writes] = await withWrites(() => site.json('sync', 'corp'))
  api.intercept = () => undefined
  expect(writes).toEqual([])
  expect(result.code).toBe(4)
  expect(result.lines[0]).toMatchObject({
    state: 'done',
    blocks: [{ code: 'seen-again', changes: 2 }],
    counts: { planned: {}, blocked: { 'delete-user': 1, 'set-members': 1 } },
  })
  await expectEqualToSource()
  expect(await sync()).toMatchObject({ code: 0, stderr: '' })
})

interface Deletion {
  readonly op: string
  readonly id: string
  readonly why: string
}

function leave(index: number): string {
  return ldif(person(index, BASE).dn, {
    changetype: ['modify'],
    add: ['employeeType'],
    employeeType: ['former'],
  })
}

function comeBack(index: number): string {
  return ldif(person(index, BASE).dn, { changetype: ['modify'], delete: ['employeeType'] })
}

function remove(index: number): string {
  return ldif(person(index, BASE).dn, { changetype: ['delete'] })
}

/** Runs a command and gives what it asked the service for besides GET. */
async function withWrites<T>(command: () => Promise<T>): Promise<[T, readonly RequestLine[]]> {
  const before = (await service.requests()).length
  const result = await command()
  const after = (await service.requests()).slice(before)
  return [result, after.filter(({ method }) => method !== 'GET')]
}

function expectOneSentence({ code, stdout, stderr }: ProgramResult, words: string): void {
  expect(code).toBe(1)
  expect(stderr).toMatch(/^corp: run \d+ failed: ldap:\/\/\S+ [^\n]+\n$/)
  expect(stderr).toContain(words)
  expect(`${stdout}${stderr}`).not.toMatch(/\n\s+at |Error:/)
  expect(`${stdout}${stderr}`).not.toContain(slapd.readers.reader.password)
}

/** The source as an independent reader of its LDIF sees it, without who is outside of the filter. */
async function expectEqualToSource(): Promise<void> {
  const truth = await readTruth(slapd, '(!(employeeType=former))')
  const seen = await readService({ ...FIXTURE, baseUrl: service.baseUrl })
  expect(seen.users).toEqual(truth.users)
  expect(seen.groups).toEqual(truth.groups)
}
