import { expect, test } from 'vitest'
import { type Decoded, decodeStream } from '../../../../support/ldap-entry.ts'

/** One BER element of a short length. */
function ber(tag: number, ...content: (Buffer | string | number[])[]): Buffer {
  const body = Buffer.concat(content.map((part) => Buffer.from(part as string)))
  return Buffer.concat([Buffer.from([tag, body.length]), body])
}

/** One BER element of any length. */
function long(tag: number, ...content: Buffer[]): Buffer {
  const body = Buffer.concat(content)
  const header = Buffer.from([tag, 0x84, 0, 0, 0, 0])
  header.writeUInt32BE(body.length, 2)
  return Buffer.concat([header, body])
}

function decodeAnswer(message: Buffer): Decoded {
  const [answer, ...others] = decodeStream(message)
  if (answer === undefined || others.length > 0) throw new Error('not one message')
  return answer
}

const ID = ber(0x02, [7])
const PAGING = ber(0x04, '1.2.840.113556.1.4.319')

function result(code: number, ...more: Buffer[]): Buffer {
  return ber(0x65, ber(0x0a, [code]), ber(0x04, ''), ber(0x04, 'why\0'), ...more)
}

test('a result has its code, what the server says and the cookie', () => {
  const control = ber(0x30, PAGING, ber(0x04, ber(0x30, ber(0x02, [0]), ber(0x04, 'next'))))
  expect(decodeAnswer(ber(0x30, ID, result(0), ber(0xa0, control)))).toEqual({
    type: 'result',
    messageId: 7,
    result: { operation: 'search', code: 0, diagnostic: 'why', referral: [], cookie: Buffer.from('next') },
  })
})

test('the cookie is found behind a referral, and among other controls', () => {
  const other = ber(0x30, ber(0x04, '1.2.3.4'), ber(0x01, [0]))
  const control = ber(0x30, PAGING, ber(0x01, [0xff]), ber(0x04, ber(0x30, ber(0x02, [0]), ber(0x04, 'on'))))
  const message = ber(
    0x30,
    ID,
    result(10, ber(0xa3, ber(0x04, 'ldap://x'))),
    ber(0xa0, other, control, other),
  )
  expect(decodeAnswer(message)).toMatchObject({
    result: { code: 10, referral: ['ldap://x'], cookie: Buffer.from('on') },
  })
})

test('a cookie does not keep what it came with in memory', () => {
  const control = ber(0x30, PAGING, ber(0x04, ber(0x30, ber(0x02, [0]), ber(0x04, 'next'))))
  const chunk = Buffer.concat([Buffer.alloc(100_000), ber(0x30, ID, result(0), ber(0xa0, control))])
  const answer = decodeAnswer(chunk.subarray(100_000))
  expect(answer.type === 'result' && answer.result.cookie?.toString()).toBe('next')
  expect(answer.type === 'result' && answer.result.cookie?.buffer).not.toBe(chunk.buffer)
})

test('without the control there is no cookie', () => {
  expect(decodeAnswer(ber(0x30, ID, result(0)))).toMatchObject({ result: { cookie: undefined } })
})

test('the values of an entry are what was sent, a byte order mark too, under lower-case names', () => {
  const values = ber(0x31, ber(0x04, [0xef, 0xbb, 0xbf, 0x41]), ber(0x04, [0xff]))
  const entry = ber(0x64, ber(0x04, 'uid=a'), ber(0x30, ber(0x30, ber(0x04, 'cN'), values)))
  expect(decodeAnswer(ber(0x30, ID, entry))).toEqual({
    type: 'entry',
    messageId: 7,
    entry: {
      dn: 'uid=a',
      attributes: new Map([['cn', ['\ufeffA', 'ff']]]),
      bytes: new Set(['cn']),
    },
  })
})

test('an attribute has none, one or several values, in one part or in two', () => {
  const attribute = (name: string, ...values: string[]) =>
    ber(0x30, ber(0x04, name), ber(0x31, ...values.map((value) => ber(0x04, value))))
  const parts = [
    attribute('none'),
    attribute('one', 'a'),
    attribute('MORE', 'b', 'c'),
    attribute('more', 'd'),
  ]
  const answer = decodeAnswer(ber(0x30, ID, ber(0x64, ber(0x04, ''), ber(0x30, ...parts))))
  expect(answer.type === 'entry' && answer.entry.attributes).toEqual(
    new Map([
      ['none', []],
      ['one', ['a']],
      ['more', ['b', 'c', 'd']],
    ]),
  )
})

test('entries of one connection may have their attributes in any order', () => {
  const entries = [
    ['cn', 'sn', 'mail'],
    ['cn', 'sn', 'mail'],
    ['cn', 'dn', 'mail'],
    ['sn', 'CN'],
    ['cn', 'sn', 'mails'],
    [],
    ['mail', 'sn', 'cn'],
  ]
  const messages = entries.map((names) => {
    const parts = names.map((name) => ber(0x30, ber(0x04, name), ber(0x31, ber(0x04, `the ${name}`))))
    return ber(0x30, ID, ber(0x64, ber(0x04, ''), ber(0x30, ...parts)))
  })
  const answers = decodeStream(Buffer.concat(messages))
  expect(answers.map((answer) => answer.type === 'entry' && answer.entry.attributes)).toEqual(
    entries.map((names) => new Map(names.map((name) => [name.toLowerCase(), [`the ${name}`]]))),
  )
})

test('an attribute in 100,000 parts takes no longer than 100,000 attributes', () => {
  const part = ber(0x30, ber(0x04, 'a'), ber(0x31, ber(0x04, 'b')))
  const parts = long(0x30, Buffer.concat(Array.from({ length: 100_000 }, () => part)))
  const answer = decodeAnswer(long(0x30, ID, long(0x64, ber(0x04, ''), parts)))
  const values = answer.type === 'entry' ? answer.entry.attributes.get('a') : undefined
  expect(values).toHaveLength(100_000)
})

test.each([
  ['a result without a code, which is no success', ber(0x30, ID, ber(0x65))],
  ['a result with its texts alone', ber(0x30, ID, ber(0x65, ber(0x04, ''), ber(0x04, '')))],
  ['a result without its texts', ber(0x30, ID, ber(0x65, ber(0x0a, [0])))],
  ['a paging control without a value', ber(0x30, ID, result(0), ber(0xa0, ber(0x30, PAGING)))],
  ['a message that nobody asked for', ber(0x30, ID, ber(0x79))],
  ['a message without anything', ber(0x30)],
  [
    'an entry whose values are cut',
    ber(0x30, ID, ber(0x64, ber(0x04, 'a'), ber(0x30, ber(0x30, ber(0x04, 'b'), [0x31, 9])))),
  ],
])('%s is an error', (_, message) => {
  expect(() => decodeAnswer(message)).toThrow(/^a broken message arrived \(.+\)$|was not asked for$/)
})

test('the value of an extended operation stands behind its name and a referral', () => {
  const parts = [ber(0x0a, [0]), ber(0x04, ''), ber(0x04, ''), ber(0xa3, ber(0x04, 'ldap://x'))]
  const named = ber(0x78, ...parts, ber(0x8a, '1.2.3'), ber(0x8b, 'dn:cn=reader'))
  expect(decodeAnswer(ber(0x30, ID, named))).toMatchObject({ result: { value: Buffer.from('dn:cn=reader') } })
  expect(decodeAnswer(ber(0x30, ID, ber(0x78, ...parts)))).toMatchObject({ result: { value: undefined } })
})
