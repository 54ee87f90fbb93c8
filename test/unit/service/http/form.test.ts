import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { FormReader, parseForm } from '../../../../src/service/http/form.ts'
import { testAnyForm } from './form.ts'

/** Without the missing prototypes, which a comparison would see. */
function decode(text: string): unknown {
  return JSON.parse(JSON.stringify(parseForm(text)))
}

describe('a form', () => {
  test.each([
    ['', {}],
    ['&&', {}],
    ['name=Ada', { name: 'Ada' }],
    ['name', { name: '' }],
    ['name=a=b', { name: 'a=b' }],
    ['name=a+b%20c%2B', { name: 'a b c+' }],
    ['name=1&name=2', { name: '2' }],
    ['a[b]=1&a[c]=2', { a: { b: '1', c: '2' } }],
    ['ids[]=a&ids[]=b', { ids: ['a', 'b'] }],
    ['ids%5B%5D=a', { ids: ['a'] }],
    ['ids[]=', { ids: [] }],
    ['ids[]=&ids[]=a', { ids: ['', 'a'] }],
    [
      'u[][a]=1&u[][b]=2&u[][a]=3&u[][b]=4',
      {
        u: [
          { a: '1', b: '2' },
          { a: '3', b: '4' },
        ],
      },
    ],
    ['u[][a]=1&u[][a]=2&u[][b]=3', { u: [{ a: '1' }, { a: '2', b: '3' }] }],
    [
      'u[][b]=1&u[][a]=2&u[][a]=3&u[][b]=4',
      {
        u: [
          { b: '1', a: '2' },
          { a: '3', b: '4' },
        ],
      },
    ],
    [
      'g[][id]=1&g[][m][]=a&g[][m][]=b&g[][id]=2&g[][m][]=',
      {
        g: [
          { id: '1', m: ['a', 'b'] },
          { id: '2', m: [] },
        ],
      },
    ],
    ['u[][a][b]=1&u[][a][b]=2', { u: [{ a: { b: '1' } }, { a: { b: '2' } }] }],
    ['n=%C3%BC', { n: 'ü' }],
  ])('%s', (text, form) => {
    expect(decode(text)).toEqual(form)
  })

  test.each([
    ['n=%', 'percent-encoded'],
    ['n=%ff', 'percent-encoded'],
    ['a[=1', 'well-formed'],
    ['[]=1', 'well-formed'],
    ['a[b]c=1', 'well-formed'],
    ['a=1&a[]=2', 'two ways'],
    ['a[]=1&a[b]=2', 'two ways'],
    ['a[b]=1&a[]=2', 'two ways'],
    ['a[]=1&a=2', 'two ways'],
    ['a[b]=1&a=2', 'two ways'],
    ['a=1&a[b]=2', 'two ways'],
    ['a[]=1&a[][b]=2', 'two ways'],
    ['a[][b]=1&a[]=2', 'two ways'],
    ['a[b]=1&a[b][c]=2', 'two ways'],
    ['a[b][c]=1&a[b]=2', 'two ways'],
    ['a[][b]=1&a[][b][c]=2', 'two ways'],
    ['a[][b][c]=1&a[][b]=2', 'two ways'],
    ['a[][b][]=1&a[][b]=2', 'two ways'],
    [`a=${'x'.repeat(65_535)}`, 'more than 65536 characters'],
    [`a${'[]'.repeat(9)}=1`, 'nested too deep'],
  ])('refuses %s', (text, why) => {
    expect(() => parseForm(text)).toThrow(why)
  })

  test('has no prototype that a name could reach', () => {
    const text = '__proto__[polluted]=1&constructor=2&u[][__proto__]=3'
    expect(() => parseForm(text)).not.toThrow()
    const form = parseForm(text)
    expect(Object.keys(form)).toEqual(['__proto__', 'constructor', 'u'])
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })

  test('gives back every list of entries that is written in order, the first key in each', () => {
    const entry = fc.record({ id: fc.string(), name: fc.option(fc.string()), email: fc.option(fc.string()) })
    fc.assert(
      fc.property(fc.array(entry, { minLength: 1 }), (entries) => {
        const form = new URLSearchParams()
        const wanted = entries.map(({ id, name, email }) => {
          form.append('users[][id]', id)
          if (name !== null) form.append('users[][name]', name)
          if (email !== null) form.append('users[][email]', email)
          return { id, ...(name === null ? {} : { name }), ...(email === null ? {} : { email }) }
        })
        expect(decode(form.toString())).toEqual({ users: wanted })
      }),
    )
  })
})

testAnyForm(400)

/** The form as JSON, or why it is none. */
function readInParts(parts: readonly string[]): string {
  try {
    const reader = new FormReader()
    for (const text of parts) reader.push(text)
    return JSON.stringify(reader.end())
  } catch (error) {
    return String(error)
  }
}

test('a form that arrives in parts is the form that arrives at once', () => {
  const piece = fc.constantFrom('a', 'b', '[', ']', '[]', '=', '&', '%41', '%C3%BC', '+', 'a[]=', 'a[][b]=1&')
  fc.assert(
    fc.property(fc.array(fc.array(piece)), (parts) => {
      const texts = parts.map((part) => part.join(''))
      expect(readInParts(texts)).toBe(readInParts([texts.join('')]))
    }),
  )
})

test('more fields than any form needs are refused', () => {
  expect(Object.keys(parseForm('a=&'.repeat(249_999)))).toEqual(['a'])
  expect(() => parseForm('a=&'.repeat(250_000))).toThrow('more than 250000 fields')
})
