import fc from 'fast-check'
import { expect, test } from 'vitest'
import { sortInSteps } from '../../../src/base/sorting.ts'
import { atOnce, PART } from '../../../src/base/steps.ts'

function byKey(a: { readonly key: number }, b: { readonly key: number }): number {
  return a.key - b.key
}

test('a sort in steps gives what a sort at once does, with equal items in their order', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 5 * PART }),
      fc.integer({ min: 1, max: 1000 }),
      (length, values) => {
        const items = Array.from({ length }, (_, index) => ({ key: (index * 7919) % values, index }))
        expect(atOnce(sortInSteps(length, (a, b) => byKey(items[a]!, items[b]!)))).toEqual(
          Int32Array.from(items.toSorted(byKey), ({ index }) => index),
        )
      },
    ),
    { numRuns: 50 },
  )
})

test('no step of a sort compares more than a part', () => {
  let compared = 0
  const steps = sortInSteps(10 * PART, (a, b) => {
    compared += 1
    return b - a
  })
  for (let step = steps.next(); step.done !== true; step = steps.next()) {
    expect(compared).toBeLessThan(PART * Math.log2(PART))
    compared = 0
  }
})
