import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { normalizeDn } from '../../../../src/source/ldap/dn.ts'

test.each([
  ['case', 'UID=Anna,OU=People,DC=Example', 'uid=anna,ou=people,dc=example'],
  ['blanks around separators', 'uid = anna , ou = people', 'uid=anna,ou=people'],
  ['runs of blanks in a value', 'cn=Anna   Maria', 'cn=anna maria'],
  ['a comma, as OpenLDAP and as Active Directory write it', 'cn=Smith\\2C Jr.', 'cn=Smith\\, Jr.'],
  ['an escaped accent', 'cn=M\\C3\\BCller', 'cn=Müller'],
  ['composed and decomposed accents', 'cn=Mu\u0308ller', 'cn=M\u00fcller'],
  ['quotes of RFC 1779', 'cn="Smith, Jr.",o=x', 'cn=Smith\\, Jr.,o=x'],
  ['semicolons of RFC 1779', 'cn=a;o=x', 'cn=a,o=x'],
  ['hexadecimal octets', 'cn=#0404416e6e61', 'cn=anna'],
  ['a hexadecimal string with a long length', 'cn=#0c810141', 'cn=a'],
  ['a hexadecimal UTF-8 string', 'cn=#0c04416E6E61', 'cn=Anna'],
  ['the parts of an RDN in any order', 'uid=a+cn=b,o=x', 'CN=b + UID=a,o=x'],
  ['long names', 'commonName=a,organizationalUnitName=b', 'cn=a,ou=b'],
  ['OIDs', '2.5.4.3=a,OID.2.5.4.11=b', 'cn=a,ou=b'],
  ['an escaped blank at the end', 'cn=a\\ ,o=x', 'cn=a,o=x'],
  ['an escaped plus', 'cn=a\\+b', 'cn=a\\2bb'],
  ['the final sigma', 'cn=ΟΔΟΣ', 'cn=οδος'],
])('%s makes no difference', (_, one, other) => {
  expect(normalizeDn(one)).toBeDefined()
  expect(normalizeDn(one)).toBe(normalizeDn(other))
})

test.each([
  ['another value', 'cn=a', 'cn=b'],
  ['another type', 'cn=a', 'uid=a'],
  ['an accent', 'cn=Muller', 'cn=Müller'],
  ['a comma that is one value or two', 'cn=a\\,o=x', 'cn=a,o=x'],
  ['a plus that is one value or two', 'cn=a\\+uid=b', 'cn=a+uid=b'],
  ['the order of RDNs', 'ou=a,ou=b', 'ou=b,ou=a'],
  ['a wrong length', 'cn=#0c0241', 'cn=a'],
  ['a number sign that is text', 'cn=\\#0404416e6e61', 'cn=#0404416e6e61'],
])('%s makes a difference', (_, one, other) => {
  expect(normalizeDn(one)).toBeDefined()
  expect(normalizeDn(one)).not.toBe(normalizeDn(other))
})

test.each([
  'anna',
  'cn',
  'cn=a,',
  ',cn=a',
  'cn=a,,o=x',
  'cn=a\\',
  'cn=a\\zz',
  'cn="a',
  'cn="a"b',
  '=a',
  'c n=a',
])('"%s" is not a DN', (text) => {
  expect(normalizeDn(text)).toBeUndefined()
})

test('the empty DN is one', () => {
  expect(normalizeDn('')).toBe('')
})

interface Rdn {
  readonly type: string
  readonly value: string
}

const value = fc.oneof(
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 }),
  fc.constant('long '.repeat(60).trim()),
  fc.string({ unit: fc.constantFrom(...Array.from('aB ,+"\\<>;=#\0é')), minLength: 1, maxLength: 8 }),
)
const dns = fc.array(fc.record({ type: fc.constantFrom('cn', 'uid', 'ou', 'dc'), value }), {
  minLength: 1,
  maxLength: 5,
})

/** Spellings that every LDAP server would take for the same DN. */
const SPELLINGS: readonly ((rdn: Rdn) => string)[] = [
  ({ type, value: text }) => `${type}=${text.replace(/[ ,+"\\<>;=#]/g, '\\$&').replaceAll('\0', '\\00')}`,
  ({ type, value: text }) => `${type.toUpperCase()} = ${hexPairs(text)} `,
  ({ type, value: text }) => `${type}="${text.replace(/["\\]/g, '\\$&')}"`,
  ({ type, value: text }) => `${type}=#0c${berLength(text)}${Buffer.from(text).toString('hex')}`,
]

function hexPairs(text: string): string {
  return Buffer.from(text).toString('hex').replace(/../g, '\\$&')
}

function berLength(text: string): string {
  const length = Buffer.byteLength(text)
  return (length < 0x80 ? '' : '82') + length.toString(16).padStart(length < 0x80 ? 2 : 4, '0')
}

test('all spellings of a DN have one normal form', () => {
  fc.assert(
    fc.property(dns, fc.array(fc.nat(3), { minLength: 5, maxLength: 5 }), (rdns, choices) => {
      const plain = rdns.map((rdn) => SPELLINGS[0]?.(rdn)).join(',')
      const mixed = rdns.map((rdn, index) => SPELLINGS[choices[index] ?? 0]?.(rdn)).join(' , ')
      expect(normalizeDn(plain)).toBeDefined()
      expect(normalizeDn(mixed)).toBe(normalizeDn(plain))
    }),
  )
})

function write(rdn: readonly Rdn[]): string {
  return rdn.map((part) => SPELLINGS[0]?.(part)).join('+')
}

test('the parts of an RDN may come in any order, in any Unicode form', () => {
  const parts = fc.uniqueArray(fc.record({ type: fc.constantFrom('cn', 'uid', 'ou', 'l'), value }), {
    minLength: 2,
    selector: ({ type }) => type,
  })
  fc.assert(
    fc.property(parts, fc.infiniteStream(fc.nat()), (rdn, order) => {
      const ranks = new Map(rdn.map((part) => [part, order.next().value]))
      const shuffled = rdn.toSorted((a, b) => (ranks.get(a) ?? 0) - (ranks.get(b) ?? 0))
      // Before it is escaped: the Greek question mark decomposes into a semicolon.
      const decomposed = shuffled.map((part) => ({ ...part, value: part.value.normalize('NFD') }))
      expect(normalizeDn(`${write(decomposed)},o=x`)).toBe(normalizeDn(`${write(rdn)},o=x`))
    }),
  )
})

test('a normal form is its own normal form', () => {
  fc.assert(
    fc.property(dns, (rdns) => {
      const normal = normalizeDn(rdns.map((rdn) => SPELLINGS[0]?.(rdn)).join(',')) ?? ''
      expect(normalizeDn(normal)).toBe(normal)
    }),
  )
})

test('bytes that are no text keep their own normal form', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1, maxLength: 300 }), (bytes) => {
      const normal = normalizeDn(`cn=${Buffer.from(bytes).toString('hex').replace(/../g, '\\$&')}`) ?? ''
      expect(normalizeDn(normal)).toBe(normal)
    }),
  )
})

test('any text is a DN or not, and never an error', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom(...Array.from('cn=,+\\"#;0a ')), maxLength: 20 }),
      (text) => {
        expect(() => normalizeDn(text)).not.toThrow()
      },
    ),
  )
})
