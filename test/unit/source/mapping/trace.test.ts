import { expect, test } from 'vitest'
import { compileUserMap, type ValueExpression } from '../../../../src/source/mapping.ts'

function traceOf(expression: ValueExpression, entry: Readonly<Record<string, readonly string[]>>): string[] {
  const map = compileUserMap({ external_id: 'uid', name: expression }, 'users.map', () => undefined)
  return map.name.trace((attribute) => entry[attribute] ?? []).map((step) => step.text)
}

test('each attribute, call and choice of an expression', () => {
  expect(traceOf('= lower(first(mail, uid + "@example.org"))', { uid: ['Anna', 'Anne'] })).toEqual([
    'mail has no value',
    'uid has "Anna", "Anne", of which "Anna" counts',
    'uid + "@example.org" is "Anna@example.org"',
    'uid + "@example.org" taken: "Anna@example.org"; mail without a value',
    'lower("Anna@example.org") is "anna@example.org"',
    'result: "anna@example.org"',
  ])
})

test('why an alternative was taken', () => {
  expect(traceOf('= has(title) ? title : sn', { sn: ['Berg'] })).toEqual([
    'title has no value',
    'has(no value) is false',
    'sn taken, because has(title) is false',
    'sn has "Berg"',
    'result: "Berg"',
  ])
})

test('a list is shown as a whole, not item by item', () => {
  expect(traceOf('= first(values(g).filter(x, x.startsWith("b")))', { g: ['b', 'a'] })).toEqual([
    'g has "b", "a"',
    'values(g).filter(x, x.startsWith("b")) is "b"',
    'values(g).filter(x, x.startsWith("b")) taken: "b"',
    'result: "b"',
  ])
})

test('an attribute, a template, a list and a default', () => {
  expect(traceOf('cn', {})).toEqual(['cn has no value', 'result: no value'])
  expect(traceOf('{a} {b}', { a: ['x'], b: ['y'] })).toEqual([
    'a has "x"',
    'b has "y"',
    '{a} {b} is "x y"',
    'result: "x y"',
  ])
  expect(traceOf({ value: ['cn', '{a} {b}'], default: '?' }, { a: ['x'] })).toEqual([
    'cn has no value',
    'a has "x"',
    'b has no value',
    '{a} {b} is no value',
    'nothing taken: cn, {a} {b} without a value',
    'the default taken: "?"; cn, {a} {b} without a value',
    'result: "?"',
  ])
})

test('a fault ends it, with what is known until then', () => {
  expect(traceOf('= a + b', { a: ['x'], b: ['y'.repeat(40_000)] })).toEqual([
    'a has "x"',
    expect.stringContaining('b has "yyy'),
    'stopped: a text of 40000 characters is too long; the limit is 32768',
    'result: no value',
  ])
})

test('what is not mapped', () => {
  const map = compileUserMap({ external_id: 'uid' }, 'users.map', () => undefined)
  expect(map.email.trace(() => ['x'])).toEqual([{ kind: 'result', text: 'not mapped', value: undefined }])
})
