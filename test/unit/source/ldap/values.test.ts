import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { lookupIn } from '../../../../src/source/ldap/entry.ts'
import { valueBytes, valueDecoder } from '../../../../src/source/ldap/values.ts'
import { ldapEntry } from '../../../support/ldap-entry.ts'

/** The bytes stand between others, as in a message. */
function valueText(attribute: string, bytes: Buffer): string {
  const around = Buffer.concat([Buffer.from([1, 0xff]), bytes, Buffer.from([0xc3, 0x28])])
  return valueDecoder(attribute)(around, 2, 2 + bytes.length)
}

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

const SID = Buffer.from('010500000000000515000000a065cf7e784b9b5fe77c8770091c0100', 'hex')
const SID_TEXT = 'S-1-5-21-2127521184-1604012920-1887927527-72713'

test('a SID is written as Microsoft writes it', () => {
  expect(valueText('objectSid', SID)).toBe(SID_TEXT)
  expect(valueBytes('objectSid', SID_TEXT)).toEqual([SID])
  expect(valueText('objectSid', SID.subarray(1))).toBe(SID.subarray(1).toString('hex'))
})

test('every SID leads back to its bytes', () => {
  const part = fc.nat(0xffffffff)
  const sids = fc.tuple(fc.nat(2 ** 31 - 1), fc.array(part, { maxLength: 15 }))
  fc.assert(
    fc.property(sids, ([authority, parts]) => {
      const text = ['S-1', authority, ...parts].join('-')
      const [bytes = Buffer.alloc(0)] = valueBytes('objectSid', text)
      expect(valueText('objectSid', bytes)).toBe(text)
    }),
  )
})

test('text is taken byte for byte', () => {
  for (const text of [' Anna ', '\ufffd', '\ufeffAnna', 'e\u0301', '\0']) {
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
  for (const sid of ['S-1', 'S-1-5-', 'S-1-05', 'S-1-5-4294967296', 'S-2-5-18', 'S-1-5-x'])
    expect(valueBytes('objectSid', sid)).toEqual([])
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
  const lookup = lookupIn(ldapEntry('uid=a', { mail: ['a@x'], 'cn;lang-de': ['A'] }))
  expect(lookup('MAIL')).toEqual(['a@x'])
  expect(lookup('cn')).toEqual([])
  expect(lookup('cn;lang-DE')).toEqual(['A'])
})
