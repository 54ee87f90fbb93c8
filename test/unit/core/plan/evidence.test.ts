import { describe, expect, test } from 'vitest'
import type { Places, SourceSnapshot } from '../../../../src/core/entries/snapshot.ts'
import { atOnce, forEachInSteps } from '../../../../src/base/steps.ts'
import { examplesOf } from '../../../../src/core/notice.ts'
import { takeBaseline } from '../../../../src/core/plan/baseline.ts'
import { type Evidence, lossesOf, prove } from '../../../../src/core/plan/evidence/evidence.ts'
import { doubtfulDns, entriesOfOthers } from '../../../../src/core/plan/evidence/nesting.ts'
import type { PlanInputs } from '../../../../src/core/plan/inputs.ts'
import { makePlan } from '../../../../src/core/plan/plan.ts'
import {
  CHANGING,
  directoryOf,
  haveGroup,
  haveUser,
  IN_GRACE,
  LACKS,
  linesOf,
  listsOf,
  NO_EVIDENCE as NONE,
  REJECTED,
  sourceOf,
  wantGroup,
  wantUser,
} from './build.ts'

/** Of groups within groups, by DN; the groups around have no strangers. */
function nestingOf(ids: Readonly<Record<string, string>>): Evidence['nesting'] {
  return { ids: new Map(Object.entries(ids)), strangers: new Map() }
}

/** A read in which the group g lists these strangers. */
function listing(strangers: readonly string[]): Partial<SourceSnapshot> {
  return { lists: listsOf({ g: { unresolved: strangers } }) }
}

const SALES = ['s1', 's2', 's3', 's4', 's5']
const OTHERS = ['o1', 'o2']
const everybody = [...SALES, ...OTHERS]

/** Users whose id begins with `s` are in the unit sales. */
function placesOf(ids: readonly string[]): NonNullable<SourceSnapshot['places']> {
  const user: Places = {
    each: (visit) =>
      forEachInSteps(ids, (id) => visit(id, `ou=${id.startsWith('s') ? 'sales' : 'labs'},dc=org`)),
  }
  return { user, group: { each: () => forEachInSteps([], () => undefined) } }
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
    sightings: { user: new Map(gone.map((id) => [id, 'absent'])), group: new Map() },
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
    { places: placesOf(ids), ...more },
  )
}

function proved(inputs: PlanInputs, evidence: Partial<Evidence> = {}) {
  const { plan, findings, ...kept } = atOnce(prove(inputs, makePlan(inputs), { ...NONE, ...evidence }))
  return {
    ...kept,
    lines: linesOf(plan),
    plan,
    findings,
    guards: findings.map(({ code, waitsFor }) => `${code} for a ${waitsFor}`),
  }
}

const before = {
  user: atOnce(takeBaseline((visit) => placesOf(everybody).user.each(visit))),
  group: undefined,
}

describe('an OU that lost all its users', () => {
  const inputs = inputsOf(readOf([...OTHERS, 'new']))

  test('keeps its people and their memberships, and the rest is applied', () => {
    const { lines, guards, findings, plan } = proved(inputs, { baselines: before })
    expect(guards).toEqual(['container-emptied for a person'])
    expect(findings[0]?.params).toEqual({
      kind: 'user',
      container: 'ou=sales,dc=org',
      absent: 5,
      leftFilter: 0,
      wasFound: false,
    })
    expect(findings[0]?.changes).toHaveLength(5)
    expect(lines).toEqual(['create-user new', 'set-members g'])
    expect([...plan.changes][1]?.change).toMatchObject({ want: ['new', ...everybody].toSorted() })
    expect(plan.notices.filter(({ code }) => code === 'unproved').map(({ id }) => id)).toEqual(SALES)
  })

  test('keeps their memberships in the time of grace too, in which nobody would be deleted yet', () => {
    const { lines, guards, findings, plan } = proved(
      { ...inputs, waits: { whyNotDeleted: () => IN_GRACE } },
      { baselines: before },
    )
    expect(guards).toEqual(['container-emptied for a person'])
    expect(findings[0]?.changes).toEqual(proved(inputs, { baselines: before }).findings[0]?.changes)
    expect(lines).toEqual(['create-user new', 'set-members g'])
    expect([...plan.changes][1]?.change).toMatchObject({ want: ['new', ...everybody].toSorted() })
  })

  test('loses its users after an approval', () => {
    const approved = new Set(proved(inputs, { baselines: before }).findings[0]?.changes)
    const { lines, guards } = proved(inputs, { baselines: before, approved })
    expect(guards).toEqual([])
    expect(lines.filter((line) => line.startsWith('delete-user'))).toEqual(
      SALES.map((id) => `delete-user ${id}`),
    )
  })

  test('holds nothing that was rejected', () => {
    const changes = proved(inputs, { baselines: before }).findings[0]?.changes ?? []
    const withheld = new Map(changes.map((print) => [print, REJECTED]))
    const { guards, lines } = proved({ ...inputs, withheld }, { baselines: before })
    expect(guards).toEqual([])
    expect(lines).toEqual(['create-user new', 'set-members g'])
  })

  test('gives no e-mail of its users to another user', () => {
    const source = readOf(OTHERS)
    const taker = wantUser('taker', 'Taker', 's1@example.org')
    const users = new Map([...source.users, ['taker', taker] as const])
    const seen = { ...source.seen, user: new Set(users.keys()) }
    const { plan } = proved(inputsOf({ ...source, users, seen }), { baselines: before })
    const created = [...plan.changes].find(({ change }) => change.op === 'create-user')
    expect(created?.change).toMatchObject({ id: 'taker', want: { name: 'Taker' } })
    expect(created?.change).not.toHaveProperty('want.email')
  })

  test('counts users whom the filter does not select any more, because its attributes may be hidden', () => {
    const user = new Map(SALES.map((id) => [id, id === 's1' ? 'absent' : 'out-of-scope'] as const))
    const { guards, findings } = proved(
      { ...inputs, sightings: { user, group: new Map() } },
      { baselines: before },
    )
    expect(guards).toEqual(['container-emptied for a person'])
    expect(findings[0]?.params).toMatchObject({ container: 'ou=sales,dc=org', absent: 5, leftFilter: 4 })
  })

  test('is no finding without a good run before', () => {
    expect(proved(inputs).guards).toEqual([])
  })
})

describe('a group that would lose members', () => {
  test('is looked at with those that it would lose', () => {
    const inputs = inputsOf(readOf(everybody, ['o1', 's1', 's2', 's3', 's4']))
    expect(atOnce(lossesOf(makePlan(inputs)))).toEqual(new Map([['g', ['o2', 's5']]]))
  })

  test('does not lose renamed users, and loses the others', () => {
    const inputs = inputsOf(readOf(everybody, ['o1', 's1', 's2', 's3', 's4']))
    const { plan, guards } = proved(inputs, { losses: new Map([['g', { stillMembers: ['o2'] }]]) })
    expect([...plan.changes].map(({ change }) => change)).toMatchObject([
      { id: 'g', want: ['o1', 'o2', 's1', 's2', 's3', 's4'] },
    ])
    expect(guards).toEqual([])
  })

  test('does not keep users whom the plan deletes, though the recheck finds them in it', () => {
    const rest = everybody.filter((id) => id !== 's5')
    const inputs = inputsOf(readOf(rest, ['o1', 's1', 's2', 's3', 's4']))
    const { plan } = proved(inputs, { losses: new Map([['g', { stillMembers: ['s5'] }]]) })
    expect([...plan.changes].map(({ change }) => change)).toMatchObject([
      { op: 'set-members', id: 'g', want: ['o1', 's1', 's2', 's3', 's4'] },
      { op: 'delete-user', id: 's5' },
    ])
  })

  test('loses no member when the recheck does not prove it, and gets its new members', () => {
    const inputs = inputsOf(readOf([...everybody, 'new'], ['new', 'o1']))
    const losses = new Map([['g', { stillMembers: [], unproved: CHANGING }]])
    const { plan, guards, findings } = proved(inputs, { losses })
    expect([...plan.changes].at(-1)?.change).toMatchObject({
      id: 'g',
      want: ['new', ...everybody].toSorted(),
    })
    expect(guards).toEqual(['members-unproved for a better-read'])
    expect(findings[0]?.params).toEqual({ groups: 1, reason: CHANGING })
    expect(plan.notices).toMatchObject([{ code: 'members-kept', id: 'g' }])
  })

  test('keeps the members of whom the recheck proved nothing until an approval, and loses the others', () => {
    const inputs = inputsOf(readOf(everybody, ['o1', 's1', 's2', 's3']))
    const unproved = { code: 'no-uid', params: { group: 'cn=g', users: examplesOf(['o2']) } } as const
    const losses = new Map([['g', { stillMembers: [], unproved, unprovedMembers: ['o2'] }]])
    const { plan, guards, findings } = proved(inputs, { losses })
    expect([...plan.changes].map(({ change }) => change)).toMatchObject([
      { id: 'g', want: ['o1', 'o2', 's1', 's2', 's3'] },
    ])
    expect(guards).toEqual(['members-unproved for a better-read'])
    expect(findings[0]?.params).toEqual({ groups: 1, reason: unproved })
    expect(plan.notices).toMatchObject([
      { code: 'members-kept', id: 'g', params: { group: 'Everybody', isPart: true, reason: unproved } },
    ])
    const approved = new Set(findings[0]?.changes)
    const after = proved(inputs, { losses, approved })
    expect([...after.plan.changes].map(({ change }) => change)).toMatchObject([
      { id: 'g', want: ['o1', 's1', 's2', 's3'] },
    ])
    expect(after.guards).toEqual([])
  })

  test('keeps all of five or more members when it has none left, until an approval', () => {
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
    const params = { group: 'cn=few', list: 'cn=few', attribute: 'member' }
    const unproved = { code: 'attribute-required', params } as const
    const losses = new Map([['few', { stillMembers: [], unproved }]])
    const { lines, guards, findings } = proved(inputsOf(read), { losses })
    expect(lines).toEqual([])
    expect(guards).toEqual(['group-emptied for a person'])
    expect(findings[0]?.params).toEqual({ how: 'no-members', group: 'Few', had: 2, reason: unproved })
    expect(proved(inputsOf(read), { losses, approved: new Set(findings[0]?.changes) }).lines).toEqual([
      'set-members few',
    ])
  })
})

describe('a group whose removals were blocked in an earlier run', () => {
  const waitingGroups = new Set(['g'])
  const oneIsBack = inputsOf(readOf(everybody, ['s1']))

  test('keeps all of them although one is shown again, until an approval', () => {
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
    const sightings = { user: new Map(), group: new Map([['g', 'absent']] as const) }
    const inputs = inputsOf(read, { sightings })
    expect(proved(inputs).lines).toEqual(['delete-group g'])
    const { lines, guards, ...kept } = proved(inputs, { waitingGroups })
    expect(lines).toEqual([])
    expect(guards).toEqual(['group-emptied for a person'])
    expect(kept.waitingGroups).toEqual(['g'])
  })

  test('is blocked no longer when a read shows that it loses no member', () => {
    expect(proved(inputsOf(readOf(everybody)), { waitingGroups }).waitingGroups).toEqual([])
  })

  test.each<[string, Partial<PlanInputs>]>([
    ['some of the source cannot be understood', { source: { ...readOf(everybody, ['s1']), unreadable: 1 } }],
    ['the server may lack something', { waits: { allButNew: LACKS } }],
  ])('goes on waiting after a read that proves nothing, because %s', (_, more) => {
    expect(proved({ ...oneIsBack, ...more }, { waitingGroups }).waitingGroups).toEqual(['g'])
  })

  test('goes on waiting while the second look does not prove the loss', () => {
    const losses = new Map([['g', { stillMembers: [], unproved: CHANGING }]])
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
    listing(['cn=sales,dc=org']),
  )
  const groups = [haveGroup('g', 'Everybody', everybody), haveGroup('sales', 'Sales', SALES)]
  const directory = directoryOf(
    everybody.map((id) => haveUser(id)),
    groups,
  )
  const sightings = { user: new Map(), group: new Map([['sales', 'absent']] as const) }
  const inputs = inputsOf(read, { directory, sightings })
  const nesting = nestingOf({ 'cn=sales,dc=org': 'sales' })

  test('is not deleted, and no member is removed, until an approval', () => {
    const { lines, guards, findings, ...kept } = proved(inputs, { nesting })
    expect(lines).toEqual([])
    expect(guards).toEqual(['nested-group-absent for a person'])
    expect(findings[0]?.params).toEqual({
      group: 'cn=sales,dc=org',
      how: 'still-listed',
      listedBy: examplesOf(['Everybody']),
      unresolved: examplesOf([]),
      removals: 5,
      groups: examplesOf(['Everybody']),
    })
    expect(kept.nesting).toEqual(nesting)
    const approved = new Set(findings[0]?.changes)
    const after = proved(inputs, { nesting, approved })
    expect(after.lines).toEqual(['set-members g', 'delete-group sales'])
    expect(after.nesting).toEqual(nestingOf({}))
  })

  test('waits in the next run for the same reason, and for no other', () => {
    const again = { nesting, waitingGroups: new Set(['g', 'sales']) }
    expect(proved(inputs, again).guards).toEqual(['nested-group-absent for a person'])
  })

  test('keeps its members where it is outside of the filter, in the next runs too', () => {
    const outside = { ...inputs, directory: directoryOf([...directory.users.values()], groups.slice(0, 1)) }
    const others = nestingOf({ 'cn=sales,dc=org': '' })
    const { lines, guards, ...kept } = proved(outside, { nesting: others })
    expect(lines).toEqual([])
    expect(guards).toEqual(['nested-group-absent for a person'])
    expect(kept.nesting).toEqual(others)
    expect(kept.waitingGroups).toEqual(['g'])
  })

  test('is believed where no group lists it any more', () => {
    const unlisted = { ...inputs, source: { ...read, ...listing([]) } }
    expect(proved(unlisted, { nesting }).lines).toEqual(['set-members g', 'delete-group sales'])
  })

  test('is believed where it was no group of the last good run', () => {
    const lines = ['set-members g', 'delete-group sales']
    expect(proved(inputs).lines).toEqual(lines)
    expect(proved(inputs, { nesting: nestingOf({ 'cn=other,dc=org': 'other' }) }).lines).toEqual(lines)
  })

  test('is believed where it had fewer than five members', () => {
    const few = directoryOf(
      everybody.map((id) => haveUser(id)),
      [haveGroup('g', 'Everybody', everybody), haveGroup('sales', 'Sales', SALES.slice(1))],
    )
    expect(proved({ ...inputs, directory: few }, { nesting }).lines).toHaveLength(2)
  })
})

describe('a group within another one that is absent, where that one lists others than before', () => {
  const [OLD, NEW, GUEST] = ['cn=sales,ou=teams', 'cn=sales,ou=squads', 'cn=guest,ou=other']
  const groups = [haveGroup('g', 'Everybody', everybody), haveGroup('sales', 'Sales', SALES)]
  const users = everybody.map((id) => haveUser(id))
  const sightings = { user: new Map(), group: new Map([['sales', 'absent']] as const) }

  /** The last good read, where the group sales was a group of the directory or one outside of the filter. */
  function goodRead(id = 'sales'): PlanInputs {
    const sales = { dn: OLD }
    const lists = listsOf({ g: { nested: [OLD], unresolved: [GUEST] }, [id === '' ? OLD : id]: sales })
    const read = [wantGroup('g', 'Everybody', everybody), wantGroup('sales', 'Sales', SALES)]
    const source = sourceOf(
      everybody.map((each) => wantUser(each)),
      read.filter((group) => group.id === 'g' || id === 'sales'),
      { lists },
    )
    return inputsOf(source, {
      directory: directoryOf(
        users,
        groups.filter(({ id: has }) => source.groups.has(has)),
      ),
    })
  }

  /** A read in which nobody of sales is in another group. */
  function hiddenRead(strangers: readonly string[], more: Partial<SourceSnapshot> = {}): PlanInputs {
    const around = wantGroup('g', 'Everybody', OTHERS)
    const source = sourceOf(
      everybody.map((id) => wantUser(id)),
      [around],
      { ...listing(strangers), ...more },
    )
    return inputsOf(source, { directory: directoryOf(users, groups), sightings })
  }

  const { nesting } = proved(goodRead())
  const hidden = hiddenRead([GUEST, NEW])
  const lines = ['set-members g', 'delete-group sales']

  test('is not deleted, and no member is removed, until an approval', () => {
    const first = proved(hidden, { nesting })
    expect(first.lines).toEqual([])
    expect(first.findings).toMatchObject([{ code: 'nested-group-absent' }])
    expect(first.findings[0]?.params).toEqual({
      group: OLD,
      how: 'perhaps-renamed',
      listedBy: examplesOf(['Everybody']),
      unresolved: examplesOf([NEW]),
      removals: 5,
      groups: examplesOf(['Everybody']),
    })
    expect(first.nesting).toEqual(nesting)
    const second = proved(hidden, { nesting: first.nesting, waitingGroups: new Set(first.waitingGroups) })
    expect(second.lines).toEqual([])
    expect(second.findings).toEqual(first.findings)
    const approved = new Set(second.findings[0]?.changes)
    const after = proved(hidden, { ...second, waitingGroups: new Set(second.waitingGroups), approved })
    expect(after.lines).toEqual(lines)
    expect(after.nesting).toEqual(nestingOf({}))
  })

  test.each<[string, PlanInputs, Evidence['nesting']]>([
    ['that one lists the same as before', hiddenRead([GUEST]), nesting],
    ['that one lists nobody any more', hiddenRead([]), nesting],
    ['an older version remembered nothing', hidden, { ...nesting, strangers: new Map() }],
    ['that one cannot be seen either', hiddenRead([NEW], { lists: listsOf({}) }), nesting],
  ])('is believed where %s', (_, inputs, known) => {
    expect(proved(inputs, { nesting: known }).lines).toEqual(lines)
  })

  test('is believed where all of these are shown as other entries', () => {
    expect(atOnce(doubtfulDns(hidden, nesting))).toEqual([GUEST, NEW])
    const shown = new Map([
      [GUEST, { ids: { user: [], group: ['guest'] } }],
      [NEW, { ids: { user: [], group: ['newcomer'] } }],
    ])
    const others = atOnce(entriesOfOthers(hidden, nesting, shown))
    expect(others).toEqual(new Set([GUEST, NEW]))
    expect(
      atOnce(entriesOfOthers(hidden, nesting, new Map([[NEW, { ids: { user: [], group: ['sales'] } }]]))),
    ).toEqual(new Set())
    expect(atOnce(entriesOfOthers(hidden, nestingOf({ [OLD]: '' }), shown))).toEqual(new Set())
    const first = proved(hidden, { nesting, otherEntries: others })
    expect(first.lines).toEqual(lines)
    expect(first.nesting).toEqual(nestingOf({}))
    expect(proved(hidden, { nesting, otherEntries: new Set([GUEST]) }).lines).toEqual([])
    expect(atOnce(doubtfulDns(hiddenRead([GUEST]), nesting))).toEqual([])
    expect(atOnce(doubtfulDns(goodRead(), { ...nesting, strangers: new Map([['g', 'other']]) }))).toEqual([])
  })

  describe('and is not forgotten by a run that decides nothing', () => {
    const outside = proved(goodRead(''))
    const directory = directoryOf(users, groups.slice(0, 1))
    const hiddenOutside = { ...hidden, directory, sightings: { user: new Map(), group: new Map() } }

    test.each<[string, PlanInputs, Partial<Evidence>, string[]]>([
      [
        'because some of the source cannot be understood',
        hiddenRead([NEW], { unreadable: 1 }),
        { nesting },
        ['g', 'sales'],
      ],
      [
        'because some of the source cannot be understood, outside of the filter',
        { ...hiddenOutside, source: { ...hidden.source, unreadable: 1 } },
        { nesting: outside.nesting },
        ['g'],
      ],
      [
        'because the second look does not prove the loss, outside of the filter',
        hiddenOutside,
        {
          nesting: outside.nesting,
          losses: new Map([['g', { stillMembers: [], unproved: CHANGING }]]),
        },
        ['g'],
      ],
      [
        'because its people wait',
        {
          ...hidden,
          source: sourceOf(
            OTHERS.map((id) => wantUser(id)),
            [...hidden.source.groups.values()],
            {
              ...listing([GUEST, NEW]),
              places: placesOf(OTHERS),
            },
          ),
          sightings: { user: new Map(SALES.map((id) => [id, 'absent'] as const)), group: sightings.group },
        },
        { nesting, baselines: before },
        ['g', 'sales'],
      ],
    ])('%s', (_, inputs, evidence, waiting) => {
      const first = proved(inputs, evidence)
      expect(first.lines).toEqual([])
      expect(first.nesting).toEqual(evidence.nesting)
      const waitingGroups = new Set(first.waitingGroups)
      const next = inputs.directory === directory ? hiddenOutside : hidden
      const second = proved(next, { nesting: first.nesting, waitingGroups })
      expect(second.lines).toEqual([])
      expect(second.guards).toEqual(['nested-group-absent for a person'])
      expect(second.waitingGroups).toEqual(waiting)
    })

    test('and is forgotten outside of the filter after an approval', () => {
      const { findings } = proved(hiddenOutside, { nesting: outside.nesting })
      const approved = new Set(findings[0]?.changes)
      const after = proved(hiddenOutside, { nesting: outside.nesting, approved })
      expect(after.lines).toEqual(['set-members g'])
      expect(after.nesting).toEqual(nestingOf({}))
    })
  })
})

describe('where no group lists a member any more', () => {
  const read = sourceOf(
    everybody.map((id) => wantUser(id)),
    [wantGroup('g', 'Everybody', []), wantGroup('few', 'Few', [])],
    { lists: listsOf({}, { withMembers: 0 }) },
  )

  test('every group keeps its members until an approval', () => {
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

test('a user who was deleted within a day is not created again without an approval', () => {
  const inputs = inputsOf(readOf([...everybody, 'back', 'new']))
  const deletedLastDay = { user: new Set(['back']), group: new Set<string>() }
  const { lines, guards, findings, plan } = proved(inputs, { deletedLastDay })
  expect(lines).toEqual(['create-user new', 'set-members g'])
  expect([...plan.changes].at(-1)?.change).toMatchObject({ want: ['new', ...everybody].toSorted() })
  expect(guards).toEqual(['reborn for a better-read'])
  const approved = new Set(findings[0]?.changes)
  expect(proved(inputs, { deletedLastDay, approved }).lines).toContain('create-user back')
})

describe('where only new entries and members may be written', () => {
  const waits = { allButNew: LACKS }

  test('updates, deletes and removals wait, each with its name', () => {
    const renamed = { ...readOf([...OTHERS, 's1', 'new'], ['o1', 'new']) }
    const users = new Map([...renamed.users, ['o2', wantUser('o2', 'Renamed')] as const])
    const { lines, plan } = proved(inputsOf({ ...renamed, users }, { waits }))
    expect(lines).toEqual(['create-user new', 'set-members g'])
    expect([...plan.changes][1]?.change).toMatchObject({ want: ['new', ...everybody].toSorted() })
    expect(plan.notices.map(({ code, id }) => `${code} ${id}`)).toEqual(
      ['o2', 's2', 's3', 's4', 's5'].map((id) => `unproved ${id}`),
    )
  })

  test('no user gets an e-mail whose owner gets another one in the source', () => {
    const users = [
      wantUser('o1', 'Name o1', 'other@example.org'),
      wantUser('taker', 'Taker', 'o1@example.org'),
    ]
    const { plan } = proved(inputsOf(sourceOf(users, []), { waits }))
    expect([...plan.changes].map(({ change }) => change)).toMatchObject([
      { id: 'taker', want: { name: 'Taker' } },
    ])
    expect([...plan.changes][0]?.change).not.toHaveProperty('want.email')
  })
})

function noticeOf(op: 'create-user' | 'delete-user', id: string) {
  return { kind: 'user', id, params: { op, name: `Name ${id}`, email: `${id}@example.org` } }
}

test('where nothing may be written, every change is named with the reason, and nothing is asked', () => {
  const read = readOf([...OTHERS, 'new'], ['o1', 'new'])
  const inputs = inputsOf(read, { waits: { everything: LACKS } })
  const waitingGroups = new Set(['few'])
  const { lines, guards, plan, ...kept } = proved(inputs, { baselines: before, waitingGroups })
  expect(lines).toEqual([])
  expect(guards).toEqual([])
  expect(kept.waitingGroups).toEqual(['few'])
  const group = {
    kind: 'group',
    id: 'g',
    params: { op: 'set-members', name: 'Everybody', added: 0, removed: 1 },
  }
  const unproved = [noticeOf('create-user', 'new'), ...SALES.map((id) => noticeOf('delete-user', id)), group]
  expect(plan.notices).toMatchObject(
    unproved.map((each) => ({ ...each, code: 'unproved', params: { ...each.params, wait: LACKS } })),
  )
})

test('a group that is suspected to be hidden keeps its people in the groups around it too, however few', () => {
  const around = { lists: listsOf({ g: {}, few: { nested: ['cn=g'] } }) }
  const source = readOf(everybody, [], around)
  const groups = new Map([...source.groups, ['few', wantGroup('few', 'Few', ['o1'])]])
  const { findings, lines } = proved(inputsOf({ ...source, groups }))
  expect(findings.map(({ params, changes }) => [params, changes.length])).toEqual([
    [{ how: 'no-members', group: 'Everybody', had: 7, reason: null }, 2],
  ])
  expect(lines).toEqual([])
})

/** The list with this DN has no member in the attribute any more, so the group Everybody would lose members. */
function silentList(list: string, attribute: string, why: string, removals: number) {
  const groups = examplesOf(['Everybody'])
  return { how: 'attribute-empty', list, attributes: [attribute], why, removals, groups }
}

describe('a group that lists members in several attributes', () => {
  const memberLists = new Map([
    ['g', ['member', 'memberUid']],
    ['few', ['member']],
    ['cn=inner,dc=org', ['memberUid']],
  ])
  const INNER = 'cn=inner,dc=org'
  const lists = (
    now: Readonly<Record<string, readonly string[]>>,
    asked = ['member', 'MEMBERUID', 'uniqueMember'],
  ): Partial<SourceSnapshot> => {
    const spelled = (names: readonly string[]) =>
      asked.filter((name) => names.some((each) => each.toLowerCase() === name.toLowerCase()))
    const shown = ({ g = [], few = [], [INNER]: inner = [] }: typeof now) => ({
      g: { shown: spelled(g), nested: [INNER] },
      few: { shown: spelled(few) },
      [INNER]: { shown: spelled(inner) },
    })
    return { lists: listsOf(shown(now), { asked, read: asked }) }
  }
  const SILENT = lists({ g: ['member'], few: ['memberUid'], [INNER]: ['memberUid'] })

  test('keeps its members while one of them is silent that was not', () => {
    const { guards, findings, lines, ...kept } = proved(inputsOf(readOf(everybody, OTHERS, SILENT)), {
      memberLists,
    })
    expect(guards).toEqual(['group-emptied for a person'])
    expect(findings[0]?.params).toEqual(silentList('cn=g', 'memberUid', 'not-shown', 5))
    expect([lines, kept.waitingGroups]).toEqual([[], ['g']])
    expect(kept.memberLists.get('g')).toEqual(['member', 'memberUid'])
  })

  test('keeps them while a group within it is silent', () => {
    const inner = lists({ g: ['member', 'memberUid'], few: ['memberUid'], 'cn=inner,dc=org': ['member'] })
    const { findings } = proved(inputsOf(readOf(everybody, OTHERS, inner)), { memberLists })
    expect(findings[0]?.params).toMatchObject({ list: 'cn=inner,dc=org', attributes: ['memberUid'] })
  })

  test('keeps even one where no group shows the attribute any more', () => {
    const gone = lists({ g: ['member'], few: ['member'], 'cn=inner,dc=org': ['member'] })
    const but = everybody.slice(1)
    expect(proved(inputsOf(readOf(everybody, but, gone)), { memberLists }).findings[0]?.params).toEqual(
      silentList('cn=g', 'memberUid', 'not-shown-by-any-group', 1),
    )
    expect(proved(inputsOf(readOf(everybody, but, SILENT)), { memberLists }).findings).toEqual([])
  })

  test('keeps even one where another attribute is silent too, which other groups still show', () => {
    const three = new Map([...memberLists, ['g', ['member', 'memberUid', 'uniqueMember']]])
    const now = lists({ g: ['member'], few: ['memberUid'], 'cn=inner,dc=org': ['memberUid'] })
    const { findings, lines } = proved(inputsOf(readOf(everybody, everybody.slice(1), now)), {
      memberLists: three,
    })
    expect(findings[0]?.params).toEqual(silentList('cn=g', 'uniqueMember', 'not-shown-by-any-group', 1))
    expect(lines).toEqual([])
  })

  test.each([
    ['of several', ['member', 'uniqueMember'], { g: ['member'], few: ['uniqueMember'] }],
    ['of two', ['member'], {}],
  ])('keeps even one where the configuration does not name one %s any more', (_, asked, now) => {
    const read = lists(now, asked)
    const inputs = inputsOf(readOf(everybody, everybody.slice(1), read))
    const { findings, lines, ...kept } = proved(inputs, { memberLists })
    expect(findings.map(({ params }) => params)).toEqual([
      silentList('cn=g', 'memberUid', 'not-read', 1),
      silentList('cn=inner,dc=org', 'memberUid', 'not-read', 1),
    ])
    expect([lines, kept.memberLists.get('g')]).toEqual([[], ['member', 'memberUid']])
    const approved = new Set(findings.flatMap(({ changes }) => changes))
    const decided = proved(inputs, { memberLists, approved })
    expect([decided.lines, decided.memberLists.get('g')]).toEqual([
      ['set-members g'],
      asked.length > 1 ? ['member'] : undefined,
    ])
  })

  test('loses them where every list is there, where a person approved it, or where nothing is known', () => {
    const shown = lists(Object.fromEntries(memberLists))
    expect(proved(inputsOf(readOf(everybody, OTHERS, shown)), { memberLists }).lines).toEqual([
      'set-members g',
    ])
    const silent = inputsOf(readOf(everybody, OTHERS, SILENT))
    const approved = new Set(proved(silent, { memberLists }).findings[0]?.changes)
    const decided = proved(silent, { memberLists, approved })
    expect([decided.lines, decided.memberLists.get('g')]).toEqual([['set-members g'], ['member']])
    expect(proved(silent).lines).toEqual(['set-members g'])
  })

  const whole = readOf(everybody, OTHERS, SILENT)
  const rules = { policy: 'mirror', membership: 'write', allowedDomains: [] } as const
  const leftOut = { ...rules, entries: { groups: { exclude: ['g'] } } }
  const unwritten = { ...whole, groups: new Map([...whole.groups].filter(([id]) => id !== 'g')) }
  const uncovered = { ...whole, covers: { groups: true, members: false } }

  test.each([
    ['the sync leaves the group out', inputsOf(whole, { rules: leftOut })],
    ['the source shows it and cannot write it', inputsOf(unwritten)],
    ['no members are read', inputsOf(uncovered)],
    ['no members are written', inputsOf(whole, { rules: { ...rules, membership: 'off' } })],
    ['members are reported only', inputsOf(whole, { rules: { ...rules, membership: 'report' } })],
    ['nothing is deleted', inputsOf(whole, { rules: { ...rules, policy: 'upsert' } })],
  ])('is known as it was, and waits as it did, after a run in which %s', (_, inputs) => {
    const { lines, ...kept } = proved(inputs, { memberLists, waitingGroups: new Set(['g']) })
    expect(lines).toEqual([])
    expect([kept.memberLists.get('g'), kept.waitingGroups]).toEqual([['member', 'memberUid'], ['g']])
  })

  test('names the attributes of all its members where the configuration does not read them any more', () => {
    const read = lists({}, ['uniqueMember'])
    const reason = { code: 'attribute-not-read', params: { attributes: ['member', 'memberUid'] } }
    expect(proved(inputsOf(readOf(everybody, [], read)), { memberLists }).findings[0]?.params).toEqual({
      how: 'no-members',
      group: 'Everybody',
      had: 7,
      reason,
    })
  })
})
