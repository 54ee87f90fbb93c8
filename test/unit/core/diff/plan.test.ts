import { describe, expect, test } from 'vitest'
import { type Change, fingerprint } from '../../../../src/core/plan/change.ts'
import type { DiffRules } from '../../../../src/core/diff/rules.ts'
import { examplesOf } from '../../../../src/core/notice.ts'
import { idsOf } from '../../../../src/core/within.ts'
import {
  blockedOf,
  directoryOf,
  haveGroup,
  haveUser,
  linesOf,
  noticesOf,
  planOf,
  refusing,
  rejecting,
  sourceOf,
  wantGroup,
  wantUser,
} from './build.ts'

describe('users', () => {
  test('who is only in the source is created, who is only in the directory is deleted, who differs is updated', () => {
    const plan = planOf(
      sourceOf([wantUser('new'), wantUser('same'), wantUser('renamed', 'Ana Novak')]),
      directoryOf([haveUser('same'), haveUser('renamed', 'Ana Horvat'), haveUser('left')]),
    )
    expect(linesOf(plan)).toEqual(['create-user new', 'update-user renamed', 'delete-user left'])
    expect(plan.unchanged).toBe(1)
    expect([...plan.changes][1]?.change).toMatchObject({ want: { name: 'Ana Novak' } })
  })

  test.each(['write', 'report'] as const)(
    'a group with other members is not unchanged (%s)',
    (membership) => {
      const both = [haveUser('a'), haveUser('b')]
      const plan = planOf(
        sourceOf(
          [wantUser('a'), wantUser('b')],
          [wantGroup('g', 'G', ['a']), wantGroup('same', 'Same', ['b'])],
        ),
        directoryOf(both, [haveGroup('g', 'G', ['a', 'b']), haveGroup('same', 'Same', ['b'])]),
        { rules: { policy: 'mirror', membership, allowedDomains: [] } },
      )
      expect(plan.unchanged).toBe(3)
    },
  )

  test('of whom something is noticed, and nothing is written, is unchanged; who is not there is not', () => {
    const shared = 'shared@example.org'
    const source = sourceOf([
      wantUser('a', 'Ana', shared),
      wantUser('b', 'Bo', shared),
      wantUser('c', 'Cy', 'cy'),
    ])
    const plan = planOf(source, directoryOf([haveUser('a', 'Ana', shared), haveUser('b', 'Bo', null)]), {
      rules: { policy: 'mirror', membership: 'write', allowedDomains: ['example.org'] },
    })
    expect(noticesOf(plan)).toEqual(['duplicate-email b', 'email-not-allowed c'])
    expect([plan.changes.length, plan.unchanged]).toEqual([0, 2])
  })

  test('only the fields that differ are written', () => {
    const plan = planOf(
      sourceOf([wantUser('a', 'Ana', 'ana@new.example')]),
      directoryOf([haveUser('a', 'Ana', 'ana@old.example')]),
    )
    expect([...plan.changes][0]?.change).toMatchObject({ want: { email: 'ana@new.example' } })
    expect([...plan.changes][0]?.change).not.toHaveProperty('want.name')
  })

  test.each([
    [
      'upper case in the e-mail',
      wantUser('a', 'Ana', 'ANA@Example.org'),
      haveUser('a', 'Ana', 'ana@example.org'),
    ],
    [
      'blanks around the e-mail',
      wantUser('a', 'Ana', ' ana@example.org '),
      haveUser('a', 'Ana', 'ana@example.org'),
    ],
    ['another Unicode form of the name', wantUser('a', 'Zoe\u0308'), haveUser('a', 'Zo\u00eb')],
  ])('%s is no difference', (_case, want, have) => {
    expect([...planOf(sourceOf([want]), directoryOf([have])).changes]).toEqual([])
  })

  test('a value that the source lacks is kept and counted, and never cleared', () => {
    const plan = planOf(
      sourceOf([{ ...wantUser('a', 'Ana'), email: undefined }]),
      directoryOf([haveUser('a', 'Ana')]),
    )
    expect([...plan.changes]).toEqual([])
    expect(noticesOf(plan)).toEqual(['value-kept a'])
  })

  test.each<[string, readonly string[], readonly string[], { examples: readonly string[]; total: number }[]]>(
    [
      ['all of them leave', ['x', 'y'], ['x', 'y'], []],
      ['more leave than are named', ['u', 'v', 'w', 'x', 'y'], ['u', 'v', 'w', 'x', 'y'], []],
      ['one of them leaves', ['u', 'x'], ['x'], [{ examples: ['u'], total: 1 }]],
      ['some of many leave', ['u', 'v', 'w', 'x', 'y'], ['u', 'v', 'w', 'x'], [{ examples: [], total: 1 }]],
      ['none leaves', ['u'], ['x'], [{ examples: ['u'], total: 1 }]],
    ],
  )('of unknown members, those who leave in the same run are none: %s', (_, unknown, leavers, left) => {
    const params = { from: 'cn=g', ...examplesOf(unknown), groups: 0, shared: examplesOf([]) }
    const plan = planOf(
      sourceOf([wantUser('a')], [wantGroup('g', 'G', ['a'])], {
        notices: [{ kind: 'group', id: 'g', code: 'unknown-members', params }],
      }),
      directoryOf(
        [haveUser('a'), ...leavers.map((id) => haveUser(id))],
        [haveGroup('g', 'G', ['a', ...leavers])],
      ),
    )
    expect(plan.notices).toMatchObject(left.map((each) => ({ code: 'unknown-members', params: each })))
  })

  test('an e-mail outside the allowed domains skips the user, who is never deleted for it', () => {
    const rules = { policy: 'mirror', membership: 'off', allowedDomains: ['example.org'] } as const
    const plan = planOf(
      sourceOf([
        wantUser('new', 'New', 'new@elsewhere.example'),
        wantUser('a', 'Other', 'a@elsewhere.example'),
      ]),
      directoryOf([haveUser('a')]),
      { rules },
    )
    expect([...plan.changes]).toEqual([])
    expect(noticesOf(plan)).toEqual(['email-not-allowed a', 'email-not-allowed new'])
  })

  test.each([
    ['new@elsewhere.example', 'other-domain'],
    ['new', 'no-address'],
    ['New <new@example.org>', 'no-address'],
  ])('the e-mail %s is not allowed: %s', (email, why) => {
    const rules = { policy: 'mirror', membership: 'off', allowedDomains: ['example.org'] } as const
    const plan = planOf(sourceOf([wantUser('new', 'New', email)]), directoryOf([]), { rules })
    const params = { email, why, from: 'uid=new' }
    expect(plan.notices).toEqual([{ kind: 'user', id: 'new', code: 'email-not-allowed', params }])
  })

  test.each([
    ['of another domain', 'new@elsewhere.example', ['example.org'], 'other-domain'],
    ['that is no address', 'new example.org', [], 'no-address'],
    ['that is no address of the domain', 'n w@example.org', ['example.org'], 'no-address'],
  ])(
    'an e-mail %s is dropped where that is wanted, and the rest is written',
    (_case, email, allowed, why) => {
      const rules = {
        policy: 'mirror',
        membership: 'off',
        allowedDomains: allowed,
        dropBadEmails: true,
      } as const
      const plan = planOf(
        sourceOf([
          wantUser('new', 'New', email),
          wantUser('a', 'Other', email),
          wantUser('b', 'Ben', email),
          wantUser('c', 'Cy', 'c@Example.org'),
        ]),
        directoryOf([haveUser('a', 'Ana', 'a@example.org'), { ...haveUser('b', 'Ben'), email }]),
        { rules },
      )
      expect([...plan.changes].map(({ change }) => change)).toMatchObject([
        { op: 'create-user', id: 'c', want: { email: 'c@Example.org' } },
        { op: 'create-user', id: 'new', want: { name: 'New' } },
        { op: 'update-user', id: 'a', want: { name: 'Other' } },
      ])
      const written = [...plan.changes].map(({ change }) => JSON.stringify('want' in change && change.want))
      expect(written.filter((values) => values.includes(email))).toEqual([])
      expect(plan.notices).toMatchObject([
        { id: 'a', code: 'email-dropped', params: { email, why, from: 'uid=a', isKept: true } },
        { id: 'new', code: 'email-dropped', params: { email, why, from: 'uid=new', isKept: false } },
      ])
    },
  )

  test('whoever is left with another e-mail than the dropped one still owns it', () => {
    const rules = { policy: 'mirror', membership: 'off', allowedDomains: [], dropBadEmails: true } as const
    const plan = planOf(
      sourceOf([wantUser('a', 'Ana', 'broken'), wantUser('b', 'Ben', 'a@example.org')]),
      directoryOf([haveUser('a', 'Ana', 'a@example.org')]),
      { rules },
    )
    expect([...plan.changes].map(({ change }) => change)).toEqual([
      { op: 'create-user', id: 'b', want: { name: 'Ben' } },
    ])
    expect(noticesOf(plan)).toEqual(['email-dropped a', 'duplicate-email b'])
  })

  test('a name that the source lacks is kept, too', () => {
    const plan = planOf(
      sourceOf([{ ...wantUser('a', 'Ana', 'new@example.org'), name: undefined }]),
      directoryOf([haveUser('a', 'Ana')]),
    )
    expect([...plan.changes].map(({ change }) => change)).toMatchObject([
      { want: { email: 'new@example.org' } },
    ])
    expect([...plan.changes][0]?.change).not.toHaveProperty('want.name')
    expect(noticesOf(plan)).toEqual(['value-kept a'])
  })

  test.each([
    ['new@example.org', true],
    ['new@EXAMPLE.ORG', true],
    ['new@evil-example.org', false],
    ['new@sub.example.org', false],
    ['"new@example.org"@elsewhere.example', false],
    ['"new@elsewhere.example"@example.org', true],
  ])('the e-mail %s is in the domain Example.org: %s', (email, isAllowed) => {
    const rules = { policy: 'mirror', membership: 'off', allowedDomains: ['Example.org'] } as const
    const plan = planOf(sourceOf([wantUser('new', 'New', email)]), directoryOf([]), { rules })
    expect(linesOf(plan)).toEqual(isAllowed ? ['create-user new'] : [])
    expect(noticesOf(plan)).toEqual(isAllowed ? [] : ['email-not-allowed new'])
  })

  test('an e-mail that the directory shows already may stay, whatever its domain', () => {
    const rules = { policy: 'mirror', membership: 'off', allowedDomains: ['example.org'] } as const
    const plan = planOf(
      sourceOf([wantUser('a', 'Renamed', 'A@elsewhere.example')]),
      directoryOf([haveUser('a', 'Ana', 'a@elsewhere.example')]),
      { rules },
    )
    expect([...plan.changes].map(({ change }) => ('want' in change ? change.want : undefined))).toEqual([
      { name: 'Renamed' },
    ])
    expect(plan.notices).toEqual([])
  })

  test('the employee id is sent when the user is created, and never later', () => {
    const numbered = { ...wantUser('a'), employeeId: '007' }
    const [created] = planOf(sourceOf([numbered]), directoryOf([])).changes
    expect(created?.change).toMatchObject({ op: 'create-user', want: { employeeId: '007' } })
    expect([...planOf(sourceOf([numbered]), directoryOf([haveUser('a')])).changes]).toEqual([])
  })

  test('ids are compared byte for byte', () => {
    const plan = planOf(sourceOf([wantUser('Ana', 'Ana', 'new@example.org')]), directoryOf([haveUser('ana')]))
    expect(linesOf(plan)).toEqual(['create-user Ana', 'delete-user ana'])
  })

  test('an id that names a property of every object is an id like others', () => {
    const plan = planOf(sourceOf([wantUser('__proto__'), wantUser('constructor')]), directoryOf([]))
    expect(linesOf(plan)).toEqual(['create-user __proto__', 'create-user constructor'])
  })
})

describe('what is never deleted', () => {
  test('an entry whose id was seen but that was skipped', () => {
    const source = sourceOf([], [], { seen: { user: new Set(['double']), group: new Set() } })
    expect([...planOf(source, directoryOf([haveUser('double')])).changes]).toEqual([])
  })

  test('a group whose id was seen but that was skipped', () => {
    const seen = { user: new Set<string>(), group: new Set(['nameless']) }
    const plan = planOf(sourceOf([], [], { seen }), directoryOf([], [haveGroup('nameless', 'G')]))
    expect([...plan.changes]).toEqual([])
  })

  test('a group that the directory has twice under one id', () => {
    const twice = { kind: 'group', id: 'g', code: 'shared-id', params: { ownIds: [] } } as const
    const directory = directoryOf([haveUser('g')], [haveGroup('g', 'G')], { notices: [twice] })
    expect(linesOf(planOf(sourceOf([]), directory))).toEqual(['delete-user g'])
  })

  test('an entry that the directory has twice under one id', () => {
    const twice = { kind: 'user', id: 'a', code: 'shared-id', params: { ownIds: [] } } as const
    const plan = planOf(sourceOf([]), directoryOf([haveUser('a')], [], { notices: [twice] }))
    expect([...plan.changes]).toEqual([])
    expect(noticesOf(plan)).toEqual(['shared-id a'])
  })

  test('a group or a member, by a source that is not asked for them', () => {
    const directory = directoryOf([haveUser('a')], [haveGroup('g', 'G', ['a'])])
    const usersOnly = sourceOf([wantUser('a')], [], { covers: { groups: false, members: false } })
    const plan = planOf(usersOnly, directory)
    expect([...plan.changes]).toEqual([])
    expect(plan.notices).toEqual([])
    const withoutMembers = { covers: { groups: true, members: false } }
    expect([
      ...planOf(sourceOf([wantUser('a')], [wantGroup('g', 'G')], withoutMembers), directory).changes,
    ]).toEqual([])
  })

  test('an entry that the second look finds', () => {
    const plan = planOf(sourceOf([]), directoryOf([haveUser('a'), haveUser('b')]), {
      sightings: { user: new Map([['a', 'present']]), group: new Map() },
    })
    expect([...plan.changes]).toEqual([])
    expect(blockedOf(plan)).toEqual(['delete-user a: seen-again', 'delete-user b: seen-again'])
  })

  test('anything at all while an entry of the source could not be read', () => {
    const source = sourceOf([wantUser('new')], [], { unreadable: 1 })
    const plan = planOf(source, directoryOf([haveUser('a')], [haveGroup('g', 'G', ['a'])]))
    expect(linesOf(plan)).toEqual(['create-user new'])
    expect(blockedOf(plan)).toEqual(['delete-group g: unreadable', 'delete-user a: unreadable'])
  })

  test('a member of a group, while an entry of the source could not be read', () => {
    const source = sourceOf([wantUser('a')], [wantGroup('g', 'G', [])], { unreadable: 1 })
    expect([...planOf(source, directoryOf([haveUser('a')], [haveGroup('g', 'G', ['a'])])).changes]).toEqual(
      [],
    )
  })
})

describe('the reason of a delete', () => {
  test('"gone", "left the filter" and "disabled" stand apart', () => {
    const plan = planOf(sourceOf([]), directoryOf([haveUser('a'), haveUser('b'), haveUser('c')]), {
      sightings: {
        user: new Map([
          ['a', 'absent'],
          ['b', 'out-of-scope'],
          ['c', 'disabled'],
        ]),
        group: new Map(),
      },
    })
    expect([...plan.changes].map(({ change }) => ('why' in change ? change.why : undefined))).toEqual([
      'gone',
      'left-filter',
      'disabled',
    ])
  })
})

describe('policy', () => {
  const source = sourceOf([wantUser('new'), wantUser('a', 'Renamed')], [wantGroup('g', 'G', ['new'])])
  const directory = directoryOf([haveUser('a'), haveUser('left')], [haveGroup('g', 'G', ['a'])])

  test.each<[DiffRules['policy'], string[]]>([
    ['mirror', ['create-user new', 'update-user a', 'set-members g', 'delete-user left']],
    ['upsert', ['create-user new', 'update-user a', 'set-members g']],
    ['create-only', ['create-user new']],
  ])('%s', (policy, expected) => {
    const rules = { policy, membership: 'write', allowedDomains: [] } as const
    expect(linesOf(planOf(source, directory, { rules }))).toEqual(expected)
  })

  test('upsert adds members and takes nobody out', () => {
    const rules = { policy: 'upsert', membership: 'write', allowedDomains: [] } as const
    const plan = planOf(source, directory, { rules })
    expect([...plan.changes].at(-1)?.change).toMatchObject({ want: ['a', 'new'] })
  })
})

describe('order', () => {
  test('within a phase is that of the ids by code unit', () => {
    const plan = planOf(sourceOf(['b', 'ä', 'a', 'B', 'Z'].map((id) => wantUser(id))), directoryOf([]))
    expect([...plan.changes].map(({ change }) => change.id)).toEqual(['B', 'Z', 'a', 'b', 'ä'])
  })

  test('a deletion that frees an e-mail which somebody else gets comes first, the others last', () => {
    const plan = planOf(
      sourceOf([wantUser('rehired', 'Ana', 'ana@example.org'), wantUser('m')], [wantGroup('g', 'G', ['m'])]),
      directoryOf(
        [haveUser('ana-old', 'Ana', 'Ana@example.org'), haveUser('left')],
        [haveGroup('old', 'Old')],
      ),
    )
    expect(linesOf(plan)).toEqual([
      'delete-user ana-old',
      'create-user m',
      'create-user rehired',
      'create-group g',
      'set-members g',
      'delete-group old',
      'delete-user left',
    ])
  })
})

describe('members', () => {
  test('a member who is not in the directory afterwards is left out', () => {
    const plan = planOf(sourceOf([wantUser('a')], [wantGroup('g', 'G', ['a', 'ghost'])]), directoryOf([]))
    expect([...plan.changes].at(-1)?.change).toMatchObject({ op: 'set-members', want: ['a'] })
  })

  test('a member that both sides list is no difference, whoever it is', () => {
    const plan = planOf(
      sourceOf([wantUser('a')], [wantGroup('g', 'G', ['a', 'ghost'])]),
      directoryOf([haveUser('a')], [haveGroup('g', 'G', ['a', 'ghost'])]),
    )
    expect(linesOf(plan)).toEqual([])
  })

  test('a member whom the list of the directory does not show stays where the source has it, created or not', () => {
    const sides = [
      sourceOf([wantUser('a'), wantUser('b')], [wantGroup('g', 'G', ['a', 'b'])]),
      directoryOf([haveUser('a')], [haveGroup('g', 'G', ['a', 'b'])]),
    ] as const
    const [first] = planOf(...sides).changes
    expect(first).toMatchObject({ change: { op: 'create-user', id: 'b' } })
    expect(linesOf(planOf(...sides, refusing([first!])))).toEqual([])
  })

  test('a user who is deleted leaves its groups without a change of their own', () => {
    const plan = planOf(
      sourceOf([wantUser('a')], [wantGroup('g', 'G', ['a'])]),
      directoryOf([haveUser('a'), haveUser('left')], [haveGroup('g', 'G', ['a', 'left'])]),
    )
    expect(linesOf(plan)).toEqual(['delete-user left'])
  })

  test('a user whose delete was rejected stays a member', () => {
    const plan = planOf(
      sourceOf([wantUser('a')], [wantGroup('g', 'G', ['a'])]),
      directoryOf([haveUser('a'), haveUser('left')], [haveGroup('g', 'G', ['a', 'left'])]),
      rejecting([['user', 'left', 'delete']]),
    )
    expect([...plan.changes]).toEqual([])
    expect(blockedOf(plan)).toEqual(['delete-user left: rejected'])
  })

  test('are left alone with membership: off', () => {
    const rules = { policy: 'mirror', membership: 'off', allowedDomains: [] } as const
    const plan = planOf(
      sourceOf([wantUser('a')], [wantGroup('g', 'G', ['a']), wantGroup('new', 'New', ['a'])]),
      directoryOf([haveUser('a')], [haveGroup('g', 'G')]),
      { rules },
    )
    expect(linesOf(plan)).toEqual(['create-group new'])
    expect(plan.notices).toEqual([])
  })

  test('who are in the source and cannot be used are not taken out', () => {
    const seen = { user: new Set(['a', 'double']), group: new Set(['g']) }
    const plan = planOf(
      sourceOf([wantUser('a')], [wantGroup('g', 'G', ['a'])], { seen }),
      directoryOf([haveUser('a'), haveUser('double')], [haveGroup('g', 'G', ['a', 'double'])]),
    )
    expect([...plan.changes]).toEqual([])
  })

  test('stand once in the list, where nobody is taken out, too', () => {
    const rules = { policy: 'upsert', membership: 'write', allowedDomains: [] } as const
    const plan = planOf(
      sourceOf([wantUser('a'), wantUser('b')], [wantGroup('g', 'G', ['a', 'b'])]),
      directoryOf([haveUser('a'), haveUser('b')], [haveGroup('g', 'G', ['a'])]),
      { rules },
    )
    expect([...plan.changes].map(({ change }) => change)).toMatchObject([
      { op: 'set-members', want: ['a', 'b'] },
    ])
  })

  test('are only told of with membership: report', () => {
    const rules = { policy: 'mirror', membership: 'report', allowedDomains: [] } as const
    const plan = planOf(
      sourceOf([wantUser('a')], [wantGroup('g', 'G', ['a'])]),
      directoryOf([haveUser('a')], [haveGroup('g', 'G')]),
      { rules },
    )
    expect([...plan.changes]).toEqual([])
    expect(noticesOf(plan)).toEqual(['membership-differs g'])
  })
})

describe('groups', () => {
  test('another Unicode form of the name and blanks around it are no difference', () => {
    const want = [wantGroup('g', ' Zoe\u0308s Team')]
    expect([
      ...planOf(sourceOf([], want), directoryOf([], [haveGroup('g', 'Zo\u00ebs Team')])).changes,
    ]).toEqual([])
  })

  test.each([
    ['the service refused', [wantGroup('g', 'New')], []],
    ['the service refused', [wantGroup('g', 'G', ['a'])], [haveGroup('g', 'G')]],
    ['an operator rejected', [wantGroup('g', 'New')], [haveGroup('g', 'Old')]],
    ['an operator rejected', [], [haveGroup('g', 'Old')]],
  ] as const)('a change that %s is blocked: %j', (who, want, have) => {
    const source = sourceOf([wantUser('a')], want)
    const directory = directoryOf([haveUser('a')], have)
    const { changes, facts } = planOf(source, directory)
    const isRefused = who === 'the service refused'
    const given = isRefused ? refusing(changes) : rejecting(facts.wanted.keysOf('group', 'g'))
    const plan = planOf(source, directory, given)
    expect([...plan.changes]).toEqual([])
    expect(plan.blocked).toMatchObject([{ codes: [isRefused ? 'quarantine' : 'rejected'] }])
  })
})

describe('a fingerprint', () => {
  const group = { op: 'update-group', id: 'x', have: { name: 'Old' }, want: { name: 'New' } } as const
  const members = { op: 'set-members', id: 'x', name: 'X', have: ['a'], want: ['a', 'b'] } as const
  const user = { op: 'update-user', id: 'x', have: { email: null, name: null } } as const

  test.each<[string, Change, Change]>([
    [
      'a delete of a user and of a group',
      { op: 'delete-user', id: 'x', have: { email: null, name: null, groups: [] }, why: 'gone' },
      { op: 'delete-group', id: 'x', have: { name: 'X', members: [] }, why: 'gone' },
    ],
    ['two users', { ...user, want: { name: 'x' } }, { ...user, id: 'y', want: { name: 'x' } }],
    ['two names of a group', group, { ...group, want: { name: 'Newer' } }],
    ['two lists of members', members, { ...members, want: ['b'] }],
    ['an e-mail and a name', { ...user, want: { email: 'x' } }, { ...user, want: { name: 'x' } }],
  ])('differs for %s', (_case, one, other) => {
    expect(fingerprint(one)).not.toBe(fingerprint(other))
  })

  test.each<[string, Change, Change]>([
    [
      'an e-mail in capital letters',
      { ...user, want: { email: 'a@example.org' } },
      { ...user, want: { email: ' A@Example.org' } },
    ],
    [
      'a name in another Unicode form',
      { ...user, want: { name: 'Zoe\u0308' } },
      { ...user, want: { name: 'Zo\u00eb' } },
    ],
    [
      'the name of a group in another Unicode form',
      { ...group, want: { name: 'Zoe\u0308' } },
      { ...group, want: { name: 'Zo\u00eb' } },
    ],
  ])('is the same for %s', (_case, one, other) => {
    expect(fingerprint(one)).toBe(fingerprint(other))
  })
})

test('what the source says of its entries is in the plan', () => {
  const params = { from: 'row 2', others: { examples: ['row 3'], total: 1 } }
  const notice = { kind: 'user', id: 'a', code: 'duplicate-id', params } as const
  expect(planOf(sourceOf([], [], { notices: [notice] }), directoryOf([])).notices).toEqual([notice])
})

test('a run that is limited to some entries leaves the others alone', () => {
  const plan = planOf(
    sourceOf([wantUser('a'), wantUser('b')], [wantGroup('g', 'G', ['b'])]),
    directoryOf([haveUser('left'), haveUser('b', 'Other')], [haveGroup('g', 'G')]),
    { scope: idsOf({ users: ['a'], groups: [] }) },
  )
  expect(linesOf(plan)).toEqual(['create-user a'])
})

test('a run that is limited to an id that neither side has names it', () => {
  const scope = idsOf({ users: ['a', 'left', 'typo'], groups: ['typo'] })
  const plan = planOf(sourceOf([wantUser('a')], []), directoryOf([haveUser('left')]), { scope })
  expect(noticesOf(plan)).toEqual(['unknown-id typo', 'unknown-id typo'])
})

test('a run that is limited to a user of this id, which is a group, names that', () => {
  const directory = directoryOf([], [haveGroup('staff', 'Staff')])
  const plan = planOf(sourceOf([], []), directory, { scope: idsOf({ users: ['staff'], groups: [] }) })
  expect(plan.notices).toMatchObject([{ params: { similar: null, isOtherKind: true } }])
})

test.each([
  ['{7B1C6D0A-52F4-103E-9A53-2F7C0E4D8C11}', '7b1c6d0a-52f4-103e-9a53-2f7c0e4d8c11'],
  ['LEFT', 'left'],
])('a run that is limited to %s is asked whether %s was meant', (id, meant) => {
  const source = sourceOf([wantUser('7b1c6d0a-52f4-103e-9a53-2f7c0e4d8c11')], [])
  const plan = planOf(source, directoryOf([haveUser('left')]), { scope: idsOf({ users: [id], groups: [] }) })
  expect(plan.notices).toMatchObject([{ id, params: { similar: meant, isOtherKind: false } }])
})
