import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodeUpToDateVector } from '../../../../../src/source/ldap/position/up-to-date-vector.ts'

const ID = Buffer.from('00112233445566778899aabbccddeeff', 'hex')
const ID_TEXT = '33221100-5544-7766-8899-aabbccddeeff'

function vector(version: number, cursors: readonly bigint[], count = cursors.length): Buffer {
  const header = Buffer.alloc(16)
  header.writeUInt32LE(version, 0)
  header.writeUInt32LE(count, 8)
  const each = cursors.map((usn, index) => {
    const cursor = Buffer.alloc(version === 1 ? 24 : 32)
    ID.copy(cursor)
    cursor[15] = 0xff - index
    cursor.writeBigUInt64LE(usn, 16)
    return cursor
  })
  return Buffer.concat([header, ...each])
}

test.each([1, 2])('version %i names each invocation id with its last change number', (version) => {
  expect(decodeUpToDateVector(vector(version, [3939n, 2n ** 53n + 1n]))).toEqual(
    new Map([
      [ID_TEXT, '3939'],
      [ID_TEXT.replace(/ff$/, 'fe'), '9007199254740993'],
    ]),
  )
  expect(decodeUpToDateVector(vector(version, []))).toEqual(new Map())
})

test.each<[string, Buffer]>([
  ['nothing', Buffer.alloc(0)],
  ['half a header', Buffer.alloc(15)],
  ['another version', vector(3, [1n])],
  ['fewer cursors than it says', vector(2, [1n], 2)],
  ['more cursors than it says', vector(2, [1n, 2n], 1)],
  ['a count beyond all bounds', vector(2, [], 0xffffffff)],
  ['a cut cursor', vector(2, [1n]).subarray(0, -1)],
])('%s is no vector', (_, bytes) => {
  expect(decodeUpToDateVector(bytes)).toBeUndefined()
})

test('whatever the bytes are, nothing is thrown', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
      const [first = 0] = bytes
      if (bytes.length > 16) bytes.set([1 + (first % 2), 0, 0, 0, 0, 0, 0, 0, first % 4, 0, 0, 0])
      const decoded = decodeUpToDateVector(Buffer.from(bytes))
      expect(decoded === undefined || decoded instanceof Map).toBe(true)
    }),
  )
})
