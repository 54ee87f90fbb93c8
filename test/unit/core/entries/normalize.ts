import fc from 'fast-check'
import { expect, test } from 'vitest'
import { canonicalEmail } from '../../../../src/core/entries/normalize.ts'

export function testCanonicalEmail(numRuns: number): void {
  test('an e-mail has one canonical form, whatever its case and its Unicode form', () => {
    const letter = fc.oneof(
      fc.string({ unit: 'grapheme', minLength: 1, maxLength: 1 }),
      fc.constantFrom('J\u030c', '\u0399\u0308\u0301', '\u0391\u0345\u0301', '\u00e9', 'E\u0301', ' '),
    )
    const email = fc.array(letter).map((letters) => `x${letters.join('')}@example.org`)
    fc.assert(
      fc.property(email, (text) => {
        const canonical = canonicalEmail(text)
        expect(canonicalEmail(canonical)).toBe(canonical)
        for (const form of ['NFC', 'NFD'] as const) {
          expect(canonicalEmail(` ${text.normalize(form)} `)).toBe(canonical)
          expect(canonicalEmail(text.normalize(form).toLowerCase())).toBe(canonical)
        }
      }),
      { numRuns },
    )
  })
}
