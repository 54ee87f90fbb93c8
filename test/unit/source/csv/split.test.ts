import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type RawRow, type SplitOptions, Splitter } from '../../../../src/source/csv/split.ts'

const COMMA: SplitOptions = { delimiter: ',', quote: '"' }

/** Chunks end with whole characters, as a decoder promises. */
function split(text: string, options = COMMA, lengths: readonly number[] = []): RawRow[] {
  const rows: RawRow[] = []
  const splitter = new Splitter(options, (row) => rows.push(row))
  const characters = Array.from(text)
  for (const length of lengths) splitter.write(characters.splice(0, length).join(''))
  splitter.write(characters.join(''))
  splitter.end()
  return rows
}

const cellsOf = (text: string, options = COMMA) => split(text, options).map(({ cells }) => cells)

const character = fc.constantFrom('a', 'é', '👩', ' ', '\0', ',', ';', '"', "'", '§', '\n', '\r', '\ufeff')
const value = fc.string({ unit: character, maxLength: 8 })
const lengths = fc.array(fc.nat({ max: 5 }), { maxLength: 40 })
const format = fc.constantFrom<SplitOptions>(
  COMMA,
  { delimiter: ';', quote: "'" },
  { delimiter: '\t', quote: '§' },
  { delimiter: '§', quote: '"' },
)
const lineEnd = fc.constantFrom('\n', '\r\n', '\r')

/** As an exporter writes it that quotes what has to be, and now and then more. */
function written(text: string, { delimiter, quote }: SplitOptions, always: boolean): string {
  const needs =
    text === '' || [delimiter, quote ?? '', '\n', '\r', '\ufeff'].some((each) => text.includes(each))
  return needs || always ? `${quote}${text.replaceAll(`${quote}`, `${quote}${quote}`)}${quote}` : text
}

function breaksIn(text: string): number {
  return text.match(/\r\n|\n|\r/g)?.length ?? 0
}

test('what was written is read, with its rows and lines, however the file is cut into chunks', () => {
  const table = fc.array(
    fc.record({ cells: fc.array(value, { minLength: 1 }), end: lineEnd, always: fc.boolean() }),
  )
  fc.assert(
    fc.property(table, format, lengths, (rows, options, chunks) => {
      const lines = rows.map(({ cells, always }) =>
        cells.map((cell) => written(cell, options, always)).join(options.delimiter),
      )
      const text = lines.map((line, index) => line + rows[index]?.end).join('')
      let line = 1
      const expected = rows.map(({ cells }, index) => {
        const multiline = cells.some((cell) => /[\r\n]/.test(cell))
        const damaged = cells.findIndex((cell) => cell.includes('\0'))
        const fault = damaged < 0 ? undefined : { what: 'zero-byte', cell: damaged }
        const row = { cells, row: index + 1, line, multiline, fault }
        line += 1 + breaksIn(lines[index] ?? '')
        return row
      })
      expect(split(text, options, chunks)).toEqual(expected)
    }),
  )
})

test('whatever is in a file, its chunks change nothing', () => {
  const soup = fc.string({ unit: character, maxLength: 60 })
  fc.assert(
    fc.property(soup, format, lengths, (text, options, chunks) => {
      expect(split(text, options, chunks)).toEqual(split(text, options))
    }),
  )
})

test.each([
  ['a quote in a value', '2,Anna "Bo" C,x', 'quote-in-value', 1],
  ['a lonely quote', '2,x,5" y', 'quote-in-value', 2],
  ['text behind a quote', '2,"b"@x,"y, z"', 'text-after-quote', 1],
  ['text and a quote behind a quote', '"2" "3",x,y', 'text-after-quote', 0],
] as const)('a row with %s is one broken row', (_, broken, what, cell) => {
  const rows = split(`1,a,b\n${broken}\n3,"c\nd",e\n`)
  expect(rows.map(({ row, line, fault }) => [row, line, fault])).toEqual([
    [1, 1, undefined],
    [2, 2, { what, cell }],
    [3, 3, undefined],
  ])
})

test('a quote that is never closed is told with its cell', () => {
  expect(split('1,a\n2,"b\n3,c\n').at(-1)).toMatchObject({
    row: 2,
    line: 2,
    fault: { what: 'quote-not-closed', cell: 1 },
  })
})

test('a quote that is never closed is worse than what else is wrong with its row', () => {
  for (const text of ['x\0,"b\n3,c\n', 'x"y,"b\n3,c\n'])
    expect(split(text).at(-1)?.fault).toEqual({ what: 'quote-not-closed', cell: 1 })
})

test('empty lines are no rows, and are counted', () => {
  const rows = split('a\n\n\r\nb\n""\n')
  expect(rows.map(({ cells, row }) => [cells, row])).toEqual([
    [['a'], 1],
    [['b'], 4],
    [[''], 5],
  ])
})

test('without a quote every character is text', () => {
  expect(cellsOf('"a";b"\n', { delimiter: ';', quote: null })).toEqual([['"a"', 'b"']])
})

test('a value ends with the file', () => {
  for (const text of ['a,', 'a,""', '"a",']) expect(cellsOf(text)).toEqual([['a', '']])
})
