import { Readable } from 'node:stream'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { splitLines } from '../../../../src/source/command/lines.ts'

const LIMITS = { maxOutput: 1000, maxLine: 20 }

async function linesOf(chunks: readonly (string | Buffer)[], limits = LIMITS): Promise<string[]> {
  const bytes = Readable.from(chunks.map((chunk) => Buffer.from(chunk)))
  const all: string[] = []
  for await (const { first, lines } of splitLines(bytes, limits, (why) => new Error(why))) {
    expect(first).toBe(all.length + 1)
    all.push(...lines)
  }
  return all
}

test.each<[string, readonly string[], readonly string[]]>([
  ['nothing', [], []],
  ['whole lines', ['a\nb\n'], ['a', 'b']],
  ['a last line without an end', ['a\nb'], ['a', 'b']],
  ['lines over several chunks', ['a', 'b\nc', '\n', 'd'], ['ab', 'c', 'd']],
  ['empty lines', ['\n\na\n'], ['', '', 'a']],
  ['a byte order mark', ['\ufeffa\n\ufeffb\n'], ['a', '\ufeffb']],
])('%s', async (_, chunks, lines) => {
  expect(await linesOf(chunks)).toEqual(lines)
})

test('any text in any pieces comes out as its lines', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.string({ unit: fc.constantFrom('a', 'ß', '\n', '😀', '\r') }),
      fc.integer({ min: 1, max: 7 }),
      async (text, size) => {
        const bytes = Buffer.from(text)
        const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
          bytes.subarray(index * size, (index + 1) * size),
        )
        const expected = text.split('\n')
        if (expected.at(-1) === '') expected.pop()
        expect(await linesOf(chunks, { maxOutput: 10_000, maxLine: 10_000 })).toEqual(expected)
      },
    ),
  )
})

test.each<[string, readonly (string | Buffer)[], string]>([
  [
    'one line over several chunks',
    ['a\n', 'b'.repeat(11), 'c'.repeat(11), '\n'],
    'line 2 of its output is longer than 20 bytes',
  ],
  [
    'one line in the middle of a chunk',
    [`a\n${'b'.repeat(21)}\nc\n`],
    'line 2 of its output is longer than 20 bytes',
  ],
  ['one line without an end', ['b'.repeat(21)], 'line 1 of its output is longer than 20 bytes'],
  [
    'too much of everything',
    Array.from({ length: 200 }, () => 'a\nbcd\n'),
    'it printed more than 1000 bytes (maxOutput)',
  ],
  ['Latin-1', ['a\nb\n', Buffer.from('M\xfcller\n', 'latin1')], 'line 3 of its output is not UTF-8'],
  ['a cut character', ['a\n', Buffer.from([0xc3])], 'line 2 of its output is not UTF-8'],
  ['half a pair of surrogates', [Buffer.from([0xed, 0xa0, 0x80, 0x0a])], 'line 1 of its output is not UTF-8'],
])('%s is refused', async (_, chunks, why) => {
  await expect(linesOf(chunks)).rejects.toThrow(why)
})
