import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { silentLog } from '../../src/base/log/log.ts'
import { Logins } from '../../src/source/ldap/connection/logins.ts'
import { createLdapSource } from '../../src/source/ldap/ldap-source.ts'
import type { ReadOptions, Source } from '../../src/source/source.ts'
import { refusedLogins } from '../../src/operations/refused-logins.ts'
import { type LdapRecorder, startLdapRecorder } from '../support/ldap-recorder.ts'
import { backendNamed } from '../support/backends.ts'
import { BASE, peopleSections, type Slapd, startSlapd } from '../support/slapd.ts'

const NEVER = new AbortController().signal
const MINUTE_MS = 60_000
const realNow = Date.now.bind(Date)

let slapd: Slapd
let recorder: LdapRecorder
/** What was read before of where the secret is, and what is there now. */
let secret: { kept: string; now: string }
let source: Source
let ahead = 0

beforeAll(async () => {
  slapd = await startSlapd({ people: 3, tls: false })
  recorder = await startLdapRecorder({ host: '127.0.0.1', port: slapd.port })
})
afterAll(async () => {
  await recorder?.[Symbol.asyncDispose]()
  await slapd?.close()
})
beforeEach(() => {
  recorder.clear()
  secret = { kept: 'the old one', now: 'the old one' }
  source = sourceWith(password)
})
afterEach(() => {
  vi.useRealTimers()
  ahead = 0
})

async function password(fresh = false): Promise<string> {
  if (fresh) secret.kept = secret.now
  return secret.kept
}

function sourceWith(secretNow: (fresh?: boolean) => Promise<string>, logins = new Logins()): Source {
  const bind = { dn: slapd.readers.reader.dn, password: secretNow }
  const timeouts = { connectMs: 60_000, answerMs: 60_000 }
  const { users } = peopleSections(BASE)
  const people = { ...users, scope: 'sub' } as const
  const tls = { startTls: false }
  return createLdapSource(
    { url: recorder.url, tls, bind, timeouts, pageSize: 100, users: people },
    silentLog(),
    { logins },
  )
}

function setRight(): void {
  secret.now = slapd.readers.reader.password
}

/** The sentence with which a read was refused, and how many logins it tried. */
async function refused(options?: ReadOptions): Promise<{ why: string; logins: number }> {
  const before = recorder.binds.length
  const why = await source.read(NEVER, options).then(
    () => expect.fail('it was not refused'),
    (error: Error) => error.message,
  )
  return { why, logins: recorder.binds.length - before }
}

async function expectRead(): Promise<void> {
  await expect(source.read(NEVER)).resolves.toMatchObject({ unreadable: 0 })
}

/** From now on so much time has passed as well. */
function pass(ms: number): void {
  ahead += ms
  vi.useFakeTimers({ now: realNow() + ahead, toFake: ['Date'] })
}

test('a password that was changed since it was read is asked for again, and taken', async () => {
  setRight()
  await expectRead()
  expect(recorder.binds).toHaveLength(2)
  await expectRead()
  expect(recorder.binds).toHaveLength(3)
})

test('a password that is still the same after a refusal is not tried again', async () => {
  expect(await refused()).toMatchObject({ logins: 1 })
})

test('after a refusal no schedule logs in for a while, each time for longer', async () => {
  expect(await refused()).toMatchObject({ logins: 1 })
  for (const minutes of [15, 30, 60, 60]) {
    const { why, logins } = await refused()
    expect(logins).toBe(0)
    expect(why).toMatch(
      /wrong password or unknown bind DN: .*; because refused logins lock accounts, no schedule/,
    )
    expect(why).toContain(`for ${minutes} more minutes, unless the secret changes; dirsyncd sync does so`)
    pass((minutes - 1) * MINUTE_MS)
    expect(await refused()).toMatchObject({ logins: 0, why: expect.stringContaining('for 1 more minute,') })
    pass(MINUTE_MS)
    expect(await refused()).toMatchObject({ logins: 1 })
  }
})

test('a person who asks, and a secret that changes, end the wait', async () => {
  await refused()
  pass(10_000)
  expect(await refused({ isAsked: true })).toMatchObject({ logins: 1 })
  expect(await refused()).toMatchObject({ logins: 0 })
  setRight()
  await expectRead()
  secret = { kept: 'wrong again', now: 'wrong again' }
  expect(await refused()).toMatchObject({ logins: 1 })
  expect((await refused()).why).toContain('for 15 more minutes')
})

test('a secret that is another one each time does not have the account locked', async () => {
  let asked = 0
  source = sourceWith(async () => `one-time ${(asked += 1)}`)
  const tries = [await refused(), await refused(), await refused()]
  expect(tries.map(({ logins }) => logins)).toEqual([2, 1, 1])
  expect(await refused()).toMatchObject({
    logins: 0,
    why: expect.stringMatching(
      /, 3 different secrets were refused, and no schedule tries another one for 15 more minutes; dirsyncd sync does so at once$/,
    ),
  })
  pass(15 * MINUTE_MS)
  expect(await refused()).toMatchObject({ logins: 1 })
  expect((await refused()).why).toContain('4 different secrets were refused')
  expect((await refused()).why).toContain('for 30 more minutes')
})

test('of several syncs with one reader that begin at once, one logs in while it is refused', async () => {
  const logins = new Logins()
  const reads = Array.from({ length: 6 }, () => sourceWith(password, logins).read(NEVER))
  for (const read of await Promise.allSettled(reads)) expect(read.status).toBe('rejected')
  expect(recorder.binds).toHaveLength(1)
  setRight()
  await Promise.all(Array.from({ length: 6 }, () => sourceWith(password, logins).read(NEVER)))
  expect(recorder.binds).toHaveLength(7)
})

test('a person who asks for one source after the other has the same secret tried once', async () => {
  const logins = new Logins()
  source = sourceWith(password, logins)
  expect(await refused({ isAsked: true })).toMatchObject({ logins: 1 })
  source = sourceWith(password, logins)
  expect(await refused({ isAsked: true })).toMatchObject({
    logins: 0,
    why: expect.stringMatching(
      /refused logins lock accounts, the same secret is not tried again for \d+ more seconds?$/,
    ),
  })
  setRight()
  await expectRead()
})

test('a process that starts anew knows which login was refused, and not the secret', async () => {
  await using stack = new AsyncDisposableStack()
  const { store } = stack.adopt(await backendNamed('embedded').open(), (opened) => opened.close())
  const begin = () => sourceWith(password, new Logins(refusedLogins(store.db)))
  source = begin()
  expect(await refused()).toMatchObject({ logins: 1 })
  source = begin()
  expect(await refused()).toMatchObject({ logins: 0, why: expect.stringContaining('for 15 more minutes') })
  const rows = await store.db.selectFrom('dirsyncd.refused_logins').selectAll().execute()
  expect(rows).toHaveLength(1)
  expect(JSON.stringify(rows)).not.toContain(secret.now)
  pass(15 * MINUTE_MS)
  expect(await refused()).toMatchObject({ logins: 1 })
  source = begin()
  expect((await refused()).why).toContain('for 30 more minutes')
  setRight()
  await expectRead()
  expect(await store.db.selectFrom('dirsyncd.refused_logins').selectAll().execute()).toEqual([])
})

test('a clock that was set back makes no pause longer', async () => {
  await refused()
  pass(-60 * MINUTE_MS)
  expect(await refused()).toMatchObject({ logins: 1 })
})
