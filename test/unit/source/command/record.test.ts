import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseLine } from '../../../../src/source/command/record.ts'

function valuesOf(line: string, name: string): readonly string[] {
  const parsed = parseLine(line)
  if (parsed.type !== 'entry') throw new Error(`this is no entry: ${JSON.stringify(parsed)}`)
  return parsed.lookup(name)
}

test.each<[string, readonly string[]]>([
  ['"a"', ['a']],
  ['["a", "b"]', ['a', 'b']],
  ['[]', []],
  ['null', []],
  ['[null, "a"]', ['a']],
  ['true', ['true']],
  ['7', ['7']],
  ['-0', ['-0']],
  ['1.0', ['1.0']],
  ['1e3', ['1e3']],
  ['12345678901234567890', ['12345678901234567890']],
  ['[1, 12345678901234567891]', ['1', '12345678901234567891']],
  ['" padded "', [' padded ']],
  ['"x: 12345678901234567890"', ['x: 12345678901234567890']],
])('the value %s becomes %j', (json, values) => {
  expect(valuesOf(`{"user": {"id": ${json}}}`, 'id')).toEqual(values)
})

test('names are taken as they are, and only what was printed is there', () => {
  expect(valuesOf('{"group": {"__proto__": "a", "b": "c"}}', '__proto__')).toEqual(['a'])
  for (const name of ['constructor', 'toString', '__proto__', 'ID'])
    expect(valuesOf('{"user": {"id": "1"}}', name)).toEqual([])
})

test('the last line has the counts', () => {
  expect(parseLine('{"complete": true, "users": 2, "groups": 1}')).toEqual({
    type: 'end',
    users: 2,
    groups: 1,
  })
  expect(parseLine('{"users":0,"complete":true}\r')).toEqual({ type: 'end', users: 0, groups: 0 })
})

test.each([
  ['', 'blank'],
  [' \t\r', 'blank'],
])('%j is blank', (line, type) => {
  expect(parseLine(line).type).toBe(type)
})

test.each([
  ['ERROR: permission denied', 'is not JSON, it begins with "ERROR: permission denied"'],
  ['{"user": {"id": "1"', 'is not JSON, or was cut off'],
  ['{"user": {"id": "1"}} {"user": {"id": "2"}}', 'is not JSON, or was cut off'],
  ['[]', 'is JSON, but not an object'],
  ['1', 'is JSON, but not an object'],
  ['{}', 'is neither'],
  ['{"person": {}}', 'is neither'],
  ['{"user": {}, "group": {}}', 'is neither'],
  ['{"user": "1"}', 'has a "user" that is not an object'],
  ['{"group": null}', 'has a "group" that is not an object'],
  ['{"user": {"name": {"first": "A"}}}', 'has a value of "name" that is neither text nor a list of texts'],
  ['{"user": {"mails": [["a"]]}}', 'has a value of "mails" that is neither text nor a list of texts'],
  ['{"user": {"id": "1", "dept": "d", "id": "7"}}', 'has the name "id" twice'],
  ['{"user": {"id": "1", "i\\u0064" : "7"}}', 'has the name "id" twice'],
  ['{"user": {"id": "1"}, "user": {"id": "2"}}', 'has the name "user" twice'],
  ['{"complete": true, "users": 1, "users": 2}', 'has the name "users" twice'],
  ['{"complete": false, "users": 1}', 'is not a last line'],
  ['{"complete": true}', 'is not a last line'],
  ['{"complete": true, "users": -1}', 'is not a last line'],
  ['{"complete": true, "users": 1.0}', 'is not a last line'],
  ['{"complete": true, "users": "1"}', 'is not a last line'],
  ['{"complete": true, "users": 1, "user": {}}', 'is not a last line'],
])('%s is refused', (line, why) => {
  const parsed = parseLine(line)
  expect(parsed).toMatchObject({ type: 'wrong' })
  expect(parsed.type === 'wrong' && parsed.why).toContain(why)
})

test('what looks like a name within a text is none', () => {
  const texts = ['":', '\\":', '"a":"b"', '\\', '"user":{"id":', ': "', '{"id":"1"}', '[}']
  for (const id of texts) expect(valuesOf(JSON.stringify({ user: { id, mail: texts } }), 'id')).toEqual([id])
})

const hide = (text: string) => text.replaceAll('hunter2', '***')

test('what is shown of a line is short, on one line, and without what is to be hidden', () => {
  const line = `${'.'.repeat(57)}hunter2 and more`
  expect(parseLine(line, hide)).toMatchObject({
    why: `is not JSON, it begins with "${'.'.repeat(57)}***"`,
  })
  expect(parseLine('a\0b\u001b[31m', hide)).toMatchObject({ why: 'is not JSON, it begins with "a b [31m"' })
  const name = parseLine(JSON.stringify({ user: { ['k'.repeat(1_000_000)]: {} } }))
  expect(name.type === 'wrong' && name.why.length).toBeLessThan(200)
})

test('every text comes through as it was printed', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.array(fc.string()), fc.string(), (one, many, name) => {
      const line = JSON.stringify({ user: { one, many } })
      expect(valuesOf(line, 'one')).toEqual([one])
      expect(valuesOf(line, 'many')).toEqual(many)
      expect(valuesOf(JSON.stringify({ user: { [name]: one } }), name)).toEqual([one])
    }),
  )
})

test('every whole number comes through as it was printed', () => {
  fc.assert(
    fc.property(fc.bigInt(), (number) => {
      expect(valuesOf(`{"user":{"id":${number}}}`, 'id')).toEqual([String(number)])
    }),
  )
})
