import { describe, expect, test } from 'vitest'
import { fingerprint } from '../../../src/plan/change.ts'
import type { Policy } from '../../../src/plan/policy.ts'
import {
  directoryOf,
  haveGroup,
  haveUser,
  linesOf,
  noticesOf,
  planOf,
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
    expect(plan.changes[1]?.change).toMatchObject({ want: { name: 'Ana Novak' } })
  })

  test('only the fields that differ are written', () => {
    const plan = planOf(
      sourceOf([wantUser('a', 'Ana', 'ana@new.example')]),
      directoryOf([haveUser('a', 'Ana', 'ana@old.example')]),
    )
    expect(plan.changes[0]?.change).toMatchObject({ want: { email: 'ana@new.example' } })
    expect(plan.changes[0]?.change).not.toHaveProperty('want.name')
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
    expect(planOf(sourceOf([want]), directoryOf([have])).changes).toEqual([])
  })

  test('a value that the source lacks is kept and counted, and never cleared', () => {
    const plan = planOf(
      sourceOf([{ ...wantUser('a', 'Ana'), email: undefined }]),
      directoryOf([haveUser('a', 'Ana')]),
    )
    expect(plan.changes).toEqual([])
    expect(noticesOf(plan)).toEqual(['value-kept a'])
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
    expect(plan.changes).toEqual([])
    expect(noticesOf(plan)).toEqual(['email-not-allowed a', 'email-not-allowed new'])
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
    expect(planOf(source, directoryOf([haveUser('double')])).changes).toEqual([])
  })

  test('an entry that the directory has twice under one id', () => {
    const twice = { kind: 'user', id: 'a', code: 'unaddressable', detail: 'is there twice' } as const
    const plan = planOf(sourceOf([]), directoryOf([haveUser('a')], [], { notices: [twice] }))
    expect(plan.changes).toEqual([])
    expect(noticesOf(plan)).toEqual(['unaddressable a'])
  })

  test('a group or a member, by a source that is not asked for them', () => {
    const directory = directoryOf([haveUser('a')], [haveGroup('g', 'G', ['a'])])
    const usersOnly = sourceOf([wantUser('a')], [], { covers: { groups: false, members: false } })
    expect(planOf(usersOnly, directory)).toMatchObject({ changes: [], notices: [] })
    const withoutMembers = { covers: { groups: true, members: false } }
    expect(
      planOf(sourceOf([wantUser('a')], [wantGroup('g', 'G')], withoutMembers), directory).changes,
    ).toEqual([])
  })

  test('an entry that the second look finds', () => {
    const plan = planOf(sourceOf([]), directoryOf([haveUser('a'), haveUser('b')]), {
      sightings: { user: new Map([['a', 'present']]), group: new Map() },
    })
    expect(plan.changes).toEqual([])
    expect(noticesOf(plan)).toEqual(['seen-again a', 'seen-again b'])
  })

  test('anything at all while an entry of the source could not be read', () => {
    const source = sourceOf([wantUser('new')], [], { unreadable: 1 })
    const plan = planOf(source, directoryOf([haveUser('a')], [haveGroup('g', 'G', ['a'])]))
    expect(linesOf(plan)).toEqual(['create-user new'])
    expect(noticesOf(plan)).toEqual(['kept-unproved a', 'kept-unproved g'])
  })

  test('a member of a group, while an entry of the source could not be read', () => {
    const source = sourceOf([wantUser('a')], [wantGroup('g', 'G', [])], { unreadable: 1 })
    expect(planOf(source, directoryOf([haveUser('a')], [haveGroup('g', 'G', ['a'])])).changes).toEqual([])
  })
})

describe('the reason of a delete', () => {
  test('"gone", "left the filter" and "disabled" stand apart', () => {
    const plan = planOf(sourceOf([]), directoryOf([haveUser('a'), haveUser('b'), haveUser('c')]), {
      sightings: {
        user: new Map([
          ['a', 'gone'],
          ['b', 'left-filter'],
          ['c', 'disabled'],
        ]),
        group: new Map(),
      },
    })
    expect(plan.changes.map(({ change }) => ('why' in change ? change.why : undefined))).toEqual([
      'gone',
      'left-filter',
      'disabled',
    ])
  })
})

describe('policy', () => {
  const source = sourceOf([wantUser('new'), wantUser('a', 'Renamed')], [wantGroup('g', 'G', ['new'])])
  const directory = directoryOf([haveUser('a'), haveUser('left')], [haveGroup('g', 'G', ['a'])])

  test.each<[Policy, string[]]>([
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
    expect(plan.changes.at(-1)?.change).toMatchObject({ want: ['a', 'new'] })
  })
})

describe('order', () => {
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
    expect(plan.changes.at(-1)?.change).toMatchObject({ op: 'set-members', want: ['a'] })
  })

  test('a user who is deleted leaves its groups without a change of their own', () => {
    const plan = planOf(
      sourceOf([wantUser('a')], [wantGroup('g', 'G', ['a'])]),
      directoryOf([haveUser('a'), haveUser('left')], [haveGroup('g', 'G', ['a', 'left'])]),
    )
    expect(linesOf(plan)).toEqual(['delete-user left'])
  })

  test('a user whose deletion was rejected stays a member', () => {
    const left = { op: 'delete-user', id: 'left', have: haveUser('left'), why: 'gone' } as const
    const plan = planOf(
      sourceOf([wantUser('a')], [wantGroup('g', 'G', ['a'])]),
      directoryOf([haveUser('a'), haveUser('left')], [haveGroup('g', 'G', ['a', 'left'])]),
      { withheld: new Map([[fingerprint(left), { code: 'rejected', detail: 'rejected by root' }]]) },
    )
    expect(plan.changes).toEqual([])
    expect(noticesOf(plan)).toEqual(['rejected left'])
    expect(plan.withheld).toEqual([fingerprint(left)])
  })

  test('are only told of with membership: report', () => {
    const rules = { policy: 'mirror', membership: 'report', allowedDomains: [] } as const
    const plan = planOf(
      sourceOf([wantUser('a')], [wantGroup('g', 'G', ['a'])]),
      directoryOf([haveUser('a')], [haveGroup('g', 'G')]),
      { rules },
    )
    expect(plan.changes).toEqual([])
    expect(noticesOf(plan)).toEqual(['membership-differs g'])
  })
})

test('a run that is limited to some entries leaves the others alone', () => {
  const plan = planOf(
    sourceOf([wantUser('a'), wantUser('b')], [wantGroup('g', 'G', ['a'])]),
    directoryOf([haveUser('left')]),
    { only: { users: ['a'], groups: [] } },
  )
  expect(linesOf(plan)).toEqual(['create-user a'])
})
