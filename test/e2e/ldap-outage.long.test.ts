import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Client } from 'undici'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { directoriesFixture, FIXTURE } from '../support/fixture.ts'
import { type LdapFault, type LdapProxy, startLdapProxy } from '../support/ldap-proxy.ts'
import { ldif, person, personGroup } from '../support/people.ts'
import type { Program } from '../support/program.ts'
import { readService } from '../support/read-service.ts'
import { openSite, type ServiceSite, type Site, startServiceSite } from '../support/site.ts'
import { directorySection, databaseConfig, NO_GUARDS } from '../support/sync-config.ts'
import { BASE, peopleSections, type Slapd, startSlapd } from '../support/slapd.ts'
import { changesBetween, readTruth, type Truth } from '../support/ldif-truth.ts'
import { inLong } from '../support/long.ts'

/** Three pages of people and then three of groups, the last of each not full. */
const PEOPLE = 60
const GROUPS = 70
const PAGE = 25
const IN_USERS = 2
const IN_GROUPS = 5

/** How each sync reaches its server, and the directory of its own that it writes to. */
const SYNCS = {
  plain: 7,
  starttls: 8,
  ldaps: 9,
  'idle-plain': 10,
  'idle-starttls': 11,
  'idle-ldaps': 12,
} as const
type Sync = keyof typeof SYNCS

/** One daemon goes through all of it. */
const stack = new AsyncDisposableStack()
let slapd: Slapd
/** Ends connections that are idle for a second. */
let impatient: Slapd
let proxy: LdapProxy
let ldapsProxy: LdapProxy
let service: ServiceSite
let site: Site
let daemon: Program
let admin: Client

beforeAll(async () => {
  slapd = stack.use(await startSlapd({ people: PEOPLE, groups: GROUPS }))
  impatient = stack.use(await startSlapd({ people: 35, groups: 5, global: ['idletimeout 1'] }))
  proxy = stack.use(await startLdapProxy(slapd.port))
  ldapsProxy = stack.use(await startLdapProxy(Number(new URL(slapd.ldapsUrl).port)))
  const directories = Object.entries(SYNCS).map(([name, id]) => `{ id: ${id}, name: ${name} }`)
  service = stack.use(await startServiceSite({ fixture: directoriesFixture(directories) }))
  site = stack.use(await openSite())
  await site.write('ldap-password', slapd.readers.reader.password)
  await site.write('ca.pem', slapd.ca)
  await site.write('idle-ca.pem', impatient.ca)
  const [ca, idleCa] = ['./ca.pem', './idle-ca.pem']
  const { port } = new URL(proxy.url)
  await site.configure(
    databaseConfig(
      [
        syncOf('plain', proxy.url),
        syncOf('starttls', `ldap://localhost:${port}`, { ca, startTls: true }),
        syncOf('ldaps', `ldaps://localhost:${new URL(ldapsProxy.url).port}`, { ca }),
        syncOf('idle-plain', impatient.url),
        syncOf('idle-starttls', impatient.namedUrl, { ca: idleCa, startTls: true }),
        syncOf('idle-ldaps', impatient.ldapsUrl, { ca: idleCa }),
      ],
      { log: { people: true } },
    ),
  )
  daemon = stack.use(site.start('start'))
  await daemon.waitForOutput(/daemon started/)
  admin = new Client('http://daemon', { socketPath: join(site.dataDir, 'admin.sock') })
  stack.defer(() => admin.destroy())
  for (const name of ['plain', 'starttls', 'ldaps'] as const) await expectNext(name)
})

afterEach(() => {
  for (const each of [proxy, ldapsProxy]) each.setFault({ kind: 'none' })
  slapd.resume()
})

afterAll(() => stack.disposeAsync())

function syncOf(name: Sync, url: string, tls: object = {}): object {
  const source = {
    type: 'ldap',
    url,
    tls,
    bind: { dn: slapd.readers.reader.dn, password: { file: './ldap-password' } },
    pageSize: PAGE,
    timeouts: { connect: '800ms', answer: '800ms' },
    ...peopleSections(BASE),
  }
  const directory = directorySection(service, { directoryId: SYNCS[name] })
  return { name, source, directory, guards: NO_GUARDS }
}

const result = (code: number) => (page: number) => ({ kind: 'result', page, code }) as const

type FaultInPage = readonly [string, (page: number) => LdapFault, string]

/** Like the unavailable one for a daemon; that each fails a read is tested on the source, too. */
const OTHER_ENDS: readonly FaultInPage[] = [
  ['reaches its time limit', result(3), 'timeLimitExceeded: '],
  ['reaches its size limit', result(4), 'sizeLimitExceeded: '],
  ['refers to another server', result(10), 'referral: '],
  ["reaches its administrator's limit", result(11), 'adminLimitExceeded: '],
  ['is busy', result(51), 'busy: '],
  ['meets an error of its own', result(80), 'an error of its own (result 80)'],
  ['hangs up', (page) => ({ kind: 'hang-up', page, entry: 1 }), 'the connection was lost while reading'],
  ['says that it ends', (page) => ({ kind: 'notice', page }), '("going down for maintenance") while reading'],
]

const IN_A_PAGE: readonly FaultInPage[] = [
  ...inLong([], OTHER_ENDS),
  ['becomes unavailable', result(52), 'unavailable: '],
  ['leaves the cookie out', (page) => ({ kind: 'no-control', page }), 'stopped paging in the middle'],
  ['is cut off', (page) => ({ kind: 'cut', page, entry: 10 }), 'the connection was lost while reading'],
  ['stalls', (page) => ({ kind: 'stall', page, entry: 10 }), 'nothing arrived for 0.8 s while reading'],
  [
    'is frozen (SIGSTOP)',
    (page) => ({ kind: 'call', page, call: () => slapd.freeze() }),
    'nothing arrived for 0.8 s while reading',
  ],
]

test.each(IN_A_PAGE)(
  'a server that %s in the middle of the users and of the groups',
  async (_, faultAt, words) => {
    await changeTheCompany(slapd)
    for (const [page, base] of [
      [IN_USERS, `"ou=people,${BASE}"`],
      [IN_GROUPS, `"ou=groups,${BASE}"`],
    ] as const) {
      proxy.setFault(faultAt(page))
      await expectFailure('plain', words, base)
      slapd.resume()
    }
    proxy.setFault({ kind: 'none' })
    await expectNext('plain')
  },
)

describe('behind TLS', () => {
  /** In the second page of the users, and in that of the groups. */
  const BYTES = [
    [12_000, `"ou=people,${BASE}"`],
    [58_000, `"ou=groups,${BASE}"`],
  ] as const

  type Cut = ['starttls' | 'ldaps', 'cut' | 'stall', string]
  const MORE_CUTS: Cut[] = [
    ['starttls', 'stall', 'nothing arrived for 0.8 s while reading'],
    ['ldaps', 'cut', 'the connection was lost while reading'],
  ]

  test.each<Cut>([
    ['starttls', 'cut', 'the connection was lost while reading'],
    ['ldaps', 'stall', 'nothing arrived for 0.8 s while reading'],
    ...inLong([], MORE_CUTS),
  ])('%s: a %s in the middle of the users and of the groups', async (name, action, words) => {
    await changeTheCompany(slapd)
    for (const [bytes, base] of BYTES) {
      for (const each of [proxy, ldapsProxy]) each.setFault({ kind: 'within-tls', bytes, action })
      await expectFailure(name, words, base)
    }
    for (const each of [proxy, ldapsProxy]) each.setFault({ kind: 'none' })
    await expectNext(name)
  })

  test.each<[string, LdapFault, string]>([
    [
      'before it is agreed to',
      { kind: 'at', step: 'starttls', action: 'stall' },
      'while asking for StartTLS',
    ],
    ['at the handshake', { kind: 'stall-tls' }, '(connecting with TLS): no answer within 0.8 s'],
  ])('StartTLS that stalls %s', async (_, fault, words) => {
    await changeTheCompany(slapd)
    proxy.setFault(fault)
    await expectFailure('starttls', words, '(timeouts.handshake)')
    proxy.setFault({ kind: 'none' })
    await expectNext('starttls')
  })
})

test.each<[Sync, string]>([
  ['plain', 'nothing arrived for 0.8 s while binding as'],
  ['starttls', 'nothing arrived for 0.8 s while asking for StartTLS'],
  ['ldaps', '(connecting with TLS): no answer within 0.8 s'],
])('%s: a server that was frozen (SIGSTOP) before the run', async (name, words) => {
  await changeTheCompany(slapd)
  slapd.freeze()
  await expectFailure(name, words)
  slapd.resume()
  await expectNext(name)
})

test('a server that ends idle connections between runs: plain, ldaps and StartTLS', async () => {
  const names = ['idle-plain', 'idle-starttls', 'idle-ldaps'] as const
  for (const name of names) await expectNext(name)
  await changeTheCompany(impatient)
  // It looks for them every second or so.
  await delay(2500)
  for (const name of names) await expectNext(name)
})

let turn = -1

/** Somebody leaves, somebody comes, somebody has another name, and a group is gone. */
async function changeTheCompany(server: Slapd): Promise<void> {
  turn = server === impatient ? 0 : turn + 1
  const { dn, uid, givenName, sn, cn, mail } = person(10_000 + turn, BASE)
  await server.modify(
    [
      ldif(person(turn, BASE).dn, { changetype: ['delete'] }),
      ldif(dn, {
        changetype: ['add'],
        objectClass: ['inetOrgPerson'],
        uid: [uid],
        givenName: [givenName],
        sn: [sn],
        cn: [cn],
        mail: [mail],
      }),
      ldif(person(30 + turn, BASE).dn, { changetype: ['modify'], replace: ['sn'], sn: [`Newlywed ${turn}`] }),
      ldif(personGroup(turn, BASE, PEOPLE).dn, { changetype: ['delete'] }),
    ].join(''),
  )
}

/** The run ends by its time-outs, writes nothing, and says in one sentence why. */
async function expectFailure(name: Sync, ...words: readonly string[]): Promise<void> {
  const [before, said] = [await countWrites(), daemon.output().length]
  const run = await sync(name)
  expect(run).toMatchObject({ state: 'failed', totalChanges: 0 })
  expect(run.error).toMatch(/^ldaps?:\/\/\S+:\d+:? [^\n]+$/)
  for (const each of words) expect(run.error).toContain(each)
  expect(await countWrites()).toBe(before)

  const output = daemon.output().slice(said)
  expect(output).toContain(`\nFailed: ${run.error}\n`)
  const logged = output.split('\n').filter((line) => line.startsWith('{'))
  expect(logged.map((line) => JSON.parse(line))).toMatchObject([{ level: 'error', error: run.error }])
  expect(output).not.toMatch(/\n\s+at |correct horse/)
}

/** What the source was when a run of the sync was last done. */
const lastGood = new Map<Sync, Truth>()

/** The run makes what follows from the source since then and nothing else, and the directory is equal to the source. */
async function expectNext(name: Sync): Promise<void> {
  const truth = await readTruth(name.startsWith('idle') ? impatient : slapd)
  const before = await countWrites()
  const run = await sync(name)
  expect(run).toMatchObject({ state: 'done', error: null })
  const made: { change: { op: string; id: string } }[] = run.changes
  const expected = changesBetween(lastGood.get(name) ?? { users: new Map(), groups: new Map() }, truth)
  expect(made.map(({ change }) => `${change.op} ${change.id}`).toSorted()).toEqual(expected)
  expect(await countWrites()).toBe(before + expected.length)

  const seen = await readService({ ...FIXTURE, baseUrl: service.baseUrl, directoryId: SYNCS[name] })
  expect(seen.users).toEqual(truth.users)
  expect(seen.groups).toEqual(truth.groups)
  lastGood.set(name, truth)
}

/** Asks the daemon for a run, as `dirsyncd sync` does, and waits until the daemon says that it has ended. */
async function sync(name: Sync): Promise<any> {
  const body = JSON.stringify({ sync: name, mode: 'sync' })
  const headers = { 'content-type': 'application/json' }
  const asked = await admin.request({ method: 'POST', path: '/runs', headers, body })
  const { run } = (await asked.body.json()) as { run: number }
  await daemon.waitForOutput(new RegExp(`^${name}: run ${run}, (?:done|failed|held), [^]*?\n\n`, 'm'))
  const { body: view } = await admin.request({ method: 'GET', path: `/runs/${run}?limit=1000` })
  return view.json()
}

async function countWrites(): Promise<number> {
  return (await service.requests()).filter(({ method }) => method !== 'GET').length
}
