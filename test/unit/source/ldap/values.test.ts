import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { lookupIn, valueBytes, valueText } from '../../../../src/source/ldap/values.ts'

const GUID = Buffer.from('33221100554477668899aabbccddeeff', 'hex')
const GUID_TEXT = '00112233-4455-6677-8899-aabbccddeeff'

test('a GUID is written as Microsoft writes it, whatever the spelling of the attribute', () => {
  expect(valueText('objectGUID', GUID)).toBe(GUID_TEXT)
  expect(valueText('OBJECTGUID', GUID)).toBe(GUID_TEXT)
  expect(valueBytes('objectGUID', GUID_TEXT)).toEqual([GUID])
})

test('a GUID that happens to be text is still a GUID', () => {
  expect(valueText('objectGUID', Buffer.from('abcdefghijklmnop'))).toBe(
    '64636261-6665-6867-696a-6b6c6d6e6f70',
  )
})

test('text is taken byte for byte', () => {
  for (const text of [' Anna ', '\ufeffAnna', 'e\u0301', '\0']) {
    expect(valueText('uid', Buffer.from(text))).toBe(text)
    expect(valueBytes('uid', text)).toEqual([Buffer.from(text)])
  }
})

test('what is not text is lower-case hexadecimal', () => {
  expect(valueText('uid', Buffer.from([0xff, 0xab]))).toBe('ffab')
  expect(valueText('objectSid', Buffer.from('abc'))).toBe('616263')
  expect(valueText('userCertificate;binary', Buffer.from('abc'))).toBe('616263')
})

test('an id of hexadecimal digits may be text or bytes', () => {
  expect(valueBytes('uid', 'ffab')).toEqual([Buffer.from('ffab'), Buffer.from([0xff, 0xab])])
  expect(valueBytes('uid', '6162')).toEqual([Buffer.from('6162')])
})

test('an id that no value can be is looked for nowhere', () => {
  expect(valueBytes('objectGUID', 'anna')).toEqual([])
  expect(valueBytes('objectSid', 'S-1-5')).toEqual([])
})

test('every value is found again by its text', () => {
  const attributes = fc.constantFrom('uid', 'objectGUID', 'objectSid', 'mS-DS-ConsistencyGuid', 'x;binary')
  fc.assert(
    fc.property(attributes, fc.uint8Array({ minLength: 1, maxLength: 20 }), (attribute, array) => {
      const bytes = Buffer.from(array)
      expect(valueBytes(attribute, valueText(attribute, bytes))).toContainEqual(bytes)
    }),
  )
})

test('names are compared without case, and options are another attribute', () => {
  const lookup = lookupIn({
    dn: 'uid=a',
    attributes: new Map([
      ['mail', [Buffer.from('a@x')]],
      ['cn;lang-de', [Buffer.from('A')]],
    ]),
  })
  expect(lookup('MAIL')).toEqual(['a@x'])
  expect(lookup('cn')).toEqual([])
  expect(lookup('cn;lang-DE')).toEqual(['A'])
})
