import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { readTruth } from '../support/ldif-truth.ts'
import { inLong, longTest } from '../support/long.ts'
import {
  blind,
  blindLdif,
  closeTeam,
  closeUnit,
  type Employee,
  employeeDn,
  employeeLdif,
  hiddenTeam,
  hiddenClasses,
  hiddenNames,
  hiddenUnit,
  hire,
  leave,
  moveTo,
  expectDone,
  expectTruth,
  numbered,
  openOpenLdapSite,
  type OpenLdapSite,
  openUnit,
  teamDn,
  teamLdif,
  unitDn,
  unitLdif,
} from '../support/openldap-site.ts'
import { ldif } from '../support/people.ts'
import { BASE, type Slapd, startSlapd } from '../support/slapd.ts'
import { NO_GUARDS } from '../support/sync-config.ts'

const uidsOf = (people: readonly Employee[]): string[] => people.map(({ uid }) => uid)

describe('a unit that the reader may not see any more', () => {
  /** So few that no guard on deletes objects. */
  const sales = numbered('s', inLong(15, 40), 'sales')
  const labs = numbered('l', inLong(85, 4_000), 'labs')
  const [leaver, newcomer] = [labs[30]!, { uid: 'new', unit: 'labs' }]
  const others = uidsOf([...labs.filter((each) => each !== leaver), newcomer])
  const everybody = [...others, ...uidsOf(sales)].toSorted()
  const teams = new Map([
    ['Sellers', sales],
    ['Mixed', [...labs.slice(0, 6), ...sales.slice(0, 6)]],
  ])

  let stack: AsyncDisposableStack
  let slapd: Slapd
  let corp: OpenLdapSite

  beforeEach(async () => {
    stack = new AsyncDisposableStack()
    slapd = stack.use(
      await startSlapd({
        tls: false,
        overlays: ['syncprov'],
        acl: [hiddenUnit('sales')],
        ldifs: [
          ...['sales', 'labs'].map(unitLdif),
          ...[...sales, ...labs].map(employeeLdif),
          ...[...teams].map(([name, members]) => teamLdif(name, members)),
          blindLdif(),
        ],
      }),
    )
    corp = stack.use(await openOpenLdapSite(slapd))
    await corp.configure({ url: slapd.url })
    expect(await corp.sync()).toMatchObject({ code: 0, stderr: '' })
    await expectTruth(corp, slapd)
  })

  afterEach(() => stack.disposeAsync())

  /** Resolves with the number of the run whose hold is open. */
  async function hideSales(): Promise<number> {
    await slapd.modify([blind(slapd, true), hire(newcomer), leave(leaver)].join(''))
    const held = await corp.sync()
    expect(held).toMatchObject({ code: 3, stderr: '' })
    expect(held.stdout).toContain('planned    1 user to create, 1 user to delete')
    expect(held.stdout).toContain(
      `container-emptied: ${sales.length} users of "${unitDn('sales')}" are absent`,
    )
    return Number(/dirsyncd approve (\d+)/.exec(held.stdout)?.[1])
  }

  async function expectEverybody(): Promise<void> {
    expect(await corp.uids()).toEqual(everybody)
    const expected = [...teams].map(([name, members]) => [name, uidsOf(members).toSorted()] as const)
    expect(await corp.teams()).toEqual(new Map(expected))
  }

  test('is held while the others come and go, until a person approves', async () => {
    const run = await hideSales()
    await expectEverybody()
    const again = await corp.sync()
    expect(again).toMatchObject({ code: 3, stderr: '' })
    expect(again.stdout).toContain(`dirsyncd approve ${run}, or reject`)
    expect((await corp.site.run('runs')).stdout).toMatch(
      new RegExp(`waits with run ${run}\\n.*waits for approval: container-emptied\\n`),
    )
    await expectEverybody()

    expect(await corp.site.run('approve', `${run}`)).toMatchObject({ code: 0, stderr: '' })
    expect(await corp.uids()).toEqual(others.toSorted())
    expect(await corp.teams()).toEqual(
      new Map([
        ['Sellers', []],
        ['Mixed', uidsOf(labs.slice(0, 6))],
      ]),
    )
    expect(await corp.sync()).toMatchObject({ code: 0, stderr: '' })
  })

  longTest('is left alone when a person rejects', async () => {
    const run = await hideSales()
    expect(await corp.site.run('reject', `${run}`)).toMatchObject({ code: 0, stderr: '' })
    for (let times = 0; times < 2; times++) expect(await corp.sync()).toMatchObject({ code: 0, stderr: '' })
    await expectEverybody()
  })

  longTest('ends the hold when it can be seen again', async () => {
    const run = await hideSales()
    await slapd.modify(blind(slapd, false))
    expect(await corp.sync()).toMatchObject({ code: 0, stderr: '' })
    await expectEverybody()
    await expectTruth(corp, slapd)
    expect((await corp.site.run('runs')).stdout).toContain('hold closed')
    expect(await corp.site.run('approve', `${run}`)).toMatchObject({ code: 1 })
    expect(await corp.uids()).toEqual(everybody)
  })

  test('keeps its groups under grace too, and an approval ends the grace', async () => {
    await corp.configure({ url: slapd.url, guards: { users: { deleteAfter: '7d' } } })
    await slapd.modify([blind(slapd, true), hire(newcomer), leave(leaver)].join(''))
    const held = await corp.sync()
    expect(held).toMatchObject({ code: 3, stderr: '' })
    expect(held.stdout).toMatch(/in-grace \(1\).*\n.*<l0030@example\.org>: absent since/)
    const run = /dirsyncd approve (\d+)/.exec(held.stdout)?.[1] ?? ''
    expect(await corp.uids()).toEqual([...everybody, leaver.uid].toSorted())
    expect((await corp.teams()).get('Sellers')).toEqual(uidsOf(sales))
    expect(await corp.site.run('approve', run)).toMatchObject({ code: 0, stderr: '' })
    expect(await corp.uids()).toEqual([...others, leaver.uid].toSorted())
  })

  test('fails the run where it is a base of its own', async () => {
    const users = {
      base: [unitDn('labs'), unitDn('sales')],
      filter: '(objectClass=inetOrgPerson)',
      map: { external_id: 'entryUUID', email: 'mail', name: '{givenName} {sn}' },
    }
    await corp.configure({ url: slapd.url, source: { users } })
    expect(await corp.sync()).toMatchObject({ code: 0, stderr: '' })
    const before = await corp.uids()
    await slapd.modify([blind(slapd, true), hire(newcomer), leave(leaver)].join(''))
    const failed = await corp.sync()
    expect(failed.code).toBe(1)
    expect(failed.stderr).toContain(`has no entry "${unitDn('sales')}", the base of the search`)
    expect(await corp.uids()).toEqual(before)
  })
})

test('names that the reader may not see any more, beside members who are shown, are lost when a person approves', async () => {
  await using stack = new AsyncDisposableStack()
  const [named, listed] = [numbered('n', 6), numbered('l', 6)]
  const names = { objectClass: ['posixGroup'], gidNumber: ['1'], memberUid: uidsOf(named) }
  const both = { objectClass: ['groupOfNames', 'extensibleObject'], member: listed.map(employeeDn) }
  const slapd = stack.use(
    await startSlapd({
      tls: false,
      overlays: ['syncprov'],
      acl: [hiddenNames(teamDn('Both'))],
      ldifs: [
        ...[...named, ...listed].map(employeeLdif),
        ldif(teamDn('Both'), { ...both, cn: ['Both'], memberUid: uidsOf(named) }),
        ldif(teamDn('Names'), { ...names, cn: ['Names'] }),
        teamLdif('Listed', listed),
        blindLdif(),
      ],
    }),
  )
  const corp = stack.use(await openOpenLdapSite(slapd))
  const map = { external_id: 'entryUUID', name: 'cn', members: ['member', 'memberUid'] }
  const filter = '(|(objectClass=groupOfNames)(objectClass=posixGroup))'
  const sync = { url: slapd.url, groups: { map, filter }, guards: NO_GUARDS }
  await corp.configure(sync)
  await expectDone(corp)
  const before = await corp.teams()
  expect(before).toEqual(
    new Map([
      ['Both', uidsOf([...listed, ...named])],
      ['Names', uidsOf(named)],
      ['Listed', uidsOf(listed)],
    ]),
  )
  await slapd.modify(blind(slapd, true))
  for (let turn = 0; turn < 2; turn++) {
    const held = await corp.sync()
    expect(held).toMatchObject({ code: 3, stderr: '' })
    expect(held.stdout).toContain('"Both" would lose 6 members: "cn=Both,')
    expect(await corp.teams()).toEqual(before)
    // A run that leaves the group out forgets nothing of it.
    await corp.configure({ ...sync, entries: { groups: { exclude: [{ from: 'cn=Both,*' }] } } })
    expect((await corp.sync()).stdout).toContain('is on the list exclude')
    await corp.configure(sync)
  }
  await slapd.modify(blind(slapd, false))
  await expectDone(corp)
  expect(await corp.teams()).toEqual(before)
})

test('a team within another one that the reader may not see any more keeps its people there until a person approves', async () => {
  await using stack = new AsyncDisposableStack()
  const [sellers, others] = [numbered('s', 6), numbered('o', 60)]
  const slapd = stack.use(
    await startSlapd({
      tls: false,
      overlays: ['syncprov'],
      acl: [hiddenTeam('Sellers')],
      ldifs: [
        ...[...sellers, ...others].map(employeeLdif),
        teamLdif('Sellers', sellers),
        teamLdif('All', others.slice(0, 10), ['Sellers']),
        blindLdif(),
      ],
    }),
  )
  const corp = stack.use(await openOpenLdapSite(slapd))
  await corp.configure({ url: slapd.url, groups: { nested: 'flatten' } })
  await expectDone(corp)
  const before = await corp.teams()
  expect(before.get('All')).toHaveLength(16)
  await slapd.modify(blind(slapd, true))
  for (let turn = 0; turn < 2; turn++) {
    const held = await corp.sync()
    expect(held).toMatchObject({ code: 3, stderr: '' })
    expect(held.stdout).toMatch(/nested-group-absent: "cn=sellers,.*" is absent, and "All" still lists it/)
    expect(await corp.teams()).toEqual(before)
  }
  await slapd.modify([blind(slapd, false), closeTeam('Sellers')].join(''))
  const held = await corp.sync()
  expect(held.code).toBe(3)
  const run = /dirsyncd approve (\d+)/.exec(held.stdout)?.[1] ?? ''
  expect(await corp.site.run('approve', run)).toMatchObject({ code: 0, stderr: '' })
  expect(await corp.teams()).toEqual(new Map([['All', uidsOf(others.slice(0, 10))]]))
  await expectDone(corp)
})

describe('teams of a unit that is renamed, and that the reader may see only by its old name', () => {
  const GROUPS = `ou=groups,${BASE}`
  const others = numbered('o', 30)
  const teams = ['a', 'b', 'c'].map((name) => ({ name: `Team ${name}`, people: numbered(name, 8) }))
  const nestedDn = (name: string, unit = 'teams') => `cn=${name},ou=${unit},${GROUPS}`
  const rename = (from: string, to: string): string =>
    ldif(`ou=${from},${GROUPS}`, { changetype: ['modrdn'], newrdn: [`ou=${to}`], deleteoldrdn: ['1'] })

  let stack: AsyncDisposableStack
  let slapd: Slapd
  let corp: OpenLdapSite

  /** Waits for refint, which works behind the answer. */
  async function changeLists(change: string, dn: string, isListed: boolean): Promise<void> {
    await slapd.modify(change)
    const isThere = async () => (await slapd.dump()).replaceAll('\n ', '').includes(`member: ${dn}`)
    await expect.poll(isThere).toBe(isListed)
  }

  beforeEach(async () => {
    stack = new AsyncDisposableStack()
    const nested = teams.map(({ name }) => nestedDn(name))
    const isGroup = { objectClass: ['groupOfNames'] }
    slapd = stack.use(
      await startSlapd({
        tls: false,
        overlays: ['syncprov', 'refint'],
        acl: [
          `access to dn.subtree="ou=teams,${GROUPS}" by * read`,
          `access to dn.regex="ou=[^,]+,${GROUPS}$" by dn.exact="cn=reader,ou=services,${BASE}" none by * break`,
        ],
        ldifs: [
          ...[...others, ...teams.flatMap(({ people }) => people)].map(employeeLdif),
          blindLdif(),
          ldif(`ou=teams,${GROUPS}`, { objectClass: ['organizationalUnit'], ou: ['teams'] }),
          ...teams.map(({ name, people }) =>
            ldif(nestedDn(name), { ...isGroup, cn: [name], member: people.map(employeeDn) }),
          ),
          // Not a user: a stranger of the group.
          ldif(teamDn('vpn'), {
            ...isGroup,
            cn: ['vpn'],
            member: [...nested, ...others.slice(0, 9).map(employeeDn), `cn=blind,ou=services,${BASE}`],
          }),
        ],
      }),
    )
    corp = stack.use(await openOpenLdapSite(slapd))
    await corp.configure({ url: slapd.url, groups: { nested: 'flatten' }, guards: NO_GUARDS })
    await expectDone(corp)
    expect((await corp.teams()).get('vpn')).toHaveLength(33)
  })

  afterEach(() => stack.disposeAsync())

  test('keep their people in the groups around them until a person approves', async () => {
    const before = await corp.teams()
    await changeLists(rename('teams', 'squads'), nestedDn('Team b', 'squads'), true)
    for (let turn = 0; turn < 2; turn++) {
      const held = await corp.sync()
      expect(held).toMatchObject({ code: 3, stderr: '' })
      expect(held.stdout).toContain(
        `nested-group-absent: "cn=team b,ou=teams,${GROUPS}" is absent, and "vpn" lists other DNs than before that are ` +
          `no entry of this read ("cn=team b,ou=squads,${GROUPS}"), and "vpn" would lose 8 members; perhaps it was renamed`,
      )
      expect(held.stdout).toContain('Apply the 4 changes that wait with')
      expect(await corp.teams()).toEqual(before)
    }
    await changeLists(rename('squads', 'teams'), nestedDn('Team b', 'squads'), false)
    await expectDone(corp)
    expect(await corp.teams()).toEqual(before)

    await changeLists(rename('teams', 'squads'), nestedDn('Team b', 'squads'), true)
    const run = /dirsyncd approve (\d+)/.exec((await corp.sync()).stdout)?.[1] ?? ''
    expect(await corp.site.run('approve', run)).toMatchObject({ code: 0, stderr: '' })
    expect(await corp.teams()).toEqual(new Map([['vpn', uidsOf(others.slice(0, 9))]]))
    await expectDone(corp)
  })

  test('are deleted without a question where the group around lists the same strangers as before', async () => {
    const deleted = ldif(nestedDn('Team b'), { changetype: ['delete'] })
    await changeLists(deleted, nestedDn('Team b'), false)
    await expectDone(corp)
    expect([...(await corp.teams()).keys()].toSorted()).toEqual(['Team a', 'Team c', 'vpn'])
    expect((await corp.teams()).get('vpn')).toHaveLength(25)
  })

  test('are deleted without a question where the group around lists others that the reader sees', async () => {
    const added = { changetype: ['modify'], add: ['member'], member: [unitDn()] }
    await slapd.modify(ldif(teamDn('vpn'), added))
    await changeLists(ldif(nestedDn('Team b'), { changetype: ['delete'] }), nestedDn('Team b'), false)
    await expectDone(corp)
    expect([...(await corp.teams()).keys()].toSorted()).toEqual(['Team a', 'Team c', 'vpn'])
    expect((await corp.teams()).get('vpn')).toHaveLength(25)
  })
})

describe('entries whose objectClass the reader may not see any more', () => {
  const sales = numbered('s', 8, 'sales')
  const labs = numbered('l', 20)
  const [hidden, leaver] = [labs[3]!, labs[4]!]
  const members = labs.slice(0, 10)
  /** So many that no guard objects to one less. */
  const teams = Array.from({ length: 12 }, (_, index) => `Team ${index}`)

  let stack: AsyncDisposableStack
  let slapd: Slapd
  let corp: OpenLdapSite

  async function start(...hiddenDns: readonly string[]): Promise<void> {
    slapd = stack.use(
      await startSlapd({
        tls: false,
        overlays: ['syncprov'],
        acl: hiddenDns.map(hiddenClasses),
        ldifs: [
          unitLdif('sales'),
          ...[...sales, ...labs].map(employeeLdif),
          ...teams.map((name) => teamLdif(name, members)),
          blindLdif(),
        ],
      }),
    )
    corp = stack.use(await openOpenLdapSite(slapd))
    await corp.configure({ url: slapd.url })
    expect(await corp.sync()).toMatchObject({ code: 0, stderr: '' })
  }

  beforeEach(() => {
    stack = new AsyncDisposableStack()
  })
  afterEach(() => stack.disposeAsync())

  test('are not deleted, where it is one user and one group, and the others come and go', async () => {
    await start(employeeDn(hidden), teamDn('Team 0'))
    await slapd.modify([blind(slapd, true), leave(leaver)].join(''))
    const { code, stdout } = await corp.sync()
    expect([code, stdout]).toEqual([0, expect.stringContaining('1 user to delete')])
    expect(stdout).not.toContain('group to delete')
    expect(stdout).toContain('seen-again (2)')
    expect(await corp.uids()).toEqual(
      uidsOf([...sales, ...labs].filter((each) => each !== leaver)).toSorted(),
    )
    const after = await corp.teams()
    expect([...after.keys()].toSorted()).toEqual(teams.toSorted())
    expect(after.get('Team 1')).toContain(hidden.uid)
  })

  test('fail the run, where they are many', async () => {
    await start(unitDn('sales'))
    await slapd.modify(blind(slapd, true))
    const failed = await corp.sync()
    expect(failed.code).toBe(1)
    expect(failed.stderr).toContain('the read of the source was incomplete')
    expect(failed.stderr).toContain('8 users more')
    expect(await corp.uids()).toEqual(uidsOf([...labs, ...sales]).toSorted())
    await slapd.modify(blind(slapd, false))
    expect(await corp.sync()).toMatchObject({ code: 0, stderr: '' })
  })
})

describe('a reorganisation', () => {
  const UNITS = inLong(48, 400)
  const MOVED_TO = 10
  const CLOSED = inLong(32, 300)
  const LEAVERS = 20
  const units = Array.from({ length: UNITS }, (_, unit) => `old${unit},ou=old`)
  const people = units.flatMap((unit, index) => numbered(`u${index}-`, 5, unit))
  /** Four of one unit leave, and a fifth one moves: all the people of these units are gone from there. */
  const leavers = people.slice(0, (LEAVERS / 4) * 5).filter((_, index) => index % 5 > 0)
  const movers = people.filter((each) => !leavers.includes(each))

  test('that leaves nobody in the old units stops at nothing, and only who left is deleted', async () => {
    await using slapd = await startSlapd({
      tls: false,
      overlays: ['syncprov'],
      ldifs: [...['old', ...units].map(unitLdif), ...people.map(employeeLdif)],
    })
    await using corp = await openOpenLdapSite(slapd)
    await corp.configure({ url: slapd.url })
    expect(await corp.sync()).toMatchObject({ code: 0, stderr: '' })

    const newUnits = Array.from({ length: MOVED_TO }, (_, unit) => `new${unit}`)
    await slapd.modify(
      [
        ...newUnits.map(openUnit),
        ...movers.map((each, index) => moveTo(each, newUnits[index % MOVED_TO]!)),
        ...leavers.map(leave),
        ...units.slice(0, CLOSED).map(closeUnit),
      ].join(''),
    )
    const { code, stderr, lines } = await corp.site.json('sync', 'corp')
    expect([code, stderr]).toEqual([0, ''])
    expect(lines[0]).toMatchObject({ breaches: [], counts: { planned: { 'delete-user': LEAVERS } } })
    expect(lines[0].totalChanges).toBe(LEAVERS)
    expect(await corp.uids()).toEqual(uidsOf(movers).toSorted())
  })
})

describe('somebody who is absent for a while', () => {
  const people = numbered('p', inLong(60, 1_000))
  /** Fewer than what a unit must lose to be noticed. */
  const few = numbered('f', 4, 'few')
  const members = [...people.slice(0, 40), ...few]
  let stack: AsyncDisposableStack
  let slapd: Slapd
  let corp: OpenLdapSite

  beforeEach(async () => {
    stack = new AsyncDisposableStack()
    slapd = stack.use(
      await startSlapd({
        tls: false,
        overlays: ['syncprov'],
        acl: [hiddenUnit('few')],
        ldifs: [
          unitLdif('few'),
          ...[...people, ...few].map(employeeLdif),
          teamLdif('Team', members),
          blindLdif(),
        ],
      }),
    )
    corp = stack.use(await openOpenLdapSite(slapd))
  })
  afterEach(() => stack.disposeAsync())

  const configure = (deleteAfter: string | object): Promise<void> =>
    corp.configure({ url: slapd.url, guards: { users: { deleteAfter } } })

  const hasFew = async (): Promise<boolean> => {
    const uids = await corp.uids()
    return few.every(({ uid }) => uids.includes(uid))
  }

  async function expectTeam(expected: readonly Employee[]): Promise<void> {
    expect((await corp.teams()).get('Team')).toEqual(uidsOf(expected).toSorted())
  }

  test('for one run of two is named with what it waits for, and is unchanged when back', async () => {
    await configure({ runs: 2 })
    expect(await corp.sync()).toMatchObject({ code: 0, stderr: '' })
    await slapd.modify(blind(slapd, true))
    const waits = / {4}user \S+ {2}Someone of f0002 <f0002@example\.org>: absent since .* 1 more run in a row/
    // Plans do not count as runs.
    for (let times = 0; times < 2; times++) {
      const plan = await corp.site.run('plan', 'corp')
      expect(plan).toMatchObject({ code: 2, stderr: '' })
      expect(plan.stdout).toMatch(waits)
    }
    const first = await corp.sync()
    expect(first).toMatchObject({ code: 0, stderr: '' })
    const run = /run (\d+)/.exec(first.stdout)?.[1] ?? ''
    expect((await corp.site.run('runs', run)).stdout).toMatch(waits)
    expect(await hasFew()).toBe(true)
    await expectTeam(people.slice(0, 40))

    const [deletes, creates] = [await corp.writes('DELETE'), await corp.writes('POST')]
    await slapd.modify(blind(slapd, false))
    const back = await corp.sync()
    expect(back).toMatchObject({ code: 0, stderr: '' })
    expect(back.stdout).not.toContain('in-grace')
    await expectTeam(members)
    expect([await corp.writes('DELETE'), await corp.writes('POST')]).toEqual([deletes, creates])

    // It begins anew.
    await slapd.modify(blind(slapd, true))
    expect(await corp.sync()).toMatchObject({ code: 0, stderr: '' })
    expect(await hasFew()).toBe(true)
    expect(await corp.sync()).toMatchObject({ code: 0, stderr: '' })
    expect(await corp.uids()).toEqual(uidsOf(people).toSorted())
  })

  test('keeps the e-mail until the time is over, and whoever claims it gets it then', async () => {
    await configure('1h')
    expect(await corp.sync()).toMatchObject({ code: 0, stderr: '' })
    await slapd.modify([blind(slapd, true), hire({ uid: 'heir', mail: 'f0001@example.org' })].join(''))
    const waiting = await corp.sync()
    expect(waiting).toMatchObject({ code: 0, stderr: '' })
    const times = /<f0001@example\.org>: absent since (.*); deleted after (.*)/.exec(waiting.stdout) ?? []
    expect(Date.parse(times[2] ?? '') - Date.parse(times[1] ?? '')).toBe(3_600_000)
    expect(waiting.stdout).toMatch(/duplicate-email \(1\)/)
    expect(await hasFew()).toBe(true)
    const heir =
      [...(await readTruth(slapd)).users].find(([, { name }]) => name === 'Someone of heir')?.[0] ?? ''
    const users = async () => (await corp.content()).users
    expect((await users()).get(heir)).toEqual({ name: 'Someone of heir', email: null })

    await configure('2s')
    const isDeleted = async () => {
      expect(await corp.sync()).toMatchObject({ code: 0, stderr: '' })
      return (await users()).get(heir)?.email
    }
    await expect.poll(isDeleted).toBe('f0001@example.org')
    expect((await users()).size).toBe(people.length + 1)
  })
})
