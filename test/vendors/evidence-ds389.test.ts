import { afterAll, beforeAll, expect, test } from 'vitest'
import { DS389_BASE, type Ds389, startDs389 } from '../support/ds389.ts'
import { ldif } from '../support/people.ts'
import { numbered, openVendorSync, type Places, type VendorSync } from '../support/vendor-sync.ts'

/** Half the truth of a 389-ds, and what the whole program makes of it. No guard limits anything here. */
const stack = new AsyncDisposableStack()
let server: Ds389

const unit = (name: string) => `ou=${name},${DS389_BASE}`
const dnOf = (name: string, of: string) => `uid=${name},${of}`

function person(name: string, of: string, more: object = {}): string {
  const values = { uid: [name], cn: [name], sn: [name], displayName: [name], mail: [`${name}@example.org`] }
  return ldif(dnOf(name, of), { ...more, objectClass: ['inetOrgPerson'], ...values })
}

function group(name: string, of: string, members: readonly string[]): string {
  return ldif(`cn=${name},${of}`, { objectClass: ['groupOfNames'], cn: [name], member: members })
}

const hire = (name: string, of: string) => person(name, of, { changetype: ['add'] })
const fire = (name: string, of: string) => ldif(dnOf(name, of), { changetype: ['delete'] })

function changeValues(dn: string, action: 'add' | 'delete', name: string, values: readonly string[]): string {
  return ldif(dn, { changetype: ['modify'], [action]: [name], [name]: values })
}

/** Denies the reader all on this target. */
async function deny(dn: string, target: string): Promise<() => Promise<void>> {
  const rule = `${target}(version 3.0; acl "hide"; deny (all) userdn = "ldap:///${server.reader.dn}";)`
  await server.modify(changeValues(dn, 'add', 'aci', [rule]))
  return () => server.modify(changeValues(dn, 'delete', 'aci', [rule]))
}

const SALES = unit('sales')
const LABS = unit('labs')
const FIRM = unit('firm')
const HIDDEN = `ou=hidden,${FIRM}`
const TEAMS = unit('teams')
const ARCHIVE = unit('archive')

const SELLERS = numbered('s', 20)
const RESEARCHERS = numbered('l', 6)
const STAFF = numbered('f', 275)
const SECRET = numbered('h', 25)
const PLAYERS = numbered('t', 8)
const KEEPERS = numbered('a', 20)

function inUnit(of: string, people: readonly string[]): string[] {
  const ou = [of.slice(3, of.indexOf(','))]
  return [ldif(of, { objectClass: ['organizationalUnit'], ou }), ...people.map((name) => person(name, of))]
}

const all = (of: string, people: readonly string[]) => people.map((name) => dnOf(name, of))

function company(): string {
  return [
    ...inUnit(SALES, SELLERS),
    ...inUnit(LABS, RESEARCHERS),
    group('Sale', LABS, [...all(SALES, SELLERS), ...all(LABS, RESEARCHERS)]),
    ...inUnit(FIRM, STAFF),
    ...inUnit(HIDDEN, SECRET),
    group('Everybody', FIRM, [...all(FIRM, STAFF), ...all(HIDDEN, SECRET)]),
    ...inUnit(TEAMS, PLAYERS),
    group('Shut', TEAMS, all(TEAMS, PLAYERS)),
    group('Growing', TEAMS, all(TEAMS, PLAYERS.slice(0, 2))),
    ...inUnit(ARCHIVE, KEEPERS),
    group('Archive', ARCHIVE, all(ARCHIVE, KEEPERS)),
  ].join('')
}

beforeAll(async () => {
  server = stack.use(await startDs389(company()))
})

afterAll(() => stack.disposeAsync())

async function begin(places: Places): Promise<VendorSync> {
  const sync = await openVendorSync(server, places)
  expect(await sync.run()).toMatchObject({ code: 0, blocks: [], stderr: '' })
  return sync
}

test('a base that becomes unreadable: the run fails and names it, and when it is back the others come and go', async () => {
  await using sync = await begin({ users: [SALES, LABS], groups: LABS })
  const before = await sync.seen()
  expect(before.people).toEqual([...RESEARCHERS, ...SELLERS])

  const allow = await deny(SALES, '(targetattr = "*")')
  await server.modify(hire('l100', LABS) + fire('l001', LABS))
  const failed = await sync.run()
  expect(failed).toMatchObject({ code: 1, done: [] })
  expect(failed.stderr).toContain(`shows neither the entry "${SALES}", which is a base of the sync`)
  expect(await sync.seen()).toEqual(before)

  await allow()
  expect(await sync.run()).toMatchObject({ code: 0, done: ['create-user l100', 'delete-user l001'] })
  expect((await sync.seen()).people).toEqual(['l100', ...RESEARCHERS.slice(1), ...SELLERS].toSorted())
})

test('a unit below a base that becomes unreadable: its people stay in their groups, and the hold ends with the trouble', async () => {
  await using sync = await begin({ users: FIRM, groups: FIRM })
  expect((await sync.seen()).people).toHaveLength(300)

  const allow = await deny(HIDDEN, '(targetattr = "*")')
  await server.modify(hire('f900', FIRM) + fire('f001', FIRM))
  const held = await sync.run()
  expect(held).toMatchObject({ code: 3, blocks: ['container-emptied 25'], stderr: '' })
  expect(held.why).toContain(`"${HIDDEN}"`)
  expect(held.done).toEqual(['create-user f900', 'delete-user f001'])
  const rest = STAFF.slice(1)
  const wanted = { people: [...rest, 'f900', ...SECRET], groups: { Everybody: [...rest, ...SECRET] } }
  expect(await sync.seen()).toMatchObject(wanted)
  expect(await sync.run()).toMatchObject({ code: 3, blocks: ['container-emptied 25'], done: [] })

  await allow()
  expect(await sync.run()).toMatchObject({ code: 0, blocks: [], done: [] })
  expect(await sync.asks(held.run)).toBe(false)
  expect(await sync.seen()).toMatchObject(wanted)
})

test('a group whose members become unreadable keeps them until a person decides, and others change', async () => {
  await using sync = await begin({ users: TEAMS, groups: TEAMS })
  const shut = `cn=Shut,${TEAMS}`
  const allow = await deny(shut, '(targetattr = "member")')
  const more = all(TEAMS, PLAYERS.slice(2))
  await server.modify(changeValues(`cn=Growing,${TEAMS}`, 'add', 'member', more))
  const held = await sync.run()
  expect(held).toMatchObject({
    code: 3,
    blocks: ['group-emptied 1', 'group-emptied 1'],
    done: ['set-members Growing'],
  })
  expect(held.why).toContain(
    `"Shut" would lose 8 members: "${shut}" listed members in the last complete run, and shows none now`,
  )
  expect((await sync.seen()).groups).toEqual({ Shut: PLAYERS, Growing: PLAYERS })

  await allow()
  expect(await sync.run()).toMatchObject({ code: 0, blocks: [], done: [] })
  expect(await sync.asks(held.run)).toBe(false)

  await server.modify(ldif(shut, { changetype: ['modify'], delete: ['member'] }))
  const emptied = await sync.run()
  expect(emptied).toMatchObject({ code: 3, blocks: ['group-emptied 1', 'group-emptied 1'], done: [] })
  expect(await sync.approve(emptied.run)).toBe(0)
  expect((await sync.seen()).groups).toEqual({ Shut: [], Growing: PLAYERS })
})

test('a server that an older export was imported into: who is lost waits for a second read, and who left is not created again', async () => {
  const places = { users: ARCHIVE, groups: ARCHIVE }
  const backup = await server.backUp()
  await using sync = await begin(places)
  const [leaver = '', lost = '', other = '', ...staying] = KEEPERS
  await server.modify(hire('a100', ARCHIVE) + fire(leaver, ARCHIVE))
  // The only server, and nothing about it is new: it is believed at once.
  expect(await sync.run()).toMatchObject({ code: 0, done: ['create-user a100', `delete-user ${leaver}`] })

  await server.restore(without(backup, lost, other))
  const lostAt = Date.now()
  const first = await sync.run()
  expect(first).toMatchObject({ code: 4, blocks: ['absence-unconfirmed 3', 'recently-deleted 1'], done: [] })
  const people = [lost, other, ...staying, 'a100']
  const groups = { Archive: people.slice(0, -1) }
  expect(await sync.seen()).toMatchObject({ people, groups })
  expect(await sync.run()).toMatchObject({ code: 4, blocks: first.blocks, done: [] })

  // An administrator who knows of the import need not wait for an hour.
  await sync.readFrom(server, { ...places, more: { confirmAfter: '3s' } })
  let next = await sync.run()
  while (next.done.length === 0) next = await sync.run()
  expect(Date.now() - lostAt).toBeGreaterThan(3000)
  expect(next).toMatchObject({
    code: 4,
    blocks: ['recently-deleted 1'],
    done: ['delete-user a100', `delete-user ${lost}`, `delete-user ${other}`].toSorted(),
  })
  expect(await sync.seen()).toMatchObject({ people: staying, groups: { Archive: staying } })
})

/** The LDIF without these people, and without their memberships. */
function without(backup: string, ...people: readonly string[]): string {
  const dns = all(ARCHIVE, people)
  const records = backup.split('\n\n').filter((each) => !dns.some((dn) => each.includes(`\ndn: ${dn}\n`)))
  return records.join('\n\n').replaceAll(new RegExp(`^member: (?:${dns.join('|')})\n`, 'gm'), '')
}
