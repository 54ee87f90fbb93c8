import { expect, test } from 'vitest'
import { idProblem } from '../../../../src/core/entries/identity.ts'

test.each(['a/b', 'a?b#c%2F;d', ' a ', '...', 'žluť', '\u200b', '🙂', '__proto__', '0', 'x'.repeat(2048)])(
  'the id "%s" can be used',
  (id) => {
    expect(idProblem(id)).toBeUndefined()
  },
)

test.each([
  ['', 'the id is empty'],
  ['.', 'the id "." cannot be part of a URL path'],
  ['..', 'the id ".." cannot be part of a URL path'],
  ['\udc00', 'the id is not well-formed Unicode'],
  ['a\0', String.raw`the id "a\u0000" holds a control character`],
  ['\t', String.raw`the id "\t" holds a control character`],
  ['\u0085', 'the id "\u0085" holds a control character'],
  ['ž'.repeat(1025), `the id "${'ž'.repeat(40)}…" has 2050 bytes, more than 2048`],
])('the id %j is refused', (id, problem) => {
  expect(idProblem(id)).toBe(problem)
})
