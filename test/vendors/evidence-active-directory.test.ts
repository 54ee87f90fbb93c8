import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ldif } from '../support/people.ts'
import { SAMBA_BASE, type Samba, startSamba } from '../support/samba.ts'
import { type Ended, numbered, openVendorSync, type Places, type VendorSync } from '../support/vendor-sync.ts'

/** Half the truth of an Active Directory, and what the whole program makes of it. No guard limits anything here. */
const stack = new AsyncDisposableStack()
let server: Samba

const unit = (name: string) => `OU=${name},${SAMBA_BASE}`
const dnOf = (name: string, of: string) => `CN=${name},${of}`

const PERSON = { objectClass: ['user'], userAccountControl: ['544'] }

function person(name: string, of: string, more: object = {}): string {
  const mail = [`${name}@example.org`]
  return ldif(dnOf(name, of), { ...more, ...PERSON, sAMAccountName: [name], displayName: [name], mail })
}

function group(name: string, of: string, members: readonly string[]): string {
  return ldif(dnOf(name, of), { objectClass: ['group'], sAMAccountName: [name], member: members })
}

const ADD = { changetype: ['add'] }
const hire = (name: string, of: string) => person(name, of, ADD)
const fire = (name: string, of: string) => ldif(dnOf(name, of), { changetype: ['delete'] })

function changeMembers(dn: string, action: 'add' | 'delete', member: readonly string[]): string {
  return ldif(dn, { changetype: ['modify'], [action]: ['member'], member })
}

function rename(name: string): string {
  return ldif(dnOf(name, TURNS), {
    changetype: ['modify'],
    replace: ['displayName'],
    displayName: [`${name} renamed`],
  })
}

const FIRM = unit('Firm')
const HIDDEN = `OU=Hidden,${FIRM}`
const TEAMS = unit('Teams')
const TURNS = unit('Turns')

const STAFF = numbered('f', 275)
const SECRET = numbered('h', 25)
const PLAYERS = numbered('t', 8)
const WORKERS = numbered('w', 10)

function inUnit(of: string, people: readonly string[]): string[] {
  return [ldif(of, { objectClass: ['organizationalUnit'] }), ...people.map((name) => person(name, of))]
}

const all = (of: string, people: readonly string[]) => people.map((name) => dnOf(name, of))

function company(): string {
  return [
    ...inUnit(FIRM, STAFF),
    ...inUnit(HIDDEN, SECRET),
    group('Everybody', FIRM, [...all(FIRM, STAFF), ...all(HIDDEN, SECRET)]),
    ...inUnit(TEAMS, PLAYERS),
    group('Shut', TEAMS, all(TEAMS, PLAYERS)),
    group('Emptied', TEAMS, all(TEAMS, PLAYERS)),
    group('Growing', TEAMS, all(TEAMS, PLAYERS.slice(0, 2))),
    ...inUnit(TURNS, WORKERS),
    group('Crew', TURNS, all(TURNS, WORKERS)),
  ].join('')
}

beforeAll(async () => {
  server = stack.use(await startSamba(company()))
})

afterAll(() => stack.disposeAsync())

/** Below it nothing is listed; the entry itself stays visible. */
const NO_LIST = '(D;;LC;;;ACCOUNT)'
const NO_MEMBERS = '(OD;;RP;bf9679c0-0de6-11d0-a285-00aa003049e2;;ACCOUNT)'

async function begin(places: Places): Promise<VendorSync> {
  const sync = await openVendorSync(server, places)
  expect(await sync.run()).toMatchObject({ code: 0, blocks: [], stderr: '' })
  return sync
}

test('a unit below a base that becomes unreadable: approved they go, and whom that was wrong for comes back by approval', async () => {
  await using sync = await begin({ users: FIRM, groups: FIRM })
  expect((await sync.seen()).people).toHaveLength(300)

  const allow = await server.deny(HIDDEN, NO_LIST)
  await server.modify(hire('f900', FIRM) + fire('f001', FIRM))
  const held = await sync.run()
  expect(held).toMatchObject({ code: 3, blocks: ['container-emptied 25'] })
  expect(held.why).toContain(`"${HIDDEN.toLowerCase()}"`)
  expect(held.done).toEqual(['create-user f900', 'delete-user f001'])
  const [staff, rest] = [['f900', ...STAFF.slice(1)].toSorted(), STAFF.slice(1)]
  expect(await sync.seen()).toMatchObject({
    people: [...staff, ...SECRET],
    groups: { Everybody: [...rest, ...SECRET] },
  })

  expect(await sync.approve(held.run)).toBe(0)
  expect(await sync.seen()).toMatchObject({ people: staff, groups: { Everybody: rest } })
  expect(await sync.run()).toMatchObject({ code: 0, blocks: [], done: [] })

  await allow()
  const again = await sync.run()
  expect(again).toMatchObject({ code: 4, blocks: ['recently-deleted 25'], done: [] })
  expect(await sync.approve(again.run, 'recently-deleted')).toBe(0)
  expect(await sync.seen()).toMatchObject({
    people: [...staff, ...SECRET],
    groups: { Everybody: [...rest, ...SECRET] },
  })
})

test('a group whose members become unreadable keeps them, and one that all have left is emptied', async () => {
  await using sync = await begin({ users: TEAMS, groups: TEAMS })
  const everybody = all(TEAMS, PLAYERS)
  const allow = await server.deny(dnOf('Shut', TEAMS), NO_MEMBERS)
  await server.modify(
    changeMembers(dnOf('Emptied', TEAMS), 'delete', everybody) +
      changeMembers(dnOf('Growing', TEAMS), 'add', everybody.slice(2)),
  )
  const held = await sync.run()
  expect(held).toMatchObject({
    code: 3,
    blocks: ['group-emptied 1', 'group-emptied 1', 'removals-not-confirmed 1'],
  })
  expect(held.why).toContain('"Shut" would lose 8 members: ')
  expect((await sync.seen()).groups).toEqual({ Shut: PLAYERS, Emptied: [], Growing: PLAYERS })

  await allow()
  expect(await sync.run()).toMatchObject({ code: 0, blocks: [], done: [] })
  expect(await sync.asks(held.run)).toBe(false)
})

describe('two controllers', () => {
  const PLACES = { users: TURNS, groups: TURNS }
  let other: Samba
  let sync: VendorSync

  beforeAll(async () => {
    other = stack.use(await server.join())
    await agree()
    sync = stack.use(await begin(PLACES))
  })

  /** Each has what the other one has, and knows it. */
  async function agree(): Promise<void> {
    await server.replicateFrom(other)
    await other.replicateFrom(server)
    await server.replicateFrom(other)
  }

  async function read(from: Samba) {
    await sync.readFrom(from, PLACES)
    return sync.run()
  }

  test('of which one lags are read by turns, and nobody is wrongly deleted, created again or renamed', async () => {
    await agree()
    await read(server)
    const working = (await sync.seen()).people
    const [a = '', b = '', c = '', ...others] = working
    const gone = new Set<string>()

    /** Reads, and expects what no order of reads may break. */
    async function turn(from: Samba): Promise<Pick<Ended, 'code' | 'done'>> {
      const before = await sync.seen()
      const { code, blocks, why, done } = await read(from)
      const after = await sync.seen()
      if (code === 4) {
        expect(blocks).toContainEqual(expect.stringMatching(/^server-not-newer \d+$/))
        expect(why).toMatch(/is older than|lacks changes/)
      }
      const lost = before.people.filter((name) => !after.people.includes(name))
      expect(lost.filter((name) => !gone.has(name))).toEqual([])
      const back = [...gone].filter((name) => !before.people.includes(name) && after.people.includes(name))
      expect(back).toEqual([])
      if (before.names[b] !== b) expect(after.names[b]).toBe(before.names[b])
      return { code, done }
    }

    await server.modify(hire('new1', TURNS))
    expect(await turn(server)).toEqual({ code: 0, done: ['create-user new1'] })
    expect(await turn(other)).toEqual({ code: 4, done: [] })
    await server.modify(fire(a, TURNS))
    gone.add(a)
    expect(await turn(server)).toEqual({ code: 0, done: [`delete-user ${a}`] })
    expect(await turn(other)).toEqual({ code: 4, done: [] })
    await server.modify(rename(b))
    expect(await turn(server)).toEqual({ code: 0, done: [`update-user ${b}`] })
    // The other one now has changes of its own.
    await other.modify(hire('new2', TURNS))
    expect(await turn(other)).toEqual({ code: 4, done: ['create-user new2'] })
    // The first one does not know the newcomer, who did not leave for that.
    await server.modify(hire('new3', TURNS))
    expect(await turn(server)).toEqual({ code: 4, done: ['create-user new3'] })
    await other.modify(fire(c, TURNS))
    gone.add(c)
    expect(await turn(other)).toEqual({ code: 4, done: [] })
    await server.replicateFrom(other)
    expect(await turn(server)).toEqual({ code: 0, done: [`delete-user ${c}`] })
    expect(await turn(other)).toEqual({ code: 4, done: [] })

    await agree()
    expect(await turn(server)).toEqual({ code: 0, done: [] })
    expect(await turn(other)).toEqual({ code: 0, done: [] })
    const seen = await sync.seen()
    const people = [b, ...others, 'new1', 'new2', 'new3'].toSorted()
    expect([seen.people, seen.names[b]]).toEqual([people, `${b} renamed`])
    expect(seen.groups).toEqual({ Crew: WORKERS.filter((name) => people.includes(name)) })
  })
})
