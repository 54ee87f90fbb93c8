import { PassThrough } from 'node:stream'
import { expect, test, vi } from 'vitest'
import { createTail, withoutSecrets } from '../../../../src/source/command/tail.ts'

function said(text: string, secrets: readonly string[] = []): string {
  const stream = new PassThrough()
  const tail = createTail(stream, secrets)
  stream.emit('data', Buffer.from(text))
  return tail()
}

test('the last lines are shown on one', () => {
  expect(said('')).toBe('')
  expect(said('\n \r\n')).toBe('')
  expect(said('one\r\n\ntwo\n')).toBe(' and said: one / two')
  expect(said(Array.from({ length: 9 }, (_, line) => `line ${line}`).join('\n'))).toBe(
    ' and said: line 4 / line 5 / line 6 / line 7 / line 8',
  )
})

test('no more is kept and shown than a few lines', () => {
  expect(said('x'.repeat(100_000)).length).toBeLessThan(700)
})

test('what is not shown any more is forgotten', () => {
  const stream = new PassThrough()
  const tail = createTail(stream, [])
  using joining = vi.spyOn(Buffer, 'concat')
  for (let chunk = 0; chunk < 50; chunk += 1) stream.emit('data', Buffer.alloc(65_536, 'x'))
  const sizes = joining.mock.results.map(({ value }) => (value as Buffer).length)
  expect(Math.max(...sizes)).toBeLessThan(2 * 65_536)
  stream.emit('data', Buffer.from('\nlost'))
  expect(tail()).toMatch(/^ and said: x+ \/ lost$/)
})

test('no end of a secret is shown where its beginning is forgotten', () => {
  const secret = 'Tr0ub4dor&3/correct-horse-battery-stäple/0123456789abcdefghij'
  for (let behind = 8100; behind < 8300; behind += 1) {
    const text = said(`${secret}${'\n'.repeat(behind)}lost`, ['x', secret])
    expect(text).toMatch(/^ and said: (?:\*\*\* \/ )?lost$/)
  }
  expect(said(`${secret} `.repeat(1000), [secret])).toMatch(/^ and said: [* ]+$/)
})

test('secrets and the passwords of URLs are taken out', () => {
  expect(said('login with hunter2\nfailed: hunter2-and-more', ['hunter2', 'hunter2-and-more', ''])).toBe(
    ' and said: login with *** / failed: ***',
  )
  expect(said('key: line one\nline two', ['line one\nline two'])).toBe(' and said: key: ***')
  expect(withoutSecrets('postgres://reader:p@ss@db/hr refused', [])).toBe(
    'postgres://reader:***@db/hr refused',
  )
})
