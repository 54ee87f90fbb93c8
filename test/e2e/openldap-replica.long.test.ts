import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { readTruth } from '../support/ldif-truth.ts'
import { inLong } from '../support/long.ts'
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
import type { ProgramResult } from '../support/program.ts'
import { BASE, type Slapd, startSlapd } from '../support/slapd.ts'
import { startTcpRelay } from '../support/tcp-relay.ts'

const PEOPLE = inLong(60, 1_000)
const people = numbered('p', PEOPLE)
const COMPANY = {
  tls: false,
  ldifs: [...people.map(employeeLdif), teamLdif('Team', people.slice(0, 10))],
} as const

let stack: AsyncDisposableStack
let corp: OpenLdapSite

beforeEach(() => {
  stack = new AsyncDisposableStack()
})
afterEach(() => stack.disposeAsync())

async function openSiteOf(slapd: Slapd): Promise<void> {
  corp = stack.use(await openOpenLdapSite(slapd))
}

/** Waits until the consumer has what the provider has. */
async function untilInTime(consumer: Slapd, provider: Slapd): Promise<void> {
  const known = await contextCsn(provider)
  await expect.poll(() => contextCsn(consumer)).toBe(known)
}

/** A week at the company: two people come, one leaves, and one gets another name. */
const week = (number: number): string =>
  [
    ...numbered(`n${number}-`, 2).map(hire),
    leave(people[20 + number]!),
    marry(people[0]!, `Name ${number}`),
    ...(number === 0 ? [] : [leave(numbered(`n${number - 1}-`, 1)[0]!)]),
  ].join('')

describe('a provider, and a consumer that asks it each two seconds', () => {
  let provider: Slapd
  let consumer: Slapd
  let line: Awaited<ReturnType<typeof replicationLine>>

  beforeEach(async () => {
    provider = stack.use(await startSlapd({ ...COMPANY, overlays: ['syncprov'] }))
    line = stack.use(await replicationLine(provider))
    consumer = stack.use(await startConsumer(provider, line.port))
    await untilInTime(consumer, provider)
    await openSiteOf(provider)
  })

  /** Reads with this server alone, or with another one that is down. */
  const WAYS: readonly [string, number, (to: Slapd) => Promise<ProgramResult>][] = [
    [
      'the url is changed between the runs',
      inLong(6, 10),
      async (to) => {
        await corp.configure({ url: to.url })
        return corp.sync()
      },
    ],
    [
      'the other one is down',
      inLong(6, 10),
      async (to) => {
        const other = to === provider ? consumer : provider
        await corp.configure({ url: [provider.url, consumer.url] })
        await other.stop()
        const ended = await corp.sync()
        await other.start()
        expect(ended.stderr).toMatch(/^(warn: a server of the source cannot be used .*\n)?$/)
        return { ...ended, stderr: '' }
      },
    ],
  ]

  // To the program both are a read from another server than the last one.
  describe.each(WAYS.slice(inLong(1, 0)))('read by turns, because %s', (_, turns, readFrom) => {
    test('while the consumer lags: nobody is deleted wrongly, and nothing goes back', async () => {
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
        const sentence = /^ {2}server-not-newer: (.*)$/m.exec(stdout)?.[1]
        expect(sentence === undefined ? 0 : 4).toBe(code)
        if (sentence !== undefined) waited.push(sentence)
        await history.add(corp, provider)
      }
      // The consumer's turns while the line is cut, but the first one.
      expect(waited.length).toBeGreaterThanOrEqual((turns - 4) / 2)
      for (const sentence of waited)
        expect(sentence).toMatch(
          `${consumer.url} is older than the last good read, of ${provider.url} (${BASE} 000: `,
        )
      await untilInTime(consumer, provider)
      for (const server of [consumer, provider]) {
        expect(await readFrom(server)).toMatchObject({ code: 0, stderr: '' })
        await expectTruth(corp, provider)
      }
    })

    test('while the consumer is in time: each run does all that happened, and holds nothing', async () => {
      for (let turn = 0; turn < inLong(2, 10); turn++) {
        await provider.modify(week(turn))
        await untilInTime(consumer, provider)
        const ended = await readFrom(turn % 2 === 0 ? provider : consumer)
        expect(ended).toMatchObject({ code: 0, stderr: '' })
        expect(ended.stdout).not.toMatch(/Not proved|Held|unproved/)
        await expectTruth(corp, provider)
      }
    })
  })
})

test('a consumer that never gets a delete, and says that it is as new, does not bring the leaver back', async () => {
  // Entries that were loaded under server id 0 are not in the position of server id 1, so a consumer keeps them.
  const provider = stack.use(await startSlapd({ ...COMPANY, global: ['serverID 1'], overlays: ['syncprov'] }))
  const consumer = stack.use(await startConsumer(provider, provider.port))
  await untilInTime(consumer, provider)
  await openSiteOf(provider)
  await corp.configure({ url: provider.url })
  await expectDone(corp)
  const leaver = people[30]!
  await provider.modify(leave(leaver))
  await expectDone(corp)
  await untilInTime(consumer, provider)
  expect((await readTruth(consumer)).users.size).toBe(PEOPLE)

  await corp.configure({ url: consumer.url })
  const other = await corp.sync()
  expect(other).toMatchObject({ code: 4, stderr: '' })
  expect(other.stdout).toContain('reborn: 1 user that this sync deleted within the last day is back')
  expect(other.stdout).toMatch(/user \S+ {2}Someone of p0030 <p0030@example\.org>: is back/)
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
