import { expect, test } from 'vitest'
import { createClock } from '../../../src/queue/shared-clock.ts'

test('the quickest answer of late is believed', () => {
  const clock = createClock()
  expect(clock(1000, 1080, 51_070)).toBe(49_990)
  expect(clock(2000, 2002, 52_001)).toBe(49_999)
  expect(clock(3000, 3060, 53_010)).toBe(49_999)
})

test.each([
  ['forward', 3_600_000],
  ['back', -3_600_000],
])('a shared clock that is set %s is believed at once, however slow its answer', (_, change) => {
  const clock = createClock()
  clock(1000, 1002, 51_001)
  expect(clock(2000, 2050, 52_000 + change)).toBe(49_950 + change)
})
