import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  blind,
  blindLdif,
  closeUnit,
  type Employee,
  employeeDn,
  employeeLdif,
  hiddenClasses,
  hiddenNames,
  hiddenUnit,
  hire,
  leave,
  moveTo,
  expectDone,
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

test('an OU that the bind account may no longer see keeps its users until an approval, and other changes are made', async () => {
  await using stack = new AsyncDisposableStack()
  /** So few that no guard on deletes objects. */
  const sales = numbered('s', 40, 'sales')
  const labs = numbered('l', 4_000, 'labs')
  const [leaver, newcomer] = [labs[30]!, { uid: 'new', unit: 'labs' }]
  const others = uidsOf([...labs.filter((each) => each !== leaver), newcomer])
  const mixed = [...labs.slice(0, 6), ...sales.slice(0, 6)]
  const slapd = stack.use(
    await startSlapd({
      tls: false,
      overlays: ['syncprov'],
      acl: [hiddenUnit('sales')],
      ldifs: [
        ...['sales', 'labs'].map(unitLdif),
        ...[...sales, ...labs].map(employeeLdif),
        teamLdif('Sellers', sales),
        teamLdif('Mixed', mixed),
        blindLdif(),
      ],
    }),
  )
  const corp = stack.use(await openOpenLdapSite(slapd))
  await corp.configure({ url: slapd.url })
  await expectDone(corp)
  await slapd.modify([blind(slapd, true), hire(newcomer), leave(leaver)].join(''))
  const asking = await corp.sync()
  expect(asking).toMatchObject({ code: 3, stderr: '' })
  expect(asking.stdout).toContain('planned    1 deletion and 1 creation of users')
  expect(asking.stdout).toContain(
    `container-emptied (${sales.length}): ${sales.length} users of "${unitDn('sales')}" are absent`,
  )
  const run = /dirsyncd approve (\d+)/.exec(asking.stdout)?.[1] ?? ''
  expect((await corp.sync()).stdout).toContain(`${sales.length} deletions of users need approval`)
  expect(await corp.uids()).toEqual([...others, ...uidsOf(sales)].toSorted())
  const all = [
    ['Sellers', uidsOf(sales)],
    ['Mixed', uidsOf(mixed).toSorted()],
  ] as const
  expect(await corp.teams()).toEqual(new Map(all))

  expect(await corp.site.run('approve', run, '--all')).toMatchObject({ code: 0, stderr: '' })
  expect(await corp.uids()).toEqual(others.toSorted())
  const rest = [
    ['Sellers', []],
    ['Mixed', uidsOf(labs.slice(0, 6))],
  ] as const
  expect(await corp.teams()).toEqual(new Map<string, readonly string[]>(rest))
  await expectDone(corp)
})

test('a group whose memberUid the bind account may no longer see keeps those members', async () => {
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
  const asking = await corp.sync()
  expect(asking).toMatchObject({ code: 3, stderr: '' })
  expect(asking.stdout).toContain('"Both" would lose 6 members: "cn=Both,')
  expect(await corp.teams()).toEqual(before)
  await slapd.modify(blind(slapd, false))
  await expectDone(corp)
  expect(await corp.teams()).toEqual(before)
})

test('groups of a renamed OU that the bind account sees only by its old name keep their members in the groups around them', async () => {
  await using stack = new AsyncDisposableStack()
  const GROUPS = `ou=groups,${BASE}`
  const others = numbered('o', 30)
  const teams = ['a', 'b', 'c'].map((name) => ({ name: `Team ${name}`, people: numbered(name, 8) }))
  const nestedDn = (name: string, unit = 'teams') => `cn=${name},ou=${unit},${GROUPS}`
  const isGroup = { objectClass: ['groupOfNames'] }
  const slapd = stack.use(
    await startSlapd({
      tls: false,
      overlays: ['syncprov', 'refint'],
      acl: [
        `access to dn.subtree="ou=teams,${GROUPS}" by * read`,
        `access to dn.regex="ou=[^,]+,${GROUPS}$" by dn.exact="cn=reader,ou=services,${BASE}" none by * break`,
      ],
      ldifs: [
        ...[...others, ...teams.flatMap(({ people }) => people)].map(employeeLdif),
        ldif(`ou=teams,${GROUPS}`, { objectClass: ['organizationalUnit'], ou: ['teams'] }),
        ...teams.map(({ name, people }) =>
          ldif(nestedDn(name), { ...isGroup, cn: [name], member: people.map(employeeDn) }),
        ),
        ldif(teamDn('vpn'), {
          ...isGroup,
          cn: ['vpn'],
          member: [...teams.map(({ name }) => nestedDn(name)), ...others.slice(0, 9).map(employeeDn)],
        }),
      ],
    }),
  )
  const corp = stack.use(await openOpenLdapSite(slapd))
  await corp.configure({ url: slapd.url, groups: { nested: 'flatten' }, guards: NO_GUARDS })
  await expectDone(corp)
  const before = await corp.teams()
  expect(before.get('vpn')).toHaveLength(33)
  await slapd.modify(
    ldif(`ou=teams,${GROUPS}`, { changetype: ['modrdn'], newrdn: ['ou=squads'], deleteoldrdn: ['1'] }),
  )
  // The overlay refint changes the members after the answer.
  const renamed = `member: ${nestedDn('Team b', 'squads')}`
  await expect.poll(async () => (await slapd.dump()).replaceAll('\n ', '').includes(renamed)).toBe(true)
  const asking = await corp.sync()
  expect(asking).toMatchObject({ code: 3, stderr: '' })
  expect(asking.stdout).toContain(
    '"Team a", "Team b", "Team c" and 1 more would lose 24 memberships or be deleted: ' +
      `"cn=Team a,ou=teams,${GROUPS}", "cn=Team b,ou=teams,${GROUPS}", "cn=Team c,ou=teams,${GROUPS}" ` +
      'listed members in the last complete run, and are absent now; perhaps renamed',
  )
  expect(await corp.teams()).toEqual(before)
  const run = /dirsyncd approve (\d+)/.exec(asking.stdout)?.[1] ?? ''
  expect(await corp.site.run('approve', run, '--all')).toMatchObject({ code: 0, stderr: '' })
  expect(await corp.teams()).toEqual(new Map([['vpn', uidsOf(others.slice(0, 9))]]))
  await expectDone(corp)
})

describe('entries whose objectClass the bind account may no longer see', () => {
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

  test('are not deleted if they are one user and one group, and other changes are made', async () => {
    await start(employeeDn(hidden), teamDn('Team 0'))
    await slapd.modify([blind(slapd, true), leave(leaver)].join(''))
    const { code, stdout } = await corp.sync()
    expect([code, stdout]).toEqual([4, expect.stringMatching(/planned +1 deletion of a user$/m)])
    expect(stdout).toMatch(/blocked +1 deletion of a user, 1 deletion of a group$/m)
    expect(stdout).toContain('seen-again (2)')
    expect(await corp.uids()).toEqual(
      uidsOf([...sales, ...labs].filter((each) => each !== leaver)).toSorted(),
    )
    const after = await corp.teams()
    expect([...after.keys()].toSorted()).toEqual(teams.toSorted())
    expect(after.get('Team 1')).toContain(hidden.uid)
  })

  test('fail the run if they are many', async () => {
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

test('a reorganisation that empties hundreds of OUs asks nothing, and deletes only the users that left', async () => {
  const units = Array.from({ length: 400 }, (_, unit) => `old${unit},ou=old`)
  const people = units.flatMap((unit, index) => numbered(`u${index}-`, 5, unit))
  /** Four of one unit leave, and a fifth one moves: all the people of these units are gone from there. */
  const leavers = people.slice(0, 25).filter((_, index) => index % 5 > 0)
  const movers = people.filter((each) => !leavers.includes(each))
  await using slapd = await startSlapd({
    tls: false,
    overlays: ['syncprov'],
    ldifs: [...['old', ...units].map(unitLdif), ...people.map(employeeLdif)],
  })
  await using corp = await openOpenLdapSite(slapd)
  await corp.configure({ url: slapd.url })
  await expectDone(corp)
  const newUnits = Array.from({ length: 10 }, (_, unit) => `new${unit}`)
  await slapd.modify(
    [
      ...newUnits.map(openUnit),
      ...movers.map((each, index) => moveTo(each, newUnits[index % 10]!)),
      ...leavers.map(leave),
      ...units.slice(0, 300).map(closeUnit),
    ].join(''),
  )
  const { code, stderr, lines } = await corp.site.json('sync', 'corp')
  expect([code, stderr]).toEqual([0, ''])
  expect(lines[0]).toMatchObject({
    blocks: [],
    counts: { planned: { 'delete-user': 20 } },
    totalChanges: 20,
  })
  expect(await corp.uids()).toEqual(uidsOf(movers).toSorted())
})
