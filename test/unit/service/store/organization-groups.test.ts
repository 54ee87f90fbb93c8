import fc from 'fast-check'
import { expect, test } from 'vitest'
import { foldName } from '../../../../src/service/store/organization-groups.ts'

test.each([
  ['Größere', 'GRÖSSERE'],
  ['Größere', 'GRÖẞERE'],
  ['Größere', 'gro\u0308ssere'],
  ['ΟΔΟΣ', 'οδος'],
  ['ΟΔΟΣ', 'οδοσ'],
  ['İstanbul', 'i\u0307stanbul'],
  ['ﬁnance', 'FINANCE'],
  ['Ñandú', 'ñANDÚ'],
  ['Отдел', 'ОТДЕЛ'],
])('%s and %s are one text for a search', (a, b) => {
  expect(foldName(a)).toBe(foldName(b))
})

test.each([
  ['Größere', 'Grossere'],
  ['resume', 'résumé'],
  ['a b', 'ab'],
])('%s and %s are two', (a, b) => {
  expect(foldName(a)).not.toBe(foldName(b))
})

const letters = fc.string({ unit: fc.constantFrom(...Array.from('aAßẞσςΣİıéÉﬁжЖ 9_%🙂')), maxLength: 12 })

test('the case of a text never matters, and folding twice is folding once', () => {
  fc.assert(
    fc.property(letters, (text) => {
      const folded = foldName(text)
      expect(foldName(folded)).toBe(folded)
      expect(foldName(text.toUpperCase())).toBe(folded)
      expect(foldName(text.toLowerCase())).toBe(folded)
    }),
  )
})

test('a part of a name is found in it, whatever the case', () => {
  fc.assert(
    fc.property(letters, letters, letters, (before, part, after) => {
      const name = foldName(`${before}${part}${after}`)
      expect(name).toContain(foldName(part.toUpperCase()))
    }),
  )
})
