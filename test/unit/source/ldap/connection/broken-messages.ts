import * as fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import { BerReader } from '../../../../../src/source/ldap/connection/ber-reader.ts'
import type { LdapEntry } from '../../../../../src/source/ldap/entry.ts'
import { valueDecoder } from '../../../../../src/source/ldap/values.ts'
import {
  decodeAll,
  ENUMERATED,
  encode,
  encodeInteger,
  OCTETS,
  SEQUENCE,
  type Tlv,
} from '../../../../support/ber.ts'
import { type Decoded, decodeStream, entryMessage } from '../../../../support/ldap-entry.ts'

/** What a server may send that is no LDAP, or is meant to harm. */

const PEOPLE = [
  entryMessage(7, 'uid=anna,dc=x', {
    uid: ['anna'],
    objectGUID: [Buffer.from('33221100554477668899aabbccddeeff', 'hex')],
    objectSid: [Buffer.from('010500000000000515000000a065cf7e784b9b5fe77c8770091c0100', 'hex')],
    mail: ['anna@example.org', 'anna.é@example.org'],
    none: [],
    jpegPhoto: [Buffer.alloc(30, 0xfd)],
  }),
  entryMessage(7, 'cn=all,dc=x', {
    member: ['uid=anna,dc=x', 'uid=ben,dc=x', ''],
    'member;range=0-2': ['x'],
  }),
]

const RESULTS = [
  message(0x65, [encodeInteger(0, ENUMERATED), encode(OCTETS, ''), encode(OCTETS, 'fine\0')], cookie('next')),
  message(0x65, [
    encodeInteger(10, ENUMERATED),
    encode(OCTETS, 'dc=x'),
    encode(OCTETS, ''),
    encode(0xa3, encode(OCTETS, 'ldap://other')),
  ]),
  message(0x78, [
    encodeInteger(0, ENUMERATED),
    encode(OCTETS, ''),
    encode(OCTETS, ''),
    encode(0x8a, '1.2.3'),
    encode(0x8b, 'dn:cn=reader'),
  ]),
  message(0x61, [
    encodeInteger(49, ENUMERATED),
    encode(OCTETS, ''),
    encode(OCTETS, 'no'),
    encode(0x87, 'sasl'),
  ]),
  message(0x73, [encode(OCTETS, 'ldap://other')]),
]

export const ALL = [...PEOPLE, ...RESULTS]

function message(tag: number, parts: readonly Buffer[], controls?: Buffer): Buffer {
  return encode(
    SEQUENCE,
    encodeInteger(7),
    encode(tag, ...parts),
    ...(controls === undefined ? [] : [controls]),
  )
}

function cookie(text: string): Buffer {
  const value = encode(SEQUENCE, encodeInteger(0), encode(OCTETS, text))
  const paging = encode(SEQUENCE, encode(OCTETS, '1.2.840.113556.1.4.319'), encode(OCTETS, value))
  const other = encode(
    SEQUENCE,
    encode(OCTETS, '1.2.3.4'),
    encode(0x01, Buffer.from([0xff])),
    encode(OCTETS, 'y'),
  )
  return encode(0xa0, other, paging, other)
}

/** What a connection makes of these bytes; none where it would be lost. The steps that it takes are bounded. */
export function answersTo(bytes: Buffer): readonly Decoded[] {
  const steps = vi.spyOn(BerReader.prototype, 'next')
  try {
    return decodeStream(bytes)
  } catch (error) {
    expect((error as Error).message).toMatch(
      /^(a broken message arrived \(.+\)|what arrived is not LDAP|a message of (\d+ bytes was announced|type 0x\w+ was not asked for))$/,
    )
    return []
  } finally {
    expect(steps.mock.calls.length).toBeLessThanOrEqual(bytes.length / 2 + 1)
    steps.mockRestore()
  }
}

/** Every entry has exactly what an independent decoder finds in the message, which it reads to the last byte. */
export function expectAsSent(bytes: Buffer): void {
  const entries = answersTo(bytes).flatMap((answer) => {
    if (answer.type !== 'entry') return []
    const { dn, attributes } = answer.entry
    return [{ dn, attributes }]
  })
  const sent = entries.length === 0 ? [] : messagesIn(bytes).flatMap(entryIn)
  expect(entries).toEqual(sent)
}

/** The whole messages; what behind them has begun and not ended is no message yet. */
function messagesIn(bytes: Buffer): Tlv[] {
  for (let end = bytes.length; end > 0; end -= 1) {
    try {
      return decodeAll(bytes.subarray(0, end))
    } catch {
      // Cut off here.
    }
  }
  return []
}

function entryIn(wire: Tlv): LdapEntry[] {
  const [, operation] = decodeAll(wire.content)
  if (operation?.tag !== 0x64) return []
  const [dn, list] = decodeAll(operation.content)
  const attributes = new Map<string, string[]>()
  for (const attribute of decodeAll(list!.content)) {
    const [description, set, ...extensions] = decodeAll(attribute.content)
    for (const { tag } of extensions) expect(tag & 0xc0).toBe(0x80)
    const name = description!.content.toString('latin1').toLowerCase()
    const decode = valueDecoder(name)
    const values = decodeAll(set!.content).map(({ content }) => decode(content, 0, content.length))
    attributes.set(name, [...(attributes.get(name) ?? []), ...values])
  }
  return [{ dn: dn!.content.toString(), attributes }]
}

/** The same content under a header that tells its length. */
export function relabelled(bytes: Buffer): Buffer {
  const header = (bytes[1] ?? 0) < 0x80 ? 2 : 2 + (bytes[1]! & 0x7f)
  return encode(SEQUENCE, bytes.subarray(header))
}

export function testMutations(numRuns: number): void {
  test('several bytes that are changed, taken out or put in give no entry that was not sent', () => {
    const edit = fc.record({
      at: fc.nat(1000),
      remove: fc.nat(4),
      insert: fc.uint8Array({ maxLength: 6 }),
    })
    fc.assert(
      fc.property(
        fc.constantFrom(...ALL),
        fc.array(edit, { minLength: 1, maxLength: 5 }),
        fc.boolean(),
        (whole, edits, repair) => {
          let bytes = whole
          for (const { at, remove, insert } of edits) {
            const start = at % (bytes.length + 1)
            bytes = Buffer.concat([bytes.subarray(0, start), insert, bytes.subarray(start + remove)])
          }
          expectAsSent(repair ? relabelled(bytes) : bytes)
        },
      ),
      { numRuns },
    )
  })
}
