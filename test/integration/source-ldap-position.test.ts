import { serverText } from '../../src/ui/messages/servers.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ServerEvidence } from '../../src/core/entries/position.ts'
import { silentLog } from '../../src/base/log/log.ts'
import { judgeServer } from '../../src/core/plan/server.ts'
import { createLdapSource } from '../../src/source/ldap/ldap-source.ts'
import type { LdapSourceOptions } from '../../src/source/ldap/options.ts'
import type { Source } from '../../src/source/source.ts'
import { type LdapProxy, startLdapProxy } from '../support/ldap-proxy.ts'
import { startLdapRecorder } from '../support/ldap-recorder.ts'
import { ldif } from '../support/people.ts'
import { useTimeOfSilence } from '../support/silence.ts'
import { BASE, type Slapd, startSlapd } from '../support/slapd.ts'
import { startTcpRelay } from '../support/tcp-relay.ts'

/** How new a server of OpenLDAP is: a provider and a replica that stops to follow it. */
const PEOPLE = 30
const NEVER = new AbortController().signal
const PROVIDER = { people: PEOPLE, global: ['serverID 1'], overlays: ['syncprov'], tls: false } as const

const stack = new AsyncDisposableStack()
let provider: Slapd
let proxy: LdapProxy

beforeAll(async () => {
  provider = stack.use(await startSlapd(PROVIDER))
  proxy = stack.use(await startLdapProxy(provider.port))
})

afterAll(() => stack.disposeAsync())

function source(url: string | readonly string[], more: Partial<LdapSourceOptions> = {}): Source {
  const { dn, password } = provider.readers.reader
  const options: LdapSourceOptions = {
    url,
    tls: { startTls: false },
    bind: { dn, password: async () => password },
    pageSize: 10,
    timeouts: { connectMs: 60_000, answerMs: 60_000 },
    users: {
      base: `ou=people,${BASE}`,
      scope: 'sub',
      filter: '(objectClass=inetOrgPerson)',
      map: { external_id: 'entryUUID', email: 'mail' },
    },
    ...more,
  }
  return createLdapSource(options, silentLog())
}

async function serverOf(from: Source): Promise<ServerEvidence> {
  const { server } = await from.read(NEVER)
  if (server === undefined) throw new Error('a read without evidence')
  return server
}

const addPerson = (uid: string) =>
  ldif(`uid=${uid},ou=people,${BASE}`, {
    changetype: ['add'],
    objectClass: ['inetOrgPerson'],
    uid: [uid],
    cn: [uid],
    sn: [uid],
  })

/** What the judgement makes of a read of `seen` when `known` was the last good one. */
function judge(known: ServerEvidence, seen: ServerEvidence) {
  const circumstances = {
    now: new Date(),
    confirmAfterMs: 3_600_000,
    hidesServers: false,
    isAccepted: () => false,
  }
  return judgeServer(judgeServer(undefined, known, circumstances).next, seen, circumstances)
}

const LONG_AGO = '20200101000000.000000Z#000000#001#000000'
const KEY = `${BASE} 001`
const CSN = /^\d{14}\.\d{6}Z#\d{6}#001#\d{6}$/
const DATABASE = /^dc=example,dc=org [0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

describe('a plain reader', () => {
  test('sees which database it is and how new, and a change makes it newer', async () => {
    const before = await serverOf(source(provider.url))
    expect(before).toEqual({
      url: provider.url,
      address: '127.0.0.1',
      addresses: 1,
      database: expect.stringMatching(DATABASE),
      position: { [KEY]: expect.stringMatching(CSN) },
      hints: {},
    })
    await provider.modify(addPerson('one-more'))
    const after = await serverOf(source(provider.url))
    expect(after.database).toBe(before.database)
    expect(after.position?.[KEY]?.localeCompare(before.position?.[KEY] ?? '')).toBe(1)
    expect(judge(before, after).scope).toBe('everything')
    expect(judge(after, before).scope).toBe('nothing')
  })

  test('asks for it once before the first entry and once after the last one', async () => {
    await using recorder = await startLdapRecorder({ host: '127.0.0.1', port: provider.port })
    await source(recorder.url).read(NEVER)
    const asked = recorder.searches.map(({ base, attributes }) => [base, attributes.includes('contextCSN')])
    // The connection itself reads the root DSE.
    expect(asked[0]).toEqual(['', false])
    expect(asked[1]).toEqual([BASE, true])
    expect(asked.at(-1)).toEqual([BASE, true])
    expect(asked.filter(([, isPosition]) => isPosition)).toHaveLength(2)
  })

  test('has it from all naming contexts that hold a base, or from none', async () => {
    const groups = {
      base: `ou=groups,${BASE}`,
      scope: 'sub',
      filter: '(objectClass=groupOfNames)',
      map: { external_id: 'entryUUID', name: 'cn' },
    } as const
    expect(Object.keys((await serverOf(source(provider.url, { groups }))).position ?? {})).toEqual([KEY])
    const elsewhere = { ...groups, base: 'cn=Subschema', scope: 'base', filter: '(objectClass=*)' } as const
    expect((await serverOf(source(provider.url, { groups: elsewhere }))).position).toBeUndefined()
  })

  test('is told by a check what it sees', async () => {
    const lines = await source(provider.url).probe(NEVER)
    expect(lines).toContainEqual({ label: 'servers', detail: 'one address, 127.0.0.1', level: 'info' })
    const position = lines.find(({ label }) => label === 'position')
    expect(position?.level).toBe('ok')
    expect(position?.detail).toMatch(
      /^dc=example,dc=org 001 at \d{14}.* a sync compares it with that of its last good read$/,
    )
    const several = await source([proxy.url, provider.url]).probe(NEVER)
    expect(several.find(({ label }) => label === 'servers')?.detail).toBe(
      '2 addresses, now 127.0.0.1; each run first tries that of the last good one',
    )
  })
})

describe('a server that shows less', () => {
  test.each([
    ['has no overlay syncprov', { global: ['serverID 1'] }],
    ['hides contextCSN from the reader', { ...PROVIDER, acl: ['access to attrs=contextCSN by * none'] }],
  ])('%s: it is read without a position, and a check says what to ask for', async (_, options) => {
    await using slapd = await startSlapd({ people: 1, tls: false, ...options })
    const { database, position } = await serverOf(source(slapd.url))
    expect([database, position]).toEqual([expect.stringMatching(DATABASE), undefined])
    const lines = await source([slapd.url, 'ldap://127.0.0.1:1']).probe(NEVER)
    expect(lines.find(({ label }) => label === 'position')).toMatchObject({
      level: 'warn',
      detail: expect.stringMatching(
        /deletes wait .*let the reader read contextCSN and entryUUID of the suffix/,
      ),
    })
  })

  test.each([32, 50, 53])(
    'refuses the question with result %i: it is read without a position',
    async (code) => {
      proxy.setFault({ kind: 'at', step: 'position', action: code })
      const nothing = { position: undefined, database: undefined }
      await expect(serverOf(source(proxy.url))).resolves.toMatchObject(nothing)
    },
  )

  test.each([
    ['cut', 'the connection was lost'],
    [51, 'when it was asked how new its data is'],
  ] as const)('cannot answer (%s): the read fails', async (action, words) => {
    proxy.setFault({ kind: 'at', step: 'position', action })
    const reading = source(proxy.url).read(NEVER)
    await expect(reading).rejects.toMatchObject({ code: 'source-incomplete' })
    await expect(reading).rejects.toThrow(words)
  })

  describe('falls silent', () => {
    const passTime = useTimeOfSilence()

    test('and the read fails', async () => {
      proxy.onSilence = passTime
      proxy.setFault({ kind: 'at', step: 'position', action: 'stall' })
      const reading = source(proxy.url).read(NEVER)
      await expect(reading).rejects.toMatchObject({ code: 'source-incomplete' })
      await expect(reading).rejects.toThrow('nothing arrived for')
    })
  })
})

test.each<[string, string, string, readonly string[], string]>([
  ['was older at the end', 'contextCSN', 'second', [LONG_AGO], `${KEY} was 2`],
  [
    'knew less origins at the end',
    'contextCSN',
    'first',
    ['20200101000000.000000Z#000000#002#000000'],
    `${BASE} 002 was 2020`,
  ],
  [
    'was of another database at the end',
    'entryUUID',
    'second',
    ['00000000-0000-0000-0000-000000000000'],
    'database was',
  ],
  [
    'showed no position any more',
    'contextCSN',
    'second',
    [],
    'position was shown at the beginning, and is not shown',
  ],
  // As a replica that was filled while it was read.
  [
    'showed its position at the end only',
    'contextCSN',
    'first',
    [],
    'position was not shown at the beginning, and is shown',
  ],
])('a server that %s is an incomplete read', async (_, attribute, time, values, words) => {
  let asked = 0
  const shown = (dn: string, attributes: readonly { name: string; values: readonly Buffer[] }[]) => {
    if (dn !== BASE) return attributes
    asked += 1
    if (asked !== (time === 'first' ? 1 : 2)) return attributes
    const others = attributes.filter(({ name }) => name !== attribute)
    return values.length === 0
      ? others
      : [...others, { name: attribute, values: values.map((value) => Buffer.from(value)) }]
  }
  await using recorder = await startLdapRecorder({ host: '127.0.0.1', port: provider.port }, undefined, {
    shown,
  })
  const reading = source(recorder.url).read(NEVER)
  await expect(reading).rejects.toMatchObject({ code: 'source-incomplete' })
  await expect(reading).rejects.toThrow(/another or an older server answered before the read had ended/)
  await expect(reading).rejects.toThrow(words)
})

test('a server that catches up while it is read is judged by what it had before', async () => {
  const known = await serverOf(source(provider.url))
  let asked = 0
  const shown = (dn: string, attributes: readonly { name: string; values: readonly Buffer[] }[]) => {
    asked += dn === BASE ? 1 : 0
    if (dn !== BASE || asked !== 1) return attributes
    const others = attributes.filter(({ name }) => name !== 'contextCSN')
    return [...others, { name: 'contextCSN', values: [Buffer.from(LONG_AGO)] }]
  }
  await using recorder = await startLdapRecorder({ host: '127.0.0.1', port: provider.port }, undefined, {
    shown,
  })
  const seen = await serverOf(source(recorder.url))
  expect(seen.position).toEqual(known.position)
  const { scope, state, next } = judge(known, seen)
  expect(scope).toBe('nothing')
  expect(serverText(state)).toContain(`then, ${LONG_AGO} now`)
  expect(next.position).toEqual(known.position)
})

test('a replica that follows is as new as its provider, and one that lags is older', async () => {
  await using line = await replicationLine()
  await using replica = await startReplica(line.port)
  await expect.poll(() => isAsNew(replica)).toBe(true)

  await line.cut()
  await provider.modify(addPerson('new-at-the-provider'))
  const [known, seen] = [await serverOf(source(provider.url)), await serverOf(source(replica.url))]
  expect(seen.database).toBe(known.database)
  const { scope, state } = judge(known, seen)
  expect(scope).toBe('nothing')
  expect(serverText(state)).toContain(
    `${replica.url} is older than ${provider.url} was in the last complete run (${KEY}: `,
  )
  expect(judge(seen, known).scope).toBe('everything')
})

async function isAsNew(replica: Slapd): Promise<boolean> {
  const seen = await serverOf(source(replica.url)).catch(() => undefined)
  return seen !== undefined && judge(await serverOf(source(provider.url)), seen).scope === 'everything'
}

/** The way from the replica to its provider, which can be cut. */
async function replicationLine() {
  const relay = await startTcpRelay(
    { host: '127.0.0.1', port: provider.port },
    { host: '127.0.0.1', port: 0 },
    (client, upstream) => void client.pipe(upstream).pipe(client),
  )
  let isCut = false
  const cut = async () => {
    if (!isCut) await relay[Symbol.asyncDispose]()
    isCut = true
  }
  return { port: relay.port, cut, [Symbol.asyncDispose]: cut }
}

function startReplica(port: number): Promise<Slapd> {
  const { dn, password } = provider.admin
  const syncrepl = [
    `syncrepl rid=1 provider=ldap://127.0.0.1:${port} type=refreshAndPersist retry="1 +"`,
    `searchbase="${BASE}" bindmethod=simple binddn="${dn}" credentials="${password}"`,
  ]
  return startSlapd({
    empty: true,
    tls: false,
    global: ['serverID 2'],
    database: [syncrepl.join(' '), `updateref ${provider.url}`],
    overlays: ['syncprov'],
  })
}
