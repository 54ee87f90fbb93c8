import { expect, test } from 'vitest'
import { parseRetryAfter } from '../../../../src/api/client/retry-after.ts'

const NOW = Date.parse('2026-03-01T12:00:00Z')

test.each([
  ['0', 0],
  [' 120 ', 120_000],
  ['Sun, 01 Mar 2026 12:00:30 GMT', 30_000],
  ['Sunday, 01-Mar-26 12:00:30 GMT', 30_000],
  ['Sun, 01 Mar 2026 11:00:00 GMT', 0],
  ['', undefined],
  ['-1', undefined],
  ['1.5', undefined],
  ['soon', undefined],
  ['99999999999999', undefined],
  [undefined, undefined],
])('Retry-After %j means %j ms', (header, ms) => {
  expect(parseRetryAfter(header, NOW)).toBe(ms)
})
