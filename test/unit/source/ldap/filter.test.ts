import * as fc from 'fast-check'
import { BerWriter, FilterParser, type Filter } from 'ldapts'
import { expect, test } from 'vitest'
import { DirsyncdError } from '../../../../src/base/errors.ts'
import { anyOf, attributesOf, parseFilter } from '../../../../src/source/ldap/filter.ts'

function wire(filter: Filter): string {
  const writer = new BerWriter()
  filter.write(writer)
  return writer.buffer.toString('hex')
}

function parsed(text: string): string {
  return wire(parseFilter(text, 'users.filter'))
}

test.each([
  '(objectClass=*)',
  '(&(objectClass=person)(!(uid=x))(|(a=1)(b>=2)(c<=3)(d~=4)))',
  '(cn=a*b*c)',
  '(cn=*b)',
  '(cn=a*)',
  '(cn=a=b)',
  '(memberOf:1.2.840.113556.1.4.1941:=cn=x,dc=y)',
  '(cn:dn:2.5.13.2:=x)',
  '(cn:=x)',
  '(:dn:2.5.13.2:=x)',
  '(cn=\\28a\\29\\2a\\5c)',
  'uid=anna',
])('%s is what ldapts makes of it', (text) => {
  expect(parsed(text)).toBe(wire(FilterParser.parseString(text)))
})

test('escaped bytes above 0x7f are not encoded twice', () => {
  expect(parsed('(cn=M\\c3\\bcller)')).toBe(parsed('(cn=Müller)'))
  expect(parsed('(cn=*M\\c3\\bc*)')).toBe(parsed('(cn=*Mü*)'))
  expect(parsed('(objectGUID=\\ff\\fe)')).toContain('0402fffe')
})

test('blanks and line breaks between clauses mean nothing', () => {
  const folded = '( &\n  (objectClass=person)\n  ( | (a=1) (b=2) )\n  (! (c=3) )\n)'
  expect(parsed(folded)).toBe(parsed('(&(objectClass=person)(|(a=1)(b=2))(!(c=3)))'))
})

test('blanks in a value are part of it', () => {
  expect(parsed('(cn= a )')).not.toBe(parsed('(cn=a)'))
})

function timed(text: string): string {
  return wire(parseFilter(text, 'users.filter', new Date('2026-11-23T12:05:09.870Z')))
}

test('now() is a time as LDAP writes it, and now(filetime) as Active Directory does', () => {
  expect(timed('(pwdEndTime<= now() )')).toBe(parsed('(pwdEndTime<=20261123120509Z)'))
  expect(timed('(&(accountExpires>=1)(accountExpires<=now(filetime))(a=b))')).toBe(
    parsed('(&(accountExpires>=1)(accountExpires<=134399091098700000)(a=b))'),
  )
  expect(timed('(!(x=now()))')).toBe(parsed('(!(x=20261123120509Z))'))
  expect(timed('(x:2.5.13.28:=now())')).toBe(parsed('(x:2.5.13.28:=20261123120509Z)'))
})

test('OIDs, options and the empty list of RFC 4526 are understood', () => {
  for (const text of ['(2.5.4.3=x)', '(cn;lang-de=x)', '(&)', '(|)']) expect(() => parsed(text)).not.toThrow()
})

test.each([
  ['', '"()" at position 1 is no comparison'],
  ['(', '")" is missing at position 2'],
  ['(uid=x', '")" is missing at position 7'],
  ['(uid=x))', 'there is more after its end at position 8'],
  ['(!(uid=x)', '")" is missing at position 10'],
  ['(&(a=1)(b=2)', '")" is missing at position 13'],
  ['(&(a=1)b=2)', '")" is missing at position 8'],
  ['(uid=x)(uid=y)', 'there is more after its end at position 8'],
  ['(uid=a(b)', 'is no comparison'],
  ['(uid)', 'is no comparison'],
  ['(=x)', 'is not the name of an LDAP attribute'],
  ['(u id=x)', '"u id" is not the name of an LDAP attribute'],
  ['(uid=\\zz)', 'is no escape'],
  ['(uid=\\2)', 'is no escape'],
  ['(uid=a**b)', '"**"'],
  ['(:=x)', 'is no matching rule'],
  ['(cn>=\\ff)', 'is not UTF-8'],
  ['(a<=now(unix))', '"now(unix)" is not known; there are now(), such as 20260131235900Z, and now(filetime)'],
  ['(:=now())', '":=" is no matching rule'],
  ['(a<=now()', 'is no comparison; now() and now(filetime) are whole values, such as (a<=now())'],
  ['(a>=NOW())', 'are whole values'],
])('%s is refused', (text, why) => {
  expect(() => parsed(text)).toThrow(`users.filter: "${text}" is not an LDAP filter`)
  expect(() => parsed(text)).toThrow(why)
})

test('no text makes the parser fail in another way', () => {
  const texts = fc.string({ unit: fc.constantFrom(...Array.from('()&|!=*\\a1: ~<>')), maxLength: 20 })
  fc.assert(
    fc.property(texts, (text) => {
      expect(codeOf(() => parsed(text))).toBeOneOf([undefined, 'config-invalid'])
    }),
  )
})

function codeOf(act: () => unknown): unknown {
  try {
    act()
    return undefined
  } catch (error) {
    return error instanceof DirsyncdError ? error.code : error
  }
}

test('ids go into a filter as they are', () => {
  const filter = anyOf('uid', [Buffer.from('*)(uid=*'), Buffer.from([0xff, 0x00])])
  expect(wire(filter)).toContain(Buffer.from('*)(uid=*').toString('hex'))
  expect(wire(filter)).toContain('0402ff00')
})

test('the attributes of a filter are those of every clause', () => {
  const text =
    '(&(a=1)(|(b>=2)(c<=3)(d~=4))(!(e=x*y))(f=*)(g;lang-de=h)(memberOf:1.2.840.113556.1.4.1941:=cn=x)(:dn:2.5.13.2:=x))'
  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'memberOf']
  expect(attributesOf(parseFilter(text, 'users.filter'))).toEqual(names)
})
