import fc from 'fast-check'
import { test } from 'vitest'
import { parseForm } from '../../../../src/service/http/form.ts'

export function testAnyForm(numRuns: number): void {
  test('a form of any text is an object or a problem', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('a', 'b', '[', ']', '=', '&', '%', '+', '1') }),
        (text) => {
          try {
            return typeof parseForm(text) === 'object'
          } catch (error) {
            return (error as Error).name === 'Problem'
          }
        },
      ),
      { numRuns },
    )
  })
}
