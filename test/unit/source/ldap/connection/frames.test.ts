import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { createFramer } from '../../../../../src/source/ldap/connection/frames.ts'

function message(length: number): Buffer {
  const header = length < 0x80 ? [0x30, length] : [0x30, 0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from(header), content(length)])
}

function content(length: number): Buffer {
  return Buffer.alloc(length, length)
}

test('messages come out whole, however the bytes were cut', () => {
  const lengths = fc.array(fc.integer({ min: 0, max: 600 }), { minLength: 1, maxLength: 10 })
  fc.assert(
    fc.property(
      lengths,
      fc.array(fc.integer({ min: 1, max: 700 }), { minLength: 1, maxLength: 30 }),
      (sizes, cuts) => {
        const out: Buffer[] = []
        const framer = createFramer((bytes, start, end) => out.push(Buffer.from(bytes.subarray(start, end))))
        const all = Buffer.concat(sizes.map(message))
        let at = 0
        for (let turn = 0; at < all.length; turn += 1) {
          const end = at + (cuts[turn % cuts.length] ?? 1)
          framer.push(all.subarray(at, end))
          at = end
        }
        expect(out).toEqual(sizes.map(content))
        expect(framer.partial).toBe(false)
      },
    ),
  )
})

test('a begun message is partial', () => {
  const framer = createFramer(() => expect.unreachable())
  framer.push(Buffer.from([0x30, 0x05, 0x02]))
  expect(framer.partial).toBe(true)
})

test.each([
  ['a web server', Buffer.from('HTTP/1.1 400 Bad Request')],
  ['an endless length', Buffer.from([0x30, 0x80, 0, 0])],
  ['a length of gigabytes', Buffer.from([0x30, 0x84, 0x7f, 0xff, 0xff, 0xff])],
])('%s is not LDAP', (_, bytes) => {
  expect(() => createFramer(() => undefined).push(bytes)).toThrow(/not LDAP|announced/)
})
