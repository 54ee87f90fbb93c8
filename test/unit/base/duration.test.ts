import { expect, test } from 'vitest'
import { parseDuration } from '../../../src/base/duration.ts'

test.each([
  ['500ms', 500],
  ['1s', 1000],
  ['15m', 900_000],
  ['2h', 7_200_000],
  ['1d', 86_400_000],
  ['15', undefined],
  ['0s', 0],
  ['-1s', undefined],
  ['1.5h', undefined],
  ['1 s', undefined],
  ['15 minutes', undefined],
])('the duration %s', (text, milliseconds) => {
  expect(parseDuration(text)).toBe(milliseconds)
})
