import fc from 'fast-check'
import { expect, test } from 'vitest'
import { headingOf, renderCheckItem, renderVerdict } from '../../../../src/ui/cli/render/check.ts'
import { textWidth } from '../../../../src/base/terminal/text.ts'
import { cut, cutMiddle, fold, wrap } from '../../../../src/base/terminal/wrap.ts'
import type { CheckCounts, CheckItem } from '../../../../src/operations/check.ts'

const COUNTS: CheckCounts = {
  type: 'counts',
  sync: 'corp',
  users: 1200,
  groups: 41,
  memberships: 3000,
  usersWithEmail: 1056,
  usersWithName: 1200,
  usersWithEmployeeId: 0,
  groupsWithoutMembers: 2,
}

const FINDING: CheckItem = {
  type: 'finding',
  sync: 'corp',
  level: 'warn',
  code: 'no-email',
  count: 144,
  sentence: 'no e-mail: 12 % (144 of 1,200 users)',
  examples: ['u1', 'u\n2'],
}

const SAMPLES: CheckItem = {
  type: 'samples',
  sync: 'corp',
  users: [
    { id: 'u1', name: '李小龍', email: `${'long'.repeat(20)}@example.org`, employeeId: undefined, from: 'x' },
    { id: 'u2', name: undefined, email: undefined, employeeId: '007', from: 'y' },
  ],
  groups: [{ id: 'g1', name: 'Sales', members: 1234 }],
}

const TRACE: CheckItem = {
  type: 'trace',
  sync: 'corp',
  kind: 'user',
  id: 'u1',
  from: 'users.csv, row 2',
  fields: [
    {
      field: 'email',
      value: 'a@b',
      steps: [
        { kind: 'attribute', text: 'mail has "A@b"', attribute: 'mail', values: ['A@b'] },
        { kind: 'result', text: 'the result is "a@b"', value: 'a@b' },
      ],
    },
  ],
}

test('counts, a finding, samples and a trace', () => {
  expect(renderCheckItem(COUNTS, undefined)).toEqual([
    '  ok    can be used   1,200 users; 1,056 with e-mail, all with a name, 0 with an employee id',
    '                      41 groups with 3,000 memberships, 2 without members',
  ])
  expect(renderCheckItem(FINDING, undefined)).toEqual([
    '  warn  e-mail        no e-mail: 12 % (144 of 1,200 users), such as u1, u\\u000a2',
  ])
  expect(renderCheckItem(SAMPLES, undefined).slice(-3)).toEqual([
    '',
    '  GROUP  NAME   MEMBERS',
    '  g1     Sales    1,234',
  ])
  expect(renderCheckItem(TRACE, undefined)).toEqual([
    '',
    '  How the user u1 was mapped, from users.csv, row 2:',
    '    email         mail has "A@b"',
    '                  the result is "a@b"',
  ])
})

test('examples that are sentences stand on lines of their own', () => {
  const item: CheckItem = {
    ...FINDING,
    code: 'unknown-members',
    sentence: '2 groups have members that are no users',
    examples: ['cn=a,ou=groups: 1 member is no user of this sync: "x"', 'cn=b'],
  }
  expect(renderCheckItem(item, 60)).toEqual([
    '  warn  members       2 groups have members that are no',
    '                      users, such as',
    '                      - cn=a,ou=groups: 1 member is no user',
    '                        of this sync: "x"',
    '                      - cn=b',
  ])
})

test('an id keeps both its ends in a narrow table, and a name its beginning; without a terminal nothing is endless', () => {
  const user = {
    id: '735a6d2a-79f8-1041-948a-ed59011d8a96',
    email: undefined,
    employeeId: undefined,
    from: 'x',
  }
  const item: CheckItem = { ...SAMPLES, users: [{ ...user, name: 'Very '.repeat(60) }], groups: [] }
  expect(renderCheckItem(item, 60).at(-1)).toBe('  735a6d2a…011d8a96  Very Very Very Ve…  -       -')
  expect(renderCheckItem(item, undefined).at(-1)).toMatch(
    /^ {2}735a6d2a-79f8-1041-948a-ed59011d8a96 {2}(Very )+Ve?r?y?… /,
  )
  expect(textWidth(renderCheckItem(item, undefined).at(-1) ?? '')).toBeLessThan(140)
})

test.each([40, 60, 80, 120])('nothing is wider than %i columns', (columns) => {
  const long: CheckItem = {
    type: 'line',
    sync: 'corp',
    part: 'source',
    label: 'users',
    level: 'ok',
    detail: `ou=people,dc=example,dc=org (scope sub), filter ${'(objectClass=inetOrgPerson)'.repeat(5)} and 李小龍 ${'語'.repeat(50)}`,
  }
  for (const item of [long, COUNTS, FINDING, TRACE, ...(columns < 60 ? [] : [SAMPLES])]) {
    for (const line of renderCheckItem(item, columns)) expect(textWidth(line)).toBeLessThanOrEqual(columns)
  }
})

test('a heading says which sync and which side', () => {
  const line = { type: 'line', label: 'x', level: 'ok', detail: 'y' } as const
  expect(headingOf({ ...line, sync: '', part: 'site' })).toBe('this installation')
  expect(headingOf({ ...line, sync: 'corp', part: 'directory' })).toBe('corp: directory')
  for (const item of [COUNTS, FINDING, SAMPLES, TRACE]) expect(headingOf(item)).toBe('corp: source')
})

test.each([
  [0, 0, 'Everything works.'],
  [0, 1, 'Everything works, with 1 warning.'],
  [1, 0, '1 check failed.'],
  [2, 3, '2 checks failed, 3 warnings.'],
])('%i failed and %i warnings', (failed, warnings, verdict) => {
  expect(renderVerdict({ failed, warnings })).toBe(verdict)
})

test('wrapping loses nothing and keeps within the width', () => {
  fc.assert(
    fc.property(fc.lorem({ maxCount: 30 }), fc.integer({ min: 8, max: 60 }), (text, width) => {
      const lines = wrap(text, width)
      expect(lines.join('').replaceAll(' ', '')).toBe(text.replaceAll(' ', ''))
      for (const line of lines) expect(textWidth(line)).toBeLessThanOrEqual(width)
    }),
  )
  expect(wrap('a b', undefined)).toEqual(['a b'])
})

test('lines that go on stand deeper, and short ones and those of no terminal stay', () => {
  const lines = ['+ create user   e-1  Ana', '  group g-1  has other members in the source']
  expect(fold(lines, undefined)).toEqual(lines)
  expect(fold(lines, 80)).toEqual(lines)
  expect(fold(lines, 24)).toEqual([
    '+ create user   e-1  Ana',
    '  group g-1  has',
    '      other members in',
    '      the source',
  ])
})

test.each([
  ['abcdefgh', 8, 'abcdefgh'],
  ['abcdefgh', 6, 'abc…gh'],
  ['👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧', 13, '👩‍👩‍👧…👩‍👩‍👧'],
])('%s cut in the middle to %i columns is %s', (text, width, expected) => {
  expect(cutMiddle(text, width)).toBe(expected)
})

test.each([
  ['abcdef', 6, 'abcdef'],
  ['abcdef', 5, 'abcd…'],
  ['李小龍', 5, '李小…'],
  ['李小龍', 4, '李…'],
])('%s cut to %i columns is %s', (text, width, expected) => {
  expect(cut(text, width)).toBe(expected)
})
