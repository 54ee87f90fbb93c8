import { afterAll, beforeAll, expect, test } from 'vitest'
import { type LdapRecorder, startLdapRecorder } from '../support/ldap-recorder.ts'
import { oddCompany, PEOPLE } from '../support/odd-company.ts'
import { activeDirectoryLdif, AD_PEOPLE } from '../support/odd-company-ldif.ts'
import { dumpLdif, openOddSync, type OddSync } from '../support/odd-sync.ts'
import { ldif } from '../support/people.ts'
import { SAMBA_BASE, startSamba } from '../support/samba.ts'
import { parseLdif, type Truth, type TruthRules, truthOf, valuesOf } from '../support/truth.ts'
import type { VendorServer } from '../support/vendor-server.ts'

/** A Samba domain behind a proxy that enforces what Windows does: 1,500 values, 1,000 entries. */
const stack = new AsyncDisposableStack()
let server: VendorServer
let recorder: LdapRecorder
let odd: OddSync

beforeAll(async () => {
  server = stack.use(await startSamba(activeDirectoryLdif(oddCompany(), SAMBA_BASE)))
  recorder = stack.use(await startLdapRecorder(server, { page: 1000, range: 1500 }))
  odd = stack.use(await openOddSync(sourceOf(recorder.url), server.ca, server.reader.password))
}, 300_000)

afterAll(() => stack.disposeAsync())

const UNIT = `${AD_PEOPLE},${SAMBA_BASE}`

/** Ids, filters and the members' attribute are the vendor's; the page size is more than it allows. */
function sourceOf(url: string, groups: object = {}): object {
  return {
    type: 'ldap',
    url,
    pageSize: 5000,
    bind: { dn: server.reader.dn, password: { file: './password' } },
    users: {
      base: UNIT,
      disabled: 'delete',
      map: { email: 'mail', name: ['displayName', 'cn'], employee_id: 'employeeNumber' },
    },
    groups: {
      base: [UNIT, `CN=Domain Users,CN=Users,${SAMBA_BASE}`],
      nested: 'flatten',
      map: { name: 'cn' },
      ...groups,
    },
  }
}

const RULES: TruthRules = {
  isUser: (entry) =>
    valuesOf(entry, 'objectClass').includes('user') &&
    !valuesOf(entry, 'objectClass').includes('computer') &&
    (valuesOf(entry, 'dn')[0] ?? '').endsWith(`,${UNIT}`) &&
    (Number(valuesOf(entry, 'userAccountControl')[0]) & 2) === 0,
  isGroup: (entry) =>
    valuesOf(entry, 'objectClass').includes('group') &&
    /OU=Company,|^CN=Domain Users,/.test(valuesOf(entry, 'dn')[0] ?? ''),
  id: { attribute: 'objectGUID', form: 'guid' },
  name: ['displayName', 'cn'],
  groupName: 'cn',
  nested: 'flatten',
  allowedDomain: 'example.org',
  primaryGroup: true,
}

async function truth(): Promise<Truth> {
  return truthOf(await dumpLdif(server, server.admin), RULES)
}

test('Active Directory: the directory equals the truth, read in pages and ranges, and stays so', async () => {
  const wanted = await truth()
  expect(wanted.users.size).toBeGreaterThan(PEOPLE * 0.95)
  const sizes = [...wanted.groups.values()].map(({ members }) => members.length).toSorted((a, b) => b - a)
  // Domain Users, which lists nobody, and the group of 3,000, without the disabled.
  expect(sizes[0]).toBe(wanted.users.size)
  expect(sizes[1]).toBeGreaterThan(2800)

  expect(await odd.site.run('sync', 'odd')).toMatchObject({ code: 0, stderr: '' })
  await odd.expectEqual(wanted)
  expect(recorder.searches.every(({ result }) => result === 0)).toBe(true)
  expect(Math.max(...recorder.searches.map(({ entries }) => entries))).toBe(1000)
  expect(
    recorder.searches.some(({ attributes }) => attributes.some((name) => /;range=1499-/i.test(name))),
  ).toBe(true)

  const again = await odd.site.json('sync', 'odd')
  expect(again).toMatchObject({ code: 0, stderr: '' })
  expect(again.lines[0]).toMatchObject({ state: 'done', totalChanges: 0 })
})

test('what users say of their groups is the same truth as what groups say of their members', async () => {
  await odd.configure(sourceOf(recorder.url, { membersFrom: 'memberOf' }))
  recorder.clear()
  const planned = await odd.site.json('plan', 'odd')
  expect(planned).toMatchObject({ code: 0, stderr: '', lines: [{ totalChanges: 0 }] })
  const asked = new Set(recorder.searches.flatMap(({ attributes }) => attributes))
  expect([asked.has('member'), asked.has('memberOf')]).toEqual([false, true])
  await odd.configure(sourceOf(recorder.url))
})

const BIG = 'g0'

interface Seen {
  readonly ldif: string
  readonly dn: string
  /** In the order in which the server gives them. */
  readonly members: readonly string[]
}

/** The server as it is now, and the big group. */
async function look(): Promise<Seen> {
  const text = await dumpLdif(server, server.admin)
  const big = parseLdif(text).find((entry) => valuesOf(entry, 'sAMAccountName')[0] === BIG)
  if (big === undefined) throw new Error('there is no big group')
  return { ldif: text, dn: valuesOf(big, 'dn')[0] ?? '', members: valuesOf(big, 'member') }
}

/** How often the big group was read from its first range on. */
function readsOf(dn: string): number {
  const ofBig = recorder.searches.filter(({ base, scope }) => base === dn && scope === 'base')
  return ofBig.filter(({ attributes }) => attributes.includes('member')).length
}

test('a group that changes between two ranges is read again, and never half of each', async () => {
  const { dn, members } = await look()
  const newcomers = ['Given91 Name4950 u004950', 'Given92 Name4951 u004951']
  const member = newcomers.map((cn) => `CN=${cn},${UNIT}`)
  recorder.clear()
  recorder.betweenRanges(() =>
    server.modify(
      ldif(dn, { changetype: ['modify'], delete: ['member'], member: members.slice(0, 5) }) +
        ldif(dn, { changetype: ['modify'], add: ['member'], member }),
    ),
  )
  expect(await odd.site.run('sync', 'odd')).toMatchObject({ code: 0, stderr: '' })
  // Twice because it changed, and once more because it loses members.
  expect(readsOf(dn)).toBe(3)
  const after = await look()
  expect(after.members).toHaveLength(members.length - 3)
  await odd.expectEqual(truthOf(after.ldif, RULES))
})

test('nobody is lost when a member is deleted between two ranges, which the group itself does not show', async () => {
  const before = await look()
  const isLocked = new Set(
    parseLdif(before.ldif)
      .filter((entry) => (Number(valuesOf(entry, 'userAccountControl')[0]) & 2) !== 0)
      .map((entry) => valuesOf(entry, 'dn')[0]),
  )
  // A disabled one, so that nothing but the order of the others changes.
  const leaver = before.members.slice(0, 1000).find((member) => isLocked.has(member))
  recorder.clear()
  recorder.betweenRanges(() => server.modify(ldif(leaver ?? '', { changetype: ['delete'] })))
  const again = await odd.site.json('sync', 'odd')
  expect(again).toMatchObject({ code: 0, stderr: '', lines: [{ state: 'done', totalChanges: 0 }] })
  expect(readsOf(before.dn)).toBe(2)
  const after = await look()
  expect(after.members).toHaveLength(before.members.length - 1)
  await odd.expectEqual(truthOf(after.ldif, RULES))
})

test('a rename and a move are updates; who is deleted and created again under the same account is somebody new', async () => {
  const before = await truth()
  const dn = (name: string) => `CN=${name},${UNIT}`
  await server.modify(
    [
      ldif(dn('Given1 Name1 u000001'), {
        changetype: ['modrdn'],
        newrdn: ['CN=Renamed, Person'.replace(',', '\\,')],
        deleteoldrdn: ['1'],
      }),
      ldif(dn('Renamed\\, Person'), {
        changetype: ['modify'],
        replace: ['displayName'],
        displayName: ['Renamed, Person'],
      }),
      ldif(dn('Given79 Name2000 u002000'), {
        changetype: ['modrdn'],
        newrdn: ['CN=Moved'],
        deleteoldrdn: ['1'],
        newsuperior: [`OU=Groups,${UNIT}`],
      }),
      ldif(dn('Given76 Name3014 u003014'), { changetype: ['delete'] }),
      ldif(dn('Given76 Name3014 u003014'), {
        changetype: ['add'],
        objectClass: ['user'],
        sAMAccountName: ['u003014'],
        displayName: ['Given76 Name3014'],
        mail: ['u003014@example.org'],
        userAccountControl: ['544'],
      }),
      // Somebody is disabled, which counts as gone.
      ldif(dn('Given78 Name3016 u003016'), {
        changetype: ['modify'],
        replace: ['userAccountControl'],
        userAccountControl: ['546'],
      }),
    ].join(''),
  )
  const after = await truth()
  const gone = [...before.users.keys()].filter((id) => !after.users.has(id))
  const fresh = [...after.users.keys()].filter((id) => !before.users.has(id))
  expect([gone.length, fresh.length]).toEqual([2, 1])

  const next = await odd.site.json('sync', 'odd')
  expect(next).toMatchObject({ code: 0, stderr: '' })
  const changes: { change: { op: string; id: string } }[] = next.lines[0].changes
  const idsOf = (op: string) =>
    changes.filter(({ change }) => change.op === op).map(({ change }) => change.id)
  expect(idsOf('update-user')).toHaveLength(1)
  expect(idsOf('create-user')).toEqual(fresh)
  expect(idsOf('delete-user').toSorted()).toEqual(gone.toSorted())
  await odd.expectEqual(after)
})
