import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ldif, person, personGroup, type Person } from '../support/people.ts'
import { createDatabase } from '../support/databases.ts'
import { readService } from '../support/read-service.ts'
import { startRedis } from '../support/redis.ts'
import { FIXTURE } from '../support/fixture.ts'
import { openSite, type ServiceSite, type Site, startServiceSite } from '../support/site.ts'
import { directorySection } from '../support/sync-config.ts'
import { BASE, type Slapd, startSlapd, peopleSections } from '../support/slapd.ts'
import { changesBetween, readTruth, type Truth } from '../support/ldif-truth.ts'

const PEOPLE = 640
const GROUPS = 30
/** People who are in no group. */
const LONERS = lonersOf(Array.from({ length: GROUPS }, (_, index) => personGroup(index, BASE, PEOPLE)))
const [MOVED, ...LEAVERS] = LONERS.slice(-5) as [number, ...number[]]

/** A large company: a real slapd over ldaps with a CA of its own, PostgreSQL, Redis, a daemon and one more worker. */
const stack = new AsyncDisposableStack()
let slapd: Slapd
let service: ServiceSite
let site: Site
let database: string

beforeAll(async () => {
  const [ldap, redis] = await Promise.all([startSlapd({ people: PEOPLE, groups: GROUPS }), startRedis()])
  for (const server of [ldap, redis]) stack.defer(() => server.close())
  slapd = ldap
  database = await createDatabase()
  service = stack.use(await startServiceSite())
  site = stack.use(await openSite())
  await site.write('ca.pem', slapd.ca)
  await site.write('ldap-password', slapd.readers.reader.password)
  await site.configure({
    dataDir: './data',
    store: database,
    queue: redis.url,
    admin: { listen: false },
    syncs: [{ name: 'corp', source: ldapSection(slapd), directory: directorySection(service) }],
  })
  const daemon = stack.use(site.start('start'))
  const worker = stack.use(site.start('worker'))
  await Promise.all([daemon.waitForOutput(/daemon started/), worker.waitForOutput(/worker started/)])
})

afterAll(() => stack.disposeAsync())

function ldapSection({ ldapsUrl, readers }: Slapd): object {
  return {
    type: 'ldap',
    url: ldapsUrl,
    tls: { ca: './ca.pem' },
    bind: { dn: readers.reader.dn, password: { file: './ldap-password' } },
    ...peopleSections(BASE),
  }
}

test('a first sync makes the directory equal to the source, and both processes did their part', async () => {
  expect(await site.run('sync', 'corp')).toMatchObject({ code: 0, stderr: '' })

  const truth = await readTruth(slapd)
  expect([truth.users.size, truth.groups.size]).toEqual([PEOPLE, GROUPS])
  await expectEqual(truth)

  const applied = await appliedByWorker()
  const all = applied.reduce((sum, changes) => sum + changes, 0)
  expect(all).toBe(PEOPLE + 2 * GROUPS)
  expect(applied).toHaveLength(2)
  for (const changes of applied) expect(changes / all).toBeGreaterThanOrEqual(0.3)
})

test('the next sync does exactly what changed in the source, nothing is asked, and the one after does nothing', async () => {
  const before = await readTruth(slapd)
  const writesBefore = await countWrites()
  await slapd.modify(changeTheCompany())
  const truth = await readTruth(slapd)
  const expected = changesBetween(before, truth)
  expect(countOps(expected)).toEqual({
    // A person with another name and one with another mail.
    'update-user': 2,
    // Ten new people; a re-hire, who gets a new id and keeps the mail.
    'create-user': 11,
    'delete-user': 6,
    'update-group': 1,
    // The groups of the re-hire and of a new person; who is deleted leaves its groups with that.
    'set-members': 2,
  })

  const next = await site.json('sync', 'corp')
  expect(next).toMatchObject({ code: 0, stderr: '' })
  expect(changesOf(next)).toEqual(expected)
  expect(next.lines[0]).toMatchObject({
    state: 'done',
    blocks: [],
    questions: 0,
    totalChanges: expected.length,
  })
  expect(
    next.lines[0].notices.map((notice: { code: string; id: string }) => [notice.code, notice.id]),
  ).toEqual([
    // The updates; the creates were read back in the first run.
    ['read-back', undefined],
    // The re-hire, who looks like somebody under a new id.
    ['new-id', idOfMail(truth, person(62, BASE).mail)],
    ['unknown-members', personGroup(0, BASE, PEOPLE).entryUuid],
  ])
  await expectEqual(truth)
  expect((await countWrites()) - writesBefore).toBe(expected.length)

  const after = await site.json('sync', 'corp')
  expect(after).toMatchObject({ code: 0, stderr: '' })
  expect(after.lines[0]).toMatchObject({ state: 'done', totalChanges: 0 })
  expect((await countWrites()) - writesBefore).toBe(expected.length)
})

/** What happens in a company in a week, as LDIF for ldapmodify. */
function changeTheCompany(): string {
  const newcomers = Array.from({ length: 10 }, (_, index) => person(PEOPLE + index, BASE))
  const rehired = person(62, BASE)
  return [
    replace(person(20, BASE).dn, 'sn', 'Ångström-O’Neill'),
    replace(person(21, BASE).dn, 'mail', 'new.address@example.org'),
    ...newcomers.map(hire),
    // The first of them stays in a group's member list as a DN of nobody.
    ...[13, ...LEAVERS].map((index) => ldif(person(index, BASE).dn, { changetype: ['delete'] })),
    ldif(rehired.dn, { changetype: ['delete'] }),
    hire(rehired),
    ldif(personGroup(3, BASE, PEOPLE).dn, {
      changetype: ['modify'],
      add: ['member'],
      member: newcomers.slice(0, 1).map(({ dn }) => dn),
    }),
    ldif(personGroup(5, BASE, PEOPLE).dn, {
      changetype: ['modrdn'],
      newrdn: ['cn=Team \\"5\\"\\, renamed'],
      deleteoldrdn: ['1'],
    }),
    // Somebody who only moves within the tree is the same person with the same values.
    ldif(person(MOVED, BASE).dn, {
      changetype: ['modrdn'],
      newrdn: [`uid=${person(MOVED, BASE).uid}`],
      deleteoldrdn: ['0'],
      newsuperior: [`ou=external,ou=people,${BASE}`],
    }),
  ].join('')
}

function lonersOf(groups: readonly { readonly members: readonly number[] }[]): number[] {
  const inGroups = new Set(groups.flatMap(({ members }) => members))
  return Array.from({ length: PEOPLE }, (_, index) => index).filter((index) => !inGroups.has(index))
}

function replace(dn: string, attribute: string, value: string): string {
  return ldif(dn, { changetype: ['modify'], replace: [attribute], [attribute]: [value] })
}

/** The server gives the entry an id of its own. */
function hire({ dn, uid, givenName, sn, cn, mail, employeeNumber }: Person): string {
  return ldif(dn, {
    changetype: ['add'],
    objectClass: ['inetOrgPerson'],
    uid: [uid],
    givenName: [givenName],
    sn: [sn],
    cn: [cn],
    mail: [mail],
    employeeNumber: [employeeNumber],
  })
}

async function expectEqual(truth: Truth): Promise<void> {
  const seen = await readService({ ...FIXTURE, baseUrl: service.baseUrl })
  expect(seen.duplicates).toEqual([])
  expect(seen.users).toEqual(truth.users)
  expect(seen.groups).toEqual(truth.groups)
}

async function countWrites(): Promise<number> {
  return (await service.requests()).filter(({ method }) => method !== 'GET').length
}

function idOfMail({ users }: Truth, mail: string): string | undefined {
  return [...users].find(([, user]) => user.email === mail)?.[0]
}

/** `op id` of every change of the one run that a command printed, sorted. */
function changesOf({ lines }: Awaited<ReturnType<Site['json']>>): string[] {
  const changes: { change: { op: string; id: string } }[] = lines[0].changes
  return changes.map(({ change }) => `${change.op} ${change.id}`).toSorted()
}

function countOps(changes: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const change of changes) {
    const op = change.split(' ')[0] ?? ''
    counts[op] = (counts[op] ?? 0) + 1
  }
  return counts
}

/** How many changes each process applied, by the journal. */
async function appliedByWorker(): Promise<number[]> {
  const client = new pg.Client({ connectionString: database })
  await client.connect()
  try {
    const { rows } = await client.query<{ changes: number }>(
      "SELECT count(*)::int AS changes FROM dirsyncd.journal WHERE outcome = 'applied' GROUP BY worker",
    )
    return rows.map(({ changes }) => changes)
  } finally {
    await client.end()
  }
}
