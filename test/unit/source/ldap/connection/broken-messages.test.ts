import { describe, expect, test } from 'vitest'
import { decodeStream } from '../../../../support/ldap-entry.ts'
import { ALL, answersTo, expectAsSent, relabelled, testMutations } from './broken-messages.ts'

describe('bytes from a hostile server', () => {
  test('a length that leads before the beginning ends in a sentence', () => {
    const hostile = Buffer.from('3012020101780d0a0100040004008a84fffffffa', 'hex')
    expect(() => decodeStream(hostile)).toThrow('a broken message arrived (an element is cut off)')
    expect(answersTo(hostile)).toEqual([])
  })

  test('what is whole is read', () => {
    expect(answersTo(Buffer.concat(ALL)).map(({ type }) => type)).toEqual([
      'entry',
      'entry',
      'result',
      'result',
      'result',
      'result',
      'reference',
    ])
    expectAsSent(Buffer.concat(ALL))
  })

  test('a message that is cut off gives nothing', () => {
    for (const whole of ALL) {
      for (let length = 0; length < whole.length; length += 1) {
        expect(answersTo(whole.subarray(0, length))).toEqual([])
        expectAsSent(relabelled(whole.subarray(0, length)))
      }
    }
  })

  test('one byte that is another gives no entry that was not sent', () => {
    for (const whole of ALL) {
      for (let at = 0; at < whole.length; at += 1) {
        for (const byte of [
          0,
          1,
          2,
          0x7f,
          0x80,
          0x81,
          0x82,
          0x83,
          0x84,
          0x85,
          0xfa,
          0xff,
          whole[at]! + 1,
          whole[at]! - 1,
        ]) {
          const changed = Buffer.from(whole)
          changed[at] = byte
          expectAsSent(changed)
        }
      }
    }
  })
})

testMutations(1000)
