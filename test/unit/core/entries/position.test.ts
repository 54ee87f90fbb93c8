import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Position, changedHint, comparePositions } from '../../../../src/core/entries/position.ts'

function compare(known: Position, seen: Position) {
  return comparePositions({ position: known }, { position: seen })
}

const CONTEXT = 'dc=example,dc=org'
const csn = (minute: number, server: string) => `202611221${minute}0000.000000Z#000000#${server}#000000`

describe('positions', () => {
  test('the same changes are equal', () => {
    expect(compare({ a: '7' }, { a: '7' })).toEqual({ order: 'equal' })
  })

  test('a later CSN of one server id is newer, and so is a server id more', () => {
    const known = { [`${CONTEXT} 001`]: csn(1, '001') }
    expect(compare(known, { [`${CONTEXT} 001`]: csn(2, '001') })).toEqual({ order: 'newer' })
    expect(compare(known, { ...known, [`${CONTEXT} 002`]: csn(0, '002') })).toEqual({ order: 'newer' })
  })

  test('change numbers are compared as numbers', () => {
    expect(compare({ a: '999' }, { a: '1000' }).order).toBe('newer')
    expect(compare({ a: '18446744073709551614' }, { a: '18446744073709551615' }).order).toBe('newer')
  })

  test('an older one names the first key that it lacks, with both values', () => {
    expect(compare({ a: '1000', b: '5' }, { a: '999', b: '5' })).toEqual({
      order: 'older',
      lacks: { key: 'a', known: '1000', seen: '999' },
    })
    expect(compare({ a: '1', b: '5' }, { a: '1' })).toEqual({
      order: 'older',
      lacks: { key: 'b', known: '5', seen: null },
    })
  })

  test('one that lacks something and has something else is incomparable', () => {
    expect(compare({ a: '2', b: '5' }, { a: '1', b: '6' })).toEqual({
      order: 'incomparable',
      lacks: { key: 'a', known: '2', seen: '1' },
    })
  })

  test('positions of two databases are incomparable, however they look', () => {
    const [known, seen] = [{ a: '1' }, { a: '2' }]
    expect(comparePositions({ database: 'x', position: known }, { database: 'y', position: seen })).toEqual({
      order: 'incomparable',
      lacks: { key: 'database', known: 'x', seen: 'y' },
    })
    expect(comparePositions({ database: 'x', position: known }, { position: seen }).order).toBe(
      'incomparable',
    )
    // The reader may see the name of the database since yesterday.
    expect(comparePositions({ position: known }, { database: 'y', position: seen }).order).toBe('newer')
  })

  test('a naming context that is read besides is no other database, and neither is one that is not read any more', () => {
    const one = { database: 'dc=a id1', position: { 'dc=a 001': '5' } }
    const both = { database: 'dc=a id1; dc=b id2', position: { 'dc=a 001': '5', 'dc=b 001': '7' } }
    expect(comparePositions(one, both)).toEqual({ order: 'newer' })
    expect(comparePositions(both, one)).toEqual({ order: 'equal' })
    expect(comparePositions(both, { ...one, position: { 'dc=a 001': '4' } }).order).toBe('older')
    expect(comparePositions(both, { ...both, position: one.position }).order).toBe('older')
    const refilled = { database: 'dc=a id9', position: { 'dc=a 001': '6' } }
    expect(comparePositions(both, refilled)).toEqual({
      order: 'incomparable',
      lacks: { key: 'database', known: 'dc=a id1', seen: 'dc=a id9' },
    })
  })

  test('other naming contexts than all that were read are another database', () => {
    const known = { database: 'dc=a id1', position: { 'dc=a 001': '5' } }
    const seen = { database: 'ou=people,dc=a id1', position: { 'ou=people,dc=a 001': '5' } }
    expect(comparePositions(known, seen).order).toBe('incomparable')
  })

  test.each(['__proto__', 'constructor', 'toString'])('the key %s is one like others', (key) => {
    const known = JSON.parse(`{"${key}":"1"}`) as Position
    expect(compare(known, {}).order).toBe('older')
    expect(compare({}, known).order).toBe('newer')
  })
})

const position = fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.integer({ min: 0, max: 12 }).map(String), {
  noNullPrototype: true,
})

const has = (seen: Position, known: Position) => ['equal', 'newer'].includes(compare(known, seen).order)

test('to have all that another one has is a partial order', () => {
  fc.assert(
    fc.property(position, position, position, (a, b, c) => {
      expect(has(a, a)).toBe(true)
      if (has(a, b) && has(b, a)) expect(a).toEqual(b)
      if (has(a, b) && has(b, c)) expect(has(a, c)).toBe(true)
      const back = { equal: 'equal', newer: 'older', older: 'newer', incomparable: 'incomparable' }
      expect(compare(a, b).order).toBe(back[compare(b, a).order])
    }),
  )
})

test('what it lacks is a key of the known one, with the values of both', () => {
  fc.assert(
    fc.property(position, position, (known, seen) => {
      const result = compare(known, seen)
      if (!('lacks' in result)) return
      const { key } = result.lacks
      expect(result.lacks).toEqual({ key, known: known[key], seen: seen[key] ?? null })
      expect(Number(known[key])).toBeGreaterThan(Number(seen[key] ?? -1))
    }),
  )
})

describe('hints', () => {
  const known = {
    netscapemdsuffix: 'cn=ldap://dc=a:389',
    dataversion: '020261122113909',
    'lastusn;userroot': '-1',
  }

  test.each([
    ['nothing has changed', {}],
    ['the change number has grown', { 'lastusn;userroot': '12' }],
    ['there is one more', { 'lastusn;other': '3' }],
  ])('fit where %s', (_, change) => {
    expect(changedHint(known, { ...known, ...change })).toBeUndefined()
  })

  test.each([
    ['netscapemdsuffix', 'cn=ldap://dc=b:389'],
    ['dataversion', '020261122113910'],
    ['lastusn;userroot', '-2'],
    ['lastusn;userroot', 'many'],
  ])('do not fit where %s is %s', (key, seen) => {
    const before = known[key as keyof typeof known]
    expect(changedHint(known, { ...known, [key]: seen })).toEqual({ key, known: before, seen })
  })

  test('do not fit where one is missing now', () => {
    const { dataversion, ...others } = known
    expect(changedHint(known, others)).toEqual({ key: 'dataversion', known: dataversion, seen: null })
  })
})
