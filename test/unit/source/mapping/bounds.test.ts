import fc from 'fast-check'
import { expect, test } from 'vitest'
import { DirsyncdError } from '../../../../src/base/errors.ts'
import { compileUserMap, type UserMapping } from '../../../../src/source/mapping.ts'
import { cpuMsSince } from '../../../support/machine-load.ts'

/** Far above what an evaluation takes, also on a busy machine, and far below for ever. */
const BOUND = 3_000

const NAMES = ['a', 'b', 'c', 'x'] as const

/** Expressions of every form, most of them meaningful and some of them not. */
const { expression } = fc.letrec<{ text: string; list: string; bool: string; expression: string }>((tie) => ({
  expression: fc.oneof({ weight: 8, arbitrary: tie('text') }, tie('list'), tie('bool'), fc.string()),
  text: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom(...NAMES),
    fc.string({ maxLength: 6 }).map((text) => JSON.stringify(text)),
    fc.constantFrom('null', 'attr("a")', '"aaaaaaaa"', "r'\\'"),
    fc.tuple(tie('text'), tie('text')).map(([left, right]) => `(${left} + ${right})`),
    fc
      .tuple(fc.constantFrom('lower', 'upper', 'trim', 'slug'), tie('text'))
      .map(([name, of]) => `${name}(${of})`),
    fc
      .tuple(tie('text'), tie('text'), fc.constantFrom('before', 'after'))
      .map(([of, at, name]) => `${name}(${of}, ${at})`),
    fc.tuple(tie('text'), tie('list')).map(([text, list]) => `first(${text}, ${list})`),
    fc.tuple(tie('bool'), tie('text'), tie('text')).map(([when, yes, no]) => `(${when} ? ${yes} : ${no})`),
    fc.tuple(tie('list'), tie('text')).map(([list, by]) => `join(${list}, ${by})`),
    fc.tuple(tie('list'), fc.integer({ min: -3, max: 3 })).map(([list, at]) => `${list}[${at}]`),
    fc
      .tuple(
        tie('text'),
        fc.constantFrom('(a+)+$', '(.*)(.*)x', '[^y]*y|a', '', '(b|$)'),
        fc.string({ maxLength: 3 }),
      )
      .map(([of, regex, by]) => `replace(${of}, "${regex}", ${JSON.stringify(by.replaceAll('$', '$$'))})`),
  ),
  list: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom('values(a)', 'values("b")', '[]'),
    fc.array(tie('text'), { maxLength: 3 }).map((texts) => `[${texts.join(', ')}]`),
    fc.tuple(tie('text'), tie('text')).map(([of, at]) => `split(${of}, ${at})`),
    fc.tuple(tie('list'), tie('bool')).map(([list, ask]) => `${list}.filter(x, ${ask})`),
    fc.tuple(tie('list'), tie('text')).map(([list, text]) => `${list}.map(x, ${text})`),
    fc.tuple(tie('list'), tie('list')).map(([left, right]) => `(${left} + ${right})`),
  ),
  bool: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom('true', 'x == "a"', 'has(a)'),
    fc.tuple(tie('text'), tie('text')).map(([left, right]) => `${left} <= ${right}`),
    fc.tuple(tie('text'), tie('list')).map(([text, list]) => `(${text} in ${list})`),
    fc.tuple(tie('list'), tie('bool')).map(([list, ask]) => `${list}.exists(x, ${ask})`),
    fc.tuple(tie('bool'), tie('bool')).map(([left, right]) => `(!${left} && ${right})`),
    fc.tuple(tie('text')).map(([of]) => `matches(${of}, "(a|a)*b")`),
    fc.tuple(tie('list')).map(([of]) => `size(${of}) > 1`),
  ),
}))

const value = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.constantFrom('', ' ', 'a'.repeat(30_000), 'a'.repeat(40_000), '\0', '__proto__', '$&', '\u{d800}'),
)

const values = fc.oneof(
  { weight: 5, arbitrary: fc.array(value, { maxLength: 5 }) },
  fc.integer({ min: 0, max: 12_000 }).map((length) => Array.from({ length }, (_, index) => `a${index}`)),
)

function compile(text: string): UserMapping | undefined {
  try {
    return compileUserMap({ external_id: 'uid', email: `= ${text}` }, 'users.map', () => undefined)
  } catch (error) {
    expect(error).toBeInstanceOf(DirsyncdError)
    return undefined
  }
}

test('no expression throws for any entry, ends late or has a long value', () => {
  let compiled = 0
  fc.assert(
    fc.property(expression, fc.dictionary(fc.constantFrom(...NAMES), values), (text, entry) => {
      const map = compile(text)
      if (map === undefined) return
      compiled += 1
      const lookup = (attribute: string) => (Object.hasOwn(entry, attribute) ? (entry[attribute] ?? []) : [])
      const begin = process.cpuUsage()
      const { email, faults } = map.fieldsOf(lookup)
      expect(cpuMsSince(begin)).toBeLessThan(BOUND)
      expect((email ?? '').length).toBeLessThanOrEqual(1_024)
      expect(email?.trim()).toBe(email)
      expect(email).not.toBe('')
      for (const fault of faults) expect(fault).not.toMatch(/could not be computed/)
      const steps = map.email.trace(lookup)
      expect(steps.at(-1)).toMatchObject({ kind: 'result', value: email })
      expect(map.fieldsOf(lookup)).toEqual({ email, name: undefined, employeeId: undefined, faults })
    }),
    { numRuns: 100 },
  )
  expect(compiled).toBeGreaterThan(20)
})

test('any text is an expression or refused by its key', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.string({ unit: 'binary' })), (text) => {
      compile(text)
    }),
    { numRuns: 400 },
  )
})

test('an entry without values has no value, unless the expression brings one', () => {
  for (const text of [
    'uid + "@example.org"',
    'lower("x" + uid)',
    'before("a@" + uid, "@")',
    'replace(uid, "", "x")',
  ]) {
    expect(compile(text)?.email.valueOf(() => [])).toBeUndefined()
  }
})

test.each([
  '(a+)+$',
  '(a|a)*b',
  '(a|aa)+$',
  '([a-z]+)*[0-9]',
  '(.*)(.*)(.*)(.*)(.*)x',
  '[^y]*y|a',
  '(a)([^y]*y)?',
])('the pattern %s ends at once', (pattern) => {
  const map = compile(
    `first(replace(uid, r"${pattern}", "").after("!"), matches(uid, r"${pattern}") ? "a" : "b")`,
  )
  const begin = process.cpuUsage()
  map?.fieldsOf(() => [`${'a'.repeat(32_000)}!`])
  expect(cpuMsSince(begin)).toBeLessThan(BOUND)
})

test('to look for one long text in another is bounded too', () => {
  const half = 'a'.repeat(8_000)
  const map = compile(`${Array.from({ length: 30 }, () => 'contains(a, b)').join(' || ')} ? "a" : "b"`)
  const lookup = (name: string) => (name === 'a' ? ['a'.repeat(32_000)] : [`${half}b${half}`])
  const begin = process.cpuUsage()
  expect(map?.fieldsOf(lookup).faults).toEqual([
    'users.map.email: it takes too long to compute for this entry',
  ])
  expect(cpuMsSince(begin)).toBeLessThan(BOUND / 2)
})

test('a text that is split by nothing is split into whole characters', () => {
  expect(compile('join(split(a, ""), "-")')?.email.valueOf(() => ['😀b'])).toBe('😀-b')
})

test('to read an attribute of many values again and again is bounded too', () => {
  const map = compile('values(a).map(x, before(values(a).exists(y, a == "b") ? a : a, a))[0]')
  const many = Array.from({ length: 3_000 }, (_, index) => `a${index}`)
  const begin = process.cpuUsage()
  expect(map?.fieldsOf(() => many).faults).toEqual([
    'users.map.email: it takes too long to compute for this entry',
  ])
  expect(cpuMsSince(begin)).toBeLessThan(BOUND)
})
