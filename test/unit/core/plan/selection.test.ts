import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compileSelections, type EntryRules } from '../../../../src/core/plan/selection.ts'
import {
  blockedOf,
  directoryOf,
  haveGroup,
  haveUser,
  linesOf,
  noticesOf,
  planOf,
  sourceOf,
  wantGroup,
  wantUser,
} from '../diff/build.ts'

function rulesWith(entries: EntryRules) {
  return { policy: 'mirror', membership: 'write', allowedDomains: [], entries } as const
}

function matches(pattern: string, id: string): boolean {
  return compileSelections({ users: { exclude: [pattern] } }).user.excludedBy(id, undefined) === 'exclude'
}

describe('patterns', () => {
  test.each([
    ['svc-*', 'svc-', true],
    ['svc-*', 'SVC-1', false],
    ['*-adm', 'a-adm', true],
    ['a*a', 'a', false],
    ['a*b*c', 'a-b-c', true],
    ['a*b*c', 'a-c-b', false],
    ['a*bc*c', 'abc', false],
    ['*', '', true],
    ['a.c', 'abc', false],
    ['[a]?', '[a]?', true],
    ['**a**', 'xay', true],
  ])('%s and %s', (pattern, text, expected) => {
    expect(matches(pattern, text)).toBe(expected)
  })

  test('mean what a regular expression with .* means', () => {
    const texts = fc.string({ unit: fc.constantFrom('a', 'b', '*'), maxLength: 6 })
    const plain = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 8 })
    fc.assert(
      fc.property(texts, plain, (pattern, text) => {
        expect(matches(pattern, text)).toBe(new RegExp(`^${pattern.replaceAll('*', '.*')}$`).test(text))
      }),
      { numRuns: 200 },
    )
  })

  test('cannot be made to run for ever', () => {
    expect(matches(`${'a*'.repeat(5000)}b`, 'a'.repeat(100_000))).toBe(false)
  })
})

describe('excluded entries', () => {
  const source = sourceOf(
    [wantUser('svc-1', 'Renamed'), wantUser('svc-new'), wantUser('a', 'Renamed')],
    [wantGroup('g', 'G', ['a', 'svc-1']), wantGroup('tmp', 'Renamed', ['a'])],
  )
  const directory = directoryOf(
    [haveUser('svc-1'), haveUser('svc-old'), haveUser('a'), haveUser('left')],
    [haveGroup('g', 'G', ['svc-old']), haveGroup('tmp', 'Tmp')],
  )

  test('are neither written nor deleted, keep their memberships, and are named', () => {
    const rules = rulesWith({ users: { exclude: ['svc-*'] }, groups: { exclude: [{ id: 'tmp' }] } })
    const plan = planOf(source, directory, { rules })
    expect(linesOf(plan)).toEqual(['update-user a', 'set-members g', 'delete-user left'])
    expect([...plan.changes][1]?.change).toMatchObject({ want: ['a', 'svc-old'] })
    expect(noticesOf(plan)).toEqual([
      'excluded svc-1',
      'excluded svc-new',
      'excluded svc-old',
      'excluded tmp',
    ])
  })

  test('are not created, groups neither', () => {
    const rules = rulesWith({ groups: { exclude: [{ id: 'tmp' }] } })
    const found = sourceOf([wantUser('a')], [wantGroup('tmp', 'Tmp', ['a']), wantGroup('g', 'G', ['a'])])
    const plan = planOf(found, directoryOf([]), { rules })
    expect(linesOf(plan)).toEqual(['create-user a', 'create-group g', 'set-members g'])
    expect(plan.unchanged).toBe(0)
  })

  test('are not counted as unchanged', () => {
    const rules = rulesWith({ users: { exclude: ['svc-1'] }, groups: { exclude: [{ id: 'tmp' }] } })
    const [users, groups] = [
      [haveUser('svc-1'), haveUser('a')],
      [haveGroup('tmp', 'Tmp'), haveGroup('g', 'G')],
    ]
    const same = sourceOf([wantUser('svc-1'), wantUser('a')], [wantGroup('tmp', 'Tmp'), wantGroup('g', 'G')])
    expect(planOf(same, directoryOf(users, groups), { rules }).unchanged).toBe(2)
    expect(planOf(same, directoryOf(users, groups), {}).unchanged).toBe(4)
  })

  test('are all those that a list of included ones does not name', () => {
    const plan = planOf(source, directory, { rules: rulesWith({ users: { include: ['a', 'b'] } }) })
    expect(linesOf(plan)).toEqual(['update-user a', 'update-group tmp', 'set-members g', 'set-members tmp'])
  })

  test('are found by their place, without regard to case and blanks', () => {
    const user = { ...wantUser('x'), from: 'UID=x, OU=Service,dc=example,dc=org' }
    const rules = rulesWith({ users: { exclude: [{ from: '*,ou=service, dc=Example,dc=org' }] } })
    expect(noticesOf(planOf(sourceOf([user]), directoryOf([]), { rules }))).toEqual(['excluded x'])
  })

  test('by place only are not known any more when the source has lost them', () => {
    const rules = rulesWith({ users: { include: [{ from: '*,ou=people' }] } })
    expect(linesOf(planOf(sourceOf([]), directoryOf([haveUser('a')]), { rules }))).toEqual(['delete-user a'])
  })

  test('want no e-mail: another user gets it', () => {
    const plan = planOf(
      sourceOf([wantUser('svc-1', 'S', 'box@example.org'), wantUser('x', 'X', 'box@example.org')]),
      directoryOf([]),
      { rules: rulesWith({ users: { exclude: ['svc-*'] } }) },
    )
    expect([...plan.changes].map(({ change }) => change)).toMatchObject([
      { id: 'x', want: { email: 'box@example.org' } },
    ])
    expect(noticesOf(plan)).toEqual(['excluded svc-1'])
  })

  test('keep their e-mails', () => {
    const rules = rulesWith({ users: { exclude: ['svc-*'] } })
    const plan = planOf(
      sourceOf([wantUser('a', 'A', 'box@example.org'), wantUser('svc-1', 'S', 'other@example.org')]),
      directoryOf([haveUser('svc-1', 'S', 'box@example.org')]),
      { rules },
    )
    expect([...plan.changes].map(({ change }) => ('want' in change ? change.want : undefined))).toEqual([
      { name: 'A' },
    ])
  })
})

test('protected entries are written and never deleted', () => {
  const rules = rulesWith({ users: { protected: ['root*'] }, groups: { protected: [{ id: 'g*' }] } })
  const plan = planOf(
    sourceOf([wantUser('root-1', 'Renamed')]),
    directoryOf(
      [haveUser('root-1'), haveUser('root-2'), haveUser('left')],
      [haveGroup('g*', 'G'), haveGroup('gg', 'G')],
    ),
    { rules },
  )
  expect(linesOf(plan)).toEqual(['update-user root-1', 'delete-group gg', 'delete-user left'])
  expect(blockedOf(plan)).toEqual(['delete-group g*: protected', 'delete-user root-2: protected'])
})

describe('an id that goes to another person', () => {
  test.each([
    ['another name and e-mail', 'Bo Kos', 'bo.kos@example.org', true],
    ['a marriage', 'Ana Kos', 'ana.kos@example.org', false],
    ['a new domain', 'Bo Kos', 'ana@other.example', false],
    ['only a name', 'Bo Kos', 'ana@example.org', false],
    ['another order and accents', 'NOVÁK, Ana', 'novak@example.org', false],
    ['capital letters', 'ANA NOVAK', 'novak@example.org', false],
    ['accents on every word', 'Ána Novák', 'novak@example.org', false],
  ])('%s', (_case, name, email, expected) => {
    const plan = planOf(
      sourceOf([wantUser('1', name, email)]),
      directoryOf([haveUser('1', 'Ana Novak', 'ana@example.org')]),
    )
    expect(noticesOf(plan)).toEqual(expected ? ['id-moved 1'] : [])
  })
})
