import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { inLong } from '../support/long.ts'
import {
  type Employee,
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

describe('a server that was restored from an older backup', () => {
  const leaver = people[30]!
  const isWrite = ['POST', 'PUT', 'PATCH', 'DELETE']
  let slapd: Slapd

  beforeEach(async () => {
    slapd = stack.use(await startSlapd({ ...COMPANY, overlays: ['syncprov'] }))
    await openSiteOf(slapd)
    await corp.configure({ url: slapd.url })
    await expectDone(corp)
  })

  /** The backup has the leaver and lacks the newcomers. Only a clean stop writes contextCSN into the database. */
  async function restoreWithout(newcomers: readonly Employee[], { cleanStop = true } = {}): Promise<void> {
    if (cleanStop) {
      await slapd.stop()
      await slapd.start()
    }
    const backup = await slapd.dump()
    expect(backup.includes('\ncontextCSN: ')).toBe(cleanStop)
    await slapd.modify([leave(leaver), ...newcomers.map(hire)].join(''))
    await expectDone(corp)
    await slapd.restore(backup)
  }

  /** Expects that it is told apart, that the leaver stays away, and whom grace keeps; then somebody approves. */
  async function expectGraceAndNobodyReborn(before: readonly string[]): Promise<void> {
    const newer = await corp.sync()
    expect(newer).toMatchObject({ code: 4, stderr: '' })
    expect(newer.stdout).toContain('reborn: 1 user that this sync deleted within the last day is back')
    expect(newer.stdout).toContain('in-grace (3)')
    expect(await corp.uids()).toEqual(before)
    const run = /run (\d+)/.exec(newer.stdout)?.[1] ?? ''
    expect(await corp.site.run('approve', run)).toMatchObject({ code: 0, stderr: '' })
    expect(await corp.uids()).toEqual([...before, leaver.uid].toSorted())
  }

  test('changes nothing; after its own writes nobody is created again, and grace keeps whom it lost', async () => {
    await restoreWithout(numbered('n', 3))
    await corp.configure({ url: slapd.url, guards: { users: { deleteAfter: '1h' } } })
    const [before, writes] = [await corp.uids(), await corp.writes(...isWrite)]
    const csn = '\\d{14}\\.\\d{6}Z#000000#000#000000'
    const sentence =
      `server-not-newer: ${slapd.url} is older than the last good read, of ${slapd.url} ` +
      `\\(${BASE} 000: ${csn} then, ${csn} now\\); nothing is changed until it has caught up`
    for (let times = 0; times < 2; times++) {
      const older = await corp.sync()
      expect(older).toMatchObject({ code: 4, stderr: '' })
      expect(older.stdout).toMatch(new RegExp(sentence))
      expect(older.stdout).not.toContain('applied')
    }
    expect(await corp.writes(...isWrite)).toBe(writes)

    await slapd.modify([hire({ uid: 'late' }), marry(people[1]!, 'Other')].join(''))
    await expectGraceAndNobodyReborn([...before, 'late'].toSorted())
  })

  test('without a position in the backup looks newer at once, and does no harm either', async () => {
    await restoreWithout(numbered('n', 3), { cleanStop: false })
    await corp.configure({ url: slapd.url, guards: { users: { deleteAfter: '1h' } } })
    await expectGraceAndNobodyReborn(await corp.uids())
  })

  test('meets the guards with all whom it lost', async () => {
    await restoreWithout(numbered('n', 55))
    const before = await corp.uids()
    await slapd.modify(hire({ uid: 'late' }))
    const held = await corp.sync()
    expect(held).toMatchObject({ code: 3, stderr: '' })
    expect(held.stdout).toMatch(/max-deletes-users: 55 of /)
    expect(await corp.uids()).toEqual(before)
  })
})

test('a server that forgot its newest delete in a crash waits for its next change', async () => {
  const slapd = stack.use(await startSlapd({ ...COMPANY, overlays: ['syncprov'] }))
  await openSiteOf(slapd)
  await corp.configure({ url: slapd.url })
  // The clean stop writes the position of then into the database.
  await slapd.stop()
  await slapd.start()
  await expectDone(corp)
  await slapd.modify(leave(people[30]!))
  await expectDone(corp)
  await slapd.kill()
  await slapd.start()
  const waits = await corp.sync()
  expect(waits).toMatchObject({ code: 4, stderr: '' })
  expect(waits.stdout).toContain(`${slapd.url} is older than the last good read, of ${slapd.url} (`)
  await slapd.modify(hire({ uid: 'late' }))
  await expectDone(corp)
  await expectTruth(corp, slapd)
})

describe('a server that does not show how new it is', () => {
  let slapd: Slapd

  beforeEach(async () => {
    slapd = stack.use(await startSlapd(COMPANY))
    await openSiteOf(slapd)
  })

  test('is believed at once where it is the only one', async () => {
    await corp.configure({ url: slapd.url })
    await expectDone(corp)
    await slapd.modify(leave(people[30]!))
    await expectDone(corp)
    await expectTruth(corp, slapd)
  })

  test.each([
    ['is one of two addresses', () => [slapd.url, 'ldap://127.0.0.1:1']],
    ['may be one of several behind its address', () => slapd.url],
  ])('and that %s needs a second read before a delete, some time later', async (_, urlOf) => {
    const configure = (confirmAfter: string) => corp.configure({ url: urlOf(), source: { confirmAfter } })
    await configure('1h')
    await expectDone(corp)
    const before = await corp.teams()
    const leaver = people[3]!
    await slapd.modify([leave(leaver), hire({ uid: 'new' })].join(''))
    for (let times = 0; times < 2; times++) {
      const waiting = await corp.sync()
      expect(waiting).toMatchObject({ code: 0, stderr: '' })
      expect(waiting.stdout).toMatch(
        /unproved \(1\).*\n.*<p0003@example\.org>: absent since .*; deleted if a read after/,
      )
    }
    expect(await corp.uids()).toEqual([...people.map(({ uid }) => uid), 'new'].toSorted())
    expect(await corp.teams()).toEqual(before)

    await configure('1s')
    const isDeleted = async () => {
      await expectDone(corp)
      return !(await corp.uids()).includes(leaver.uid)
    }
    await expect.poll(isDeleted).toBe(true)
    await expectTruth(corp, slapd)
  })
})
