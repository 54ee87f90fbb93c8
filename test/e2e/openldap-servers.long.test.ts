import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { readTruth } from '../support/ldif-truth.ts'
import {
  contextCsn,
  employeeLdif,
  hire,
  leave,
  marry,
  expectDone,
  expectTruth,
  numbered,
  openOpenLdapSite,
  type OpenLdapSite,
  teamLdif,
} from '../support/openldap-site.ts'
import { BASE, type Slapd, startSlapd } from '../support/slapd.ts'
import { startTcpRelay } from '../support/tcp-relay.ts'

const PEOPLE = 1_000
const people = numbered('p', PEOPLE)
const COMPANY = {
  tls: false,
  overlays: ['syncprov'],
  ldifs: [...people.map(employeeLdif), teamLdif('Team', people.slice(0, 10))],
} as const
const leaver = people[30]!

let stack: AsyncDisposableStack
let corp: OpenLdapSite

beforeEach(() => {
  stack = new AsyncDisposableStack()
})
afterEach(() => stack.disposeAsync())

async function openSiteOf(slapd: Slapd): Promise<void> {
  corp = stack.use(await openOpenLdapSite(slapd))
}

async function readFrom({ url }: Slapd) {
  await corp.configure({ url })
  return corp.sync()
}

/** Waits until the consumer has what the provider has. */
async function untilInTime(consumer: Slapd, provider: Slapd): Promise<void> {
  const known = await contextCsn(provider)
  await expect.poll(() => contextCsn(consumer)).toBe(known)
}

test('a server restored from an older backup changes nothing until it is newer, and then recreates no deleted user', async () => {
  const slapd = stack.use(await startSlapd(COMPANY))
  await openSiteOf(slapd)
  await corp.configure({ url: slapd.url })
  await expectDone(corp)
  // Only a clean stop writes contextCSN into the database.
  await slapd.stop()
  await slapd.start()
  const backup = await slapd.dump()
  await slapd.modify([leave(leaver), ...numbered('n', 3).map(hire)].join(''))
  await expectDone(corp)
  await slapd.restore(backup)
  await corp.configure({ url: slapd.url, guards: { users: { deleteAfter: '1h' } } })
  const before = await corp.uids()
  const csn = '\\d{14}\\.\\d{6}Z#000000#000#000000'
  const sentence =
    `server-not-newer \\(\\d+\\): ${slapd.url} is older than ${slapd.url} was in the last complete run ` +
    `\\(${BASE} 000: ${csn} then, ${csn} now\\); nothing is changed until it has caught up`
  const older = await corp.sync()
  expect(older).toMatchObject({ code: 4, stderr: '' })
  expect(older.stdout).toMatch(new RegExp(sentence))
  expect(older.stdout).not.toContain('applied')
  expect(await corp.uids()).toEqual(before)

  await slapd.modify([hire({ uid: 'late' }), marry(people[1]!, 'Other')].join(''))
  const newer = await corp.sync()
  expect(newer).toMatchObject({ code: 4, stderr: '' })
  expect(newer.stdout).toContain('recently-deleted (1): this sync deleted it in the last 24 hours')
  expect(newer.stdout).toContain('grace (3)')
  expect(await corp.uids()).toEqual([...before, 'late'].toSorted())
  const run = /run (\d+)/.exec(newer.stdout)?.[1] ?? ''
  expect(await corp.site.run('approve', run, '--code', 'recently-deleted')).toMatchObject({
    code: 0,
    stderr: '',
  })
  expect(await corp.uids()).toEqual([...before, 'late', leaver.uid].toSorted())
})

/** A week at the company: two people come, one leaves, and one gets another name. */
const week = (number: number): string =>
  [
    ...numbered(`n${number}-`, 2).map(hire),
    leave(people[20 + number]!),
    marry(people[0]!, `Name ${number}`),
    ...(number === 0 ? [] : [leave(numbered(`n${number - 1}-`, 1)[0]!)]),
  ].join('')

describe('a provider, and a consumer that asks it each two seconds, read by turns', () => {
  let provider: Slapd
  let consumer: Slapd
  let line: Awaited<ReturnType<typeof replicationLine>>

  beforeEach(async () => {
    provider = stack.use(await startSlapd(COMPANY))
    line = stack.use(await replicationLine(provider))
    consumer = stack.use(await startConsumer(provider, line.port))
    await untilInTime(consumer, provider)
    await openSiteOf(provider)
  })

  test('delete no present user and undo no change while the consumer lags', async () => {
    const turns = 10
    expect(await readFrom(provider)).toMatchObject({ code: 0, stderr: '' })
    const history = new History()
    await history.add(corp, provider)
    const waited: string[] = []
    for (let turn = 0; turn < turns; turn++) {
      if (turn === 1) await line.cut()
      if (turn === turns - 2) await line.mend()
      await provider.modify(week(turn))
      const { code, stdout, stderr } = await readFrom(turn % 2 === 0 ? provider : consumer)
      expect([0, 4]).toContain(code)
      expect(stderr).toBe('')
      const sentence = /^ {2}server-not-newer \(\d+\): (.*)$/m.exec(stdout)?.[1]
      expect(sentence === undefined ? 0 : 4).toBe(code)
      if (sentence !== undefined) waited.push(sentence)
      await history.add(corp, provider)
    }
    // The consumer's turns while the line is cut, but the first one.
    expect(waited.length).toBeGreaterThanOrEqual((turns - 4) / 2)
    for (const sentence of waited)
      expect(sentence).toMatch(
        `${consumer.url} is older than ${provider.url} was in the last complete run (${BASE} 000: `,
      )
    await untilInTime(consumer, provider)
    for (const server of [consumer, provider]) {
      expect(await readFrom(server)).toMatchObject({ code: 0, stderr: '' })
      await expectTruth(corp, provider)
    }
  })

  test('make all changes at once while the consumer is in time', async () => {
    for (let turn = 0; turn < 4; turn++) {
      await provider.modify(week(turn))
      await untilInTime(consumer, provider)
      const ended = await readFrom(turn % 2 === 0 ? provider : consumer)
      expect(ended).toMatchObject({ code: 0, stderr: '' })
      expect(ended.stdout).not.toMatch(/Blocked:|Needs approval:/)
      await expectTruth(corp, provider)
    }
  })
})

test('a consumer that missed a delete and claims to be as new does not recreate the deleted user', async () => {
  // Entries that were loaded under server id 0 are not in the position of server id 1, so a consumer keeps them.
  const provider = stack.use(await startSlapd({ ...COMPANY, global: ['serverID 1'] }))
  const consumer = stack.use(await startConsumer(provider, provider.port))
  await untilInTime(consumer, provider)
  await openSiteOf(provider)
  await corp.configure({ url: provider.url })
  await expectDone(corp)
  await provider.modify(leave(leaver))
  await expectDone(corp)
  await untilInTime(consumer, provider)
  expect((await readTruth(consumer)).users.size).toBe(PEOPLE)

  await corp.configure({ url: consumer.url })
  const other = await corp.sync()
  expect(other).toMatchObject({ code: 4, stderr: '' })
  expect(other.stdout).toContain('recently-deleted (1): this sync deleted it in the last 24 hours')
  expect(other.stdout).toMatch(/create user {3}\S+ {2}Someone of p0030 <p0030@example\.org>$/m)
  expect(await corp.uids()).not.toContain(leaver.uid)
  await corp.configure({ url: provider.url })
  await expectDone(corp)
  await expectTruth(corp, provider)
})

/** What the directory had after each run, and what must never happen in it. */
class History {
  #users: ReadonlyMap<string, { readonly name: string | null }> = new Map()
  readonly #deleted = new Set<string>()

  /** Expects that this run deleted nobody who is at the provider, created nobody again, and set no name back. */
  async add(site: OpenLdapSite, provider: Slapd): Promise<void> {
    const [{ users }, truth] = [await site.content(), await readTruth(provider)]
    for (const [id, before] of this.#users) {
      const now = users.get(id)
      if (now === undefined) {
        expect(truth.users.has(id)).toBe(false)
        this.#deleted.add(id)
      } else expect(versionOf(now)).toBeGreaterThanOrEqual(versionOf(before))
    }
    for (const id of users.keys()) expect(this.#deleted.has(id)).toBe(false)
    this.#users = users
  }
}

function versionOf({ name }: { readonly name: string | null }): number {
  return Number(/Name (\d+)$/.exec(name ?? '')?.[1] ?? -1)
}

/** The way from the consumer to its provider. */
async function replicationLine({ port: to }: Slapd) {
  const open = (port: number) =>
    startTcpRelay({ host: '127.0.0.1', port: to }, { host: '127.0.0.1', port }, (client, upstream) => {
      client.pipe(upstream).pipe(client)
    })
  let relay = await open(0)
  const { port } = relay
  const cut = () => relay[Symbol.asyncDispose]()
  const mend = async () => {
    relay = await open(port)
  }
  return { port, cut, mend, [Symbol.asyncDispose]: cut }
}

function startConsumer({ admin, url }: Slapd, port: number): Promise<Slapd> {
  const syncrepl = [
    `syncrepl rid=1 provider=ldap://127.0.0.1:${port} type=refreshOnly interval=00:00:00:02 retry="1 +"`,
    `searchbase="${BASE}" bindmethod=simple binddn="${admin.dn}" credentials="${admin.password}"`,
  ]
  return startSlapd({ empty: true, tls: false, database: [syncrepl.join(' '), `updateref ${url}`] })
}
