import { expect, test } from 'vitest'
import { howToGoOn } from '../../../src/queue/refusals.ts'

test.each([
  ['none was refused', { inRow: 0, probes: 0 }, 'together'],
  ['three were refused in a row', { inRow: 3, probes: 0 }, 'together'],
  ['four were refused in a row', { inRow: 4, probes: 0 }, 'one-by-one'],
  ['those under way were refused, too', { inRow: 40, probes: 0 }, 'one-by-one'],
  ['19 more were tried one by one', { inRow: 23, probes: 19 }, 'one-by-one'],
  ['20 more were tried one by one', { inRow: 24, probes: 20 }, 'stop'],
] as const)('when %s, the others are tried %o: %s', (_, refusals, expected) => {
  expect(howToGoOn(refusals)).toBe(expected)
})
