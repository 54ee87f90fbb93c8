import { expect, test } from 'vitest'
import { parseTable } from '../protections/protection.ts'
import { problemsOf, readProtections, readText } from '../protections/table.ts'

const FILES: Readonly<Record<string, string>> = {
  'src/core/plan/guards.ts': 'if (isFirst) return held\nlet limit = 50\nreturn limit\nreturn limit\n',
  'src/core/plan/plan.ts': 'const all = users\n',
  'test/unit/guards.test.ts':
    "import { describeGuards } from '../support/guards.ts'\ntest('a first plan is held', () => {})\n",
  'test/support/guards.ts': "test('a large plan is held', () => {})\n",
}
const HEAD = 'first-plan-is-held | core/plan/guards.ts | unit/guards.test.ts | a first plan'

function problems(table: string): readonly string[] {
  return problemsOf(parseTable(table), (path) => FILES[path])
}

test('every protection can be removed, and names a test that exists', () => {
  expect(problemsOf(readProtections(), readText)).toEqual([])
})

test('a protection of several edits, and one whose test is in an imported module, fit', () => {
  const table = `# Guards

${HEAD}
-if (isFirst) return held
@ core/plan/guards.ts
-let limit = 50
+let limit = 99
 return limit
@ core/plan/plan.ts
-const all = users
+const all = []

large-plan-is-held | core/plan/guards.ts | unit/guards.test.ts | a large plan
-let limit = 50
+let limit = 99
`
  expect(parseTable(table).map(({ edits }) => edits.length)).toEqual([3, 1])
  expect(problems(table)).toEqual([])
})

test.each([
  [
    'lines that the file does not have',
    `${HEAD}\n-let limit = 5\n`,
    'its lines occur 0 times in src/core/plan/guards.ts',
  ],
  [
    'a part of a line',
    `${HEAD}\n-let limit\n+let limited\n`,
    'its lines occur 0 times in src/core/plan/guards.ts',
  ],
  [
    'lines that the file has twice',
    `${HEAD}\n-return limit\n`,
    'its lines occur 2 times in src/core/plan/guards.ts',
  ],
  [
    'lines that another edit removes',
    `${HEAD}\n-if (isFirst) return held\n@ core/plan/guards.ts\n-if (isFirst) return held\n`,
    'its lines occur 0 times in src/core/plan/guards.ts',
  ],
  ['no change', `${HEAD}\n let limit = 50\n`, 'it changes nothing in src/core/plan/guards.ts'],
  [
    'a file that does not exist',
    `${HEAD}\n-let limit = 50\n@ plan/gone.ts\n-x\n`,
    'there is no src/plan/gone.ts',
  ],
  [
    'a test file that does not exist',
    `${HEAD.replace('guards.test', 'gone.test')}\n-let limit = 50\n`,
    'there is no test/unit/gone.test.ts',
  ],
  [
    'a title that the test file does not have',
    `${HEAD} that\n-let limit = 50\n`,
    'test/unit/guards.test.ts has no title "a first plan that"',
  ],
])('a protection with %s is named', (_, table, problem) => {
  expect(problems(table)).toEqual([`first-plan-is-held: ${problem}`])
})

test('a name that is used twice is named, and so are too many protections', () => {
  const entry = `${HEAD}\n-let limit = 50\n`
  expect(problems(entry.repeat(2))).toEqual(['first-plan-is-held: the name occurs 2 times'])
  const many = Array.from({ length: 301 }, (_, index) => entry.replace('first', `plan-${index}`))
  expect(problems(many.join(''))).toEqual(['there are 301 protections, and 300 at most'])
})

test('a table with a line of another form is refused', () => {
  expect(() => parseTable(`${HEAD}\nlet limit = 50\n`)).toThrow(
    'a table of protections has no such line: let limit = 50',
  )
  expect(() => parseTable('-let limit = 50\n')).toThrow('a table of protections has no such line')
})
