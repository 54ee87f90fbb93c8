import { expect, test } from 'vitest'
import { whyNotOpen } from '../../../../src/base/database/open.ts'

test.each([
  [{ name: 'ErrnoError', errno: 51 }, 'the disk is full'],
  [{ name: 'ErrnoError', errno: 99 }, 'its files cannot be used (error 99)'],
  [new Error('broken. Build with -sASSERTIONS for more info.'), 'broken'],
])('why an embedded store does not open is a reason in words: %j', (error, reason) => {
  expect(whyNotOpen(error)).toBe(reason)
})
