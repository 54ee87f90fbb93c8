import { describe, expect, test } from 'vitest'
import type { SourceSnapshot } from '../../../src/directory/snapshot.ts'
import { takeBaseline } from '../../../src/plan/baseline.ts'
import { type Evidence, lossesOf, prove } from '../../../src/plan/evidence/evidence.ts'
import type { PlanInputs } from '../../../src/plan/inputs.ts'
import { makePlan } from '../../../src/plan/plan.ts'
import { directoryOf, haveGroup, haveUser, linesOf, sourceOf, wantGroup, wantUser } from './build.ts'

const NONE: Evidence = {
  baselines: { user: undefined, group: undefined },
  groupsWithMembers: undefined,
  nestedGroups: new Map(),
  waitingGroups: new Set(),
  losses: new Map(),
  deletedLastDay: { user: new Set(), group: new Set() },
  approved: new Set(),
}

const SALES = ['s1', 's2', 's3', 's4', 's5']
const OTHERS = ['o1', 'o2']
const everybody = [...SALES, ...OTHERS]

/** Users whose id begins with `s` are in the unit sales. */
function placesOf(ids: readonly string[]): NonNullable<SourceSnapshot['eachPlace']> {
  return (kind, visit) => {
    if (kind === 'user') for (const id of ids) visit(id, `ou=${id.startsWith('s') ? 'sales' : 'labs'},dc=org`)
  }
}

function inputsOf(source: SourceSnapshot, more: Partial<PlanInputs> = {}): PlanInputs {
  const groups = [haveGroup('g', 'Everybody', everybody), haveGroup('few', 'Few', ['o1', 'o2'])]
  const directory = directoryOf(
    everybody.map((id) => haveUser(id)),
    groups,
  )
  const gone = everybody.filter((id) => !source.seen.user.has(id))
  return {
    source,
    directory,
    sightings: { user: new Map(gone.map((id) => [id, 'gone'])), group: new Map() },
    rules: { policy: 'mirror', membership: 'write', allowedDomains: [] },
    withheld: new Map(),
    ...more,
  }
}

function readOf(
  ids: readonly string[],
  everybodys = ids,
  more: Partial<SourceSnapshot> = {},
): SourceSnapshot {
  return sourceOf(
    ids.map((id) => wantUser(id)),
    [wantGroup('g', 'Everybody', everybodys), wantGroup('few', 'Few', ['o1', 'o2'])],
    { eachPlace: placesOf(ids), ...more },
  )
}

function proved(inputs: PlanInputs, evidence: Partial<Evidence> = {}) {
  const { plan, findings, ...kept } = prove(inputs, makePlan(inputs), { ...NONE, ...evidence })
  return {
    ...kept,
    lines: linesOf(plan),
    plan,
    findings,
    guards: findings.map(({ guard, waitsFor }) => `${guard} for a ${waitsFor}`),
  }
}

const before = { user: takeBaseline((visit) => placesOf(everybody)('user', visit)), group: undefined }

describe('a unit in which nobody is left', () => {
  const inputs = inputsOf(readOf([...OTHERS, 'new']))

  test('keeps its people and their memberships, and the rest is applied', () => {
    const { lines, guards, findings, plan } = proved(inputs, { baselines: before })
    expect(guards).toEqual(['container-emptied for a person'])
    expect(findings[0]?.detail).toBe(
      '5 users of "ou=sales,dc=org" are absent, and no user is left there; perhaps the reader may not see it any more, ' +
        'or the sync has another base or filter',
    )
    expect(findings[0]?.changes).toHaveLength(5)
    expect(lines).toEqual(['create-user new', 'set-members g'])
    expect(plan.changes[1]?.change).toMatchObject({ want: ['new', ...everybody].toSorted() })
    expect(plan.notices.filter(({ code }) => code === 'unproved').map(({ id }) => id)).toEqual(SALES)
  })

  test('keeps their memberships in the time of grace too, in which nobody would be deleted yet', () => {
    const { lines, guards, findings, plan } = proved(
      { ...inputs, waits: { whyNotDeleted: () => ({ code: 'in-grace', detail: 'absent since noon' }) } },
      { baselines: before },
    )
    expect(guards).toEqual(['container-emptied for a person'])
    expect(findings[0]?.changes).toEqual(proved(inputs, { baselines: before }).findings[0]?.changes)
    expect(lines).toEqual(['create-user new', 'set-members g'])
    expect(plan.changes[1]?.change).toMatchObject({ want: ['new', ...everybody].toSorted() })
  })

  test('loses them when a person approved it', () => {
    const approved = new Set(proved(inputs, { baselines: before }).findings[0]?.changes)
    const { lines, guards } = proved(inputs, { baselines: before, approved })
    expect(guards).toEqual([])
    expect(lines.filter((line) => line.startsWith('delete-user'))).toEqual(
      SALES.map((id) => `delete-user ${id}`),
    )
  })

  test('holds nothing of what a person rejected', () => {
    const changes = proved(inputs, { baselines: before }).findings[0]?.changes ?? []
    const withheld = new Map(changes.map((print) => [print, { code: 'rejected', detail: 'no' } as const]))
    const { guards, lines } = proved({ ...inputs, withheld }, { baselines: before })
    expect(guards).toEqual([])
    expect(lines).toEqual(['create-user new', 'set-members g'])
  })

  test('gives nobody an e-mail that stays with its people', () => {
    const source = readOf(OTHERS)
    const taker = wantUser('taker', 'Taker', 's1@example.org')
    const users = new Map([...source.users, ['taker', taker] as const])
    const seen = { ...source.seen, user: new Set(users.keys()) }
    const { plan } = proved(inputsOf({ ...source, users, seen }), { baselines: before })
    const created = plan.changes.find(({ change }) => change.op === 'create-user')
    expect(created?.change).toMatchObject({ id: 'taker', want: { name: 'Taker' } })
    expect(created?.change).not.toHaveProperty('want.email')
  })

  test('counts those whom the filter does not select any more, because its attributes may be hidden', () => {
    const user = new Map(SALES.map((id) => [id, id === 's1' ? 'gone' : 'left-filter'] as const))
    const { guards, findings } = proved(
      { ...inputs, sightings: { user, group: new Map() } },
      { baselines: before },
    )
    expect(guards).toEqual(['container-emptied for a person'])
    expect(findings[0]?.detail).toContain(
      '5 users of "ou=sales,dc=org" are absent (4 still in the source, but outside the',
    )
  })

  test('is no finding without a good run before', () => {
    expect(proved(inputs).guards).toEqual([])
  })
})

describe('a group that would lose members', () => {
  test('is looked at with those that it would lose', () => {
    const inputs = inputsOf(readOf(everybody, ['o1', 's1', 's2', 's3', 's4']))
    expect(lossesOf(makePlan(inputs))).toEqual(new Map([['g', ['o2', 's5']]]))
  })

  test('does not lose those who are renamed meanwhile, and loses the others', () => {
    const inputs = inputsOf(readOf(everybody, ['o1', 's1', 's2', 's3', 's4']))
    const { plan, guards } = proved(inputs, { losses: new Map([['g', { stillMembers: ['o2'] }]]) })
    expect(plan.changes.map(({ change }) => change)).toMatchObject([
      { id: 'g', want: ['o1', 'o2', 's1', 's2', 's3', 's4'] },
    ])
    expect(guards).toEqual([])
  })

  test('loses nobody when the second look does not prove it, and gets its new members', () => {
    const inputs = inputsOf(readOf([...everybody, 'new'], ['new', 'o1']))
    const losses = new Map([['g', { stillMembers: [], unproved: 'cn=g changed again' }]])
    const { plan, guards, findings } = proved(inputs, { losses })
    expect(plan.changes.at(-1)?.change).toMatchObject({ id: 'g', want: ['new', ...everybody].toSorted() })
    expect(guards).toEqual(['members-unproved for a better-read'])
    expect(findings[0]?.detail).toContain('cn=g changed again')
    expect(plan.notices).toMatchObject([{ code: 'members-kept', id: 'g' }])
  })

  test('loses nobody of whom the second look proved nothing, until a person approves, and loses the others', () => {
    const inputs = inputsOf(readOf(everybody, ['o1', 's1', 's2', 's3']))
    const losses = new Map([
      ['g', { stillMembers: [], unproved: '"o2" shows no uid', unprovedMembers: ['o2'] }],
    ])
    const { plan, guards, findings } = proved(inputs, { losses })
    expect(plan.changes.map(({ change }) => change)).toMatchObject([
      { id: 'g', want: ['o1', 'o2', 's1', 's2', 's3'] },
    ])
    expect(guards).toEqual(['members-unproved for a better-read'])
    expect(findings[0]?.detail).toContain('"o2" shows no uid; stays in "Everybody"')
    const approved = new Set(findings[0]?.changes)
    const after = proved(inputs, { losses, approved })
    expect(after.plan.changes.map(({ change }) => change)).toMatchObject([
      { id: 'g', want: ['o1', 's1', 's2', 's3'] },
    ])
    expect(after.guards).toEqual([])
  })

  test('keeps all of five or more when it has none left, until a person approves', () => {
    const inputs = inputsOf(readOf(everybody, []))
    const { lines, guards, findings } = proved(inputs)
    expect(guards).toEqual(['group-emptied for a person'])
    expect(lines).toEqual([])
    const approved = new Set(findings[0]?.changes)
    expect(proved(inputs, { approved }).lines).toEqual(['set-members g'])
  })

  test('loses them when something else proves that it is empty', () => {
    const losses = new Map([['g', { stillMembers: [], provedEmpty: true }]])
    expect(proved(inputsOf(readOf(everybody, [])), { losses }).lines).toEqual(['set-members g'])
  })

  test('of few members may lose all of them, unless its list cannot be read', () => {
    const read = sourceOf(
      everybody.map((id) => wantUser(id)),
      [wantGroup('g', 'Everybody', everybody), wantGroup('few', 'Few', [])],
    )
    expect(proved(inputsOf(read)).lines).toEqual(['set-members few'])
    const losses = new Map([
      ['few', { stillMembers: [], unproved: 'cn=few must have members by the schema' }],
    ])
    const { lines, guards, findings } = proved(inputsOf(read), { losses })
    expect(lines).toEqual([])
    expect(guards).toEqual(['group-emptied for a person'])
    expect(findings[0]?.detail).toContain('must have members by the schema')
    expect(proved(inputsOf(read), { losses, approved: new Set(findings[0]?.changes) }).lines).toEqual([
      'set-members few',
    ])
  })
})

describe('a group whose members waited in an earlier run', () => {
  const waitingGroups = new Set(['g'])
  const oneIsBack = inputsOf(readOf(everybody, ['s1']))

  test('keeps all of them although one is shown again, until a person approves', () => {
    expect(proved(oneIsBack).lines).toEqual(['set-members g'])
    const { lines, guards, findings, ...kept } = proved(oneIsBack, { waitingGroups })
    expect(lines).toEqual([])
    expect(guards).toEqual(['group-emptied for a person'])
    expect(kept.waitingGroups).toEqual(['g'])
    const approved = new Set(findings[0]?.changes)
    const after = proved(oneIsBack, { waitingGroups, approved })
    expect(after.lines).toEqual(['set-members g'])
    expect(after.waitingGroups).toEqual([])
  })

  test('is not deleted when it cannot be seen any more', () => {
    const read = sourceOf(
      everybody.map((id) => wantUser(id)),
      [wantGroup('few', 'Few', ['o1', 'o2'])],
    )
    const sightings = { user: new Map(), group: new Map([['g', 'gone']] as const) }
    const inputs = inputsOf(read, { sightings })
    expect(proved(inputs).lines).toEqual(['delete-group g'])
    const { lines, guards, ...kept } = proved(inputs, { waitingGroups })
    expect(lines).toEqual([])
    expect(guards).toEqual(['group-emptied for a person'])
    expect(kept.waitingGroups).toEqual(['g'])
  })

  test('waits no longer when a read shows that it loses nobody', () => {
    expect(proved(inputsOf(readOf(everybody)), { waitingGroups }).waitingGroups).toEqual([])
  })

  test.each<[string, Partial<PlanInputs>]>([
    ['some of the source cannot be understood', { source: { ...readOf(everybody, ['s1']), unreadable: 1 } }],
    ['the server may lack something', { waits: { allButNew: 'the server is older' } }],
  ])('goes on waiting after a read that proves nothing, because %s', (_, more) => {
    expect(proved({ ...oneIsBack, ...more }, { waitingGroups }).waitingGroups).toEqual(['g'])
  })

  test('goes on waiting while the second look does not prove the loss', () => {
    const losses = new Map([['g', { stillMembers: [], unproved: 'cn=g changed again' }]])
    expect(proved(oneIsBack, { waitingGroups, losses }).waitingGroups).toEqual(['g'])
  })

  test('begins to wait also when its members cannot be seen either', () => {
    const inputs = inputsOf(readOf(['new'], []))
    const { lines, ...kept } = proved(inputs, { baselines: before })
    expect(lines).toEqual(['create-user new', 'delete-user o1', 'delete-user o2'])
    expect(kept.waitingGroups).toEqual(['g'])
    expect(proved(inputs).waitingGroups).toEqual([])
  })
})

describe('a group within another one that is absent, and still listed there', () => {
  const read = sourceOf(
    everybody.map((id) => wantUser(id)),
    [wantGroup('g', 'Everybody', OTHERS)],
    { strangersWithin: (id) => (id === 'g' ? ['cn=sales,dc=org'] : []) },
  )
  const groups = [haveGroup('g', 'Everybody', everybody), haveGroup('sales', 'Sales', SALES)]
  const directory = directoryOf(
    everybody.map((id) => haveUser(id)),
    groups,
  )
  const sightings = { user: new Map(), group: new Map([['sales', 'gone']] as const) }
  const inputs = inputsOf(read, { directory, sightings })
  const nestedGroups = new Map([['cn=sales,dc=org', 'sales']])

  test('is not deleted, and nobody is taken out, until a person approves', () => {
    const { lines, guards, findings, ...kept } = proved(inputs, { nestedGroups })
    expect(lines).toEqual([])
    expect(guards).toEqual(['nested-group-absent for a person'])
    expect(findings[0]?.detail).toBe(
      '"cn=sales,dc=org" is absent, and "Everybody" still lists it as a group within and would lose 5 members; ' +
        'perhaps the reader may not see it any more',
    )
    expect(kept.nestedGroups).toEqual(nestedGroups)
    const approved = new Set(findings[0]?.changes)
    const after = proved(inputs, { nestedGroups, approved })
    expect(after.lines).toEqual(['set-members g', 'delete-group sales'])
    expect(after.nestedGroups).toEqual(new Map())
  })

  test('waits in the next run for the same reason, and for no other', () => {
    const again = { nestedGroups, waitingGroups: new Set(['g', 'sales']) }
    expect(proved(inputs, again).guards).toEqual(['nested-group-absent for a person'])
  })

  test('is not deleted where its people wait already', () => {
    const unseen = sourceOf(
      OTHERS.map((id) => wantUser(id)),
      [wantGroup('g', 'Everybody', OTHERS)],
      { strangersWithin: read.strangersWithin, eachPlace: placesOf(OTHERS) },
    )
    const gone = { user: new Map(SALES.map((id) => [id, 'gone'] as const)), group: sightings.group }
    const { lines, guards } = proved(
      { ...inputs, source: unseen, sightings: gone },
      { nestedGroups, baselines: before },
    )
    expect(lines).toEqual([])
    expect(guards).toEqual(['container-emptied for a person', 'nested-group-absent for a person'])
  })

  test('keeps its people where it is outside of the filter, in the next runs too', () => {
    const outside = { ...inputs, directory: directoryOf([...directory.users.values()], groups.slice(0, 1)) }
    const others = new Map([['cn=sales,dc=org', '']])
    const { lines, guards, ...kept } = proved(outside, { nestedGroups: others })
    expect(lines).toEqual([])
    expect(guards).toEqual(['nested-group-absent for a person'])
    expect(kept.nestedGroups).toEqual(others)
    expect(kept.waitingGroups).toEqual(['g'])
  })

  test('is believed where no group lists it any more', () => {
    const unlisted = { ...inputs, source: { ...read, strangersWithin: () => [] } }
    expect(proved(unlisted, { nestedGroups }).lines).toEqual(['set-members g', 'delete-group sales'])
  })

  test('is believed where it was no group of the last good run', () => {
    const lines = ['set-members g', 'delete-group sales']
    expect(proved(inputs).lines).toEqual(lines)
    expect(proved(inputs, { nestedGroups: new Map([['cn=other,dc=org', 'other']]) }).lines).toEqual(lines)
  })

  test('is believed where it had fewer than five members', () => {
    const few = directoryOf(
      everybody.map((id) => haveUser(id)),
      [haveGroup('g', 'Everybody', everybody), haveGroup('sales', 'Sales', SALES.slice(1))],
    )
    expect(proved({ ...inputs, directory: few }, { nestedGroups }).lines).toHaveLength(2)
  })
})

describe('where no group lists a member any more', () => {
  const read = sourceOf(
    everybody.map((id) => wantUser(id)),
    [wantGroup('g', 'Everybody', []), wantGroup('few', 'Few', [])],
    { groupsWithMembers: 0 },
  )

  test('every group keeps its members until a person approves', () => {
    const { lines, guards, findings } = proved(inputsOf(read), { groupsWithMembers: 2 })
    expect(guards).toEqual(['members-gone for a person'])
    expect(lines).toEqual([])
    const approved = new Set(findings[0]?.changes)
    expect(proved(inputsOf(read), { groupsWithMembers: 2, approved }).lines).toEqual([
      'set-members few',
      'set-members g',
    ])
  })

  test('and none did before, nothing is special', () => {
    expect(proved(inputsOf(read), { groupsWithMembers: 0 }).guards).toEqual(['group-emptied for a person'])
  })
})

test('who was deleted within a day is not created again, unless a person approves', () => {
  const inputs = inputsOf(readOf([...everybody, 'back', 'new']))
  const deletedLastDay = { user: new Set(['back']), group: new Set<string>() }
  const { lines, guards, findings, plan } = proved(inputs, { deletedLastDay })
  expect(lines).toEqual(['create-user new', 'set-members g'])
  expect(plan.changes.at(-1)?.change).toMatchObject({ want: ['new', ...everybody].toSorted() })
  expect(guards).toEqual(['reborn for a better-read'])
  const approved = new Set(findings[0]?.changes)
  expect(proved(inputs, { deletedLastDay, approved }).lines).toContain('create-user back')
})

describe('where only new entries and members may be written', () => {
  const waits = { allButNew: 'dc2 lacks changes' }

  test('updates, deletes and removals wait, each with its name', () => {
    const renamed = { ...readOf([...OTHERS, 's1', 'new'], ['o1', 'new']) }
    const users = new Map([...renamed.users, ['o2', wantUser('o2', 'Renamed')] as const])
    const { lines, plan } = proved(inputsOf({ ...renamed, users }, { waits }))
    expect(lines).toEqual(['create-user new', 'set-members g'])
    expect(plan.changes[1]?.change).toMatchObject({ want: ['new', ...everybody].toSorted() })
    expect(plan.notices.map(({ code, id }) => `${code} ${id}`)).toEqual(
      ['o2', 's2', 's3', 's4', 's5'].map((id) => `unproved ${id}`),
    )
  })

  test('nobody gets an e-mail whose owner gets another one in the source', () => {
    const users = [
      wantUser('o1', 'Name o1', 'other@example.org'),
      wantUser('taker', 'Taker', 'o1@example.org'),
    ]
    const { plan } = proved(inputsOf(sourceOf(users, []), { waits }))
    expect(plan.changes.map(({ change }) => change)).toMatchObject([{ id: 'taker', want: { name: 'Taker' } }])
    expect(plan.changes[0]?.change).not.toHaveProperty('want.email')
  })
})

test('where nothing may be written, every change is named with the reason, and nothing is asked', () => {
  const read = readOf([...OTHERS, 'new'], ['o1', 'new'])
  const inputs = inputsOf(read, { waits: { everything: 'the server is older' } })
  const waitingGroups = new Set(['few'])
  const { lines, guards, plan, ...kept } = proved(inputs, { baselines: before, waitingGroups })
  expect(lines).toEqual([])
  expect(guards).toEqual([])
  expect(kept.waitingGroups).toEqual(['few'])
  expect(plan.notices.map(({ kind, id, code, detail }) => `${code} ${kind} ${id}: ${detail}`)).toEqual([
    'unproved user new: Name new <new@example.org>: not created: the server is older',
    ...SALES.map(
      (id) => `unproved user ${id}: Name ${id} <${id}@example.org>: not deleted: the server is older`,
    ),
    'unproved group g: "Everybody": 0 members not added, 1 not removed: the server is older',
  ])
})
