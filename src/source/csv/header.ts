import type { Lookup } from '../mapping.ts'
import type { CsvInput } from './input.ts'
import { spreadsheetProblem } from './spreadsheet.ts'

/** The first row of a file, and what can be said about the others with it. */
export interface Header {
  readonly columns: readonly string[]
  /** A sentence when wanted columns are not there, or not once. */
  readonly problem: string | undefined
  /** The columns that are wanted, and where they are. */
  readonly positions: ReadonlyMap<string, number>
  /** Where the ids are, and the groups of a user: what every row has to have. */
  readonly idPositions: readonly number[]
  readonly delimiter: string
  lookup(cells: readonly string[]): Lookup
}

/** Throws nothing: a header may be half of one, which only the end of the file shows. */
export function parseHeader(cells: readonly string[], input: CsvInput, name: string): Header {
  const columns = cells.map((cell) => cell.trim())
  const keys = columns.map(columnKey)
  const positions = new Map(input.columns.map((wanted) => [wanted, keys.indexOf(columnKey(wanted))]))
  return {
    columns,
    problem: columnProblem(columns, input, name),
    positions,
    idPositions: (input.idColumns ?? []).map((column) => keys.indexOf(columnKey(column))),
    delimiter: input.delimiter,
    lookup: (row) => (column) => {
      const position = positions.get(column)
      return position === undefined ? [] : [row[position] ?? '']
    },
  }
}

/** Such as `column "mail"`; by its number where it has no name. */
export function columnName(header: Header, position: number): string {
  const name = header.columns[position] ?? ''
  return name === '' ? `column ${position + 1}` : `column "${name}"`
}

/** Columns of one key are one column: case, the blanks around a name and what cannot be seen are nobody's intention. */
function columnKey(name: string): string {
  return name
    .replaceAll(/\p{Cf}/gu, '')
    .trim()
    .normalize('NFC')
    .toLowerCase()
}

function columnProblem(columns: readonly string[], input: CsvInput, name: string): string | undefined {
  const existing = columns.map((column) => `"${column}"`).join(', ')
  const keys = columns.map(columnKey)
  const lacking: string[] = []
  for (const wanted of input.columns) {
    const count = keys.filter((key) => key === columnKey(wanted)).length
    if (count > 1) {
      return `${keyOf([wanted], input)}: ${name} has more than one column "${wanted}"; its columns are ${existing}`
    }
    if (count === 0) lacking.push(wanted)
  }
  if (lacking.length === 0) return undefined
  const what = lacking.length === 1 ? 'no column' : 'none of the columns'
  const missing = lacking.map((column) => `"${column}"`).join(', ')
  const problem = `${keyOf(lacking, input)}: ${name} has ${what} ${missing}; its columns are ${existing}`
  const other = otherDelimiter(columns.join(input.delimiter), lacking)
  if (other === undefined) return problem
  return `${problem}; with ${input.key}.delimiter ${JSON.stringify(other)} it would have`
}

/** Where the configuration names these columns. */
function keyOf(columns: readonly string[], { key, groupColumn }: CsvInput): string {
  return columns.length === 1 && columns[0] === groupColumn ? 'groups.column' : `${key}.map`
}

/** The delimiter with which a header would have these columns. */
function otherDelimiter(header: string, columns: readonly string[]): string | undefined {
  return [';', ',', '\t', '|'].find((delimiter) => {
    const keys = new Set(header.split(delimiter).map(columnKey))
    return columns.every((column) => keys.has(columnKey(column)))
  })
}

/** Why a row cannot be taken: nobody knows whose it was, or it may have swallowed others. */
export function rowProblem(cells: readonly string[], header: Header, multiline: boolean): string | undefined {
  if (!hasGoodLength(cells, header)) return countProblem(cells, header)
  if (isHeader(cells, header)) return 'it is the header again; were two files put together?'
  return idProblem(cells, header) ?? (multiline ? swallowProblem(cells, header) : undefined)
}

/**
 * Excel leaves out the last columns of a row where they are empty. A row of a single value may as well be a line about the
 * file, or the rest of a value with a line break.
 */
function hasGoodLength(cells: readonly string[], { columns, idPositions }: Header): boolean {
  if (cells.length === columns.length) return true
  const isShort = cells.length > 1 && cells.length < columns.length
  return isShort && idPositions.every((position) => position < cells.length)
}

function countProblem(cells: readonly string[], header: Header): string {
  const expected = header.columns.length
  const name = header.columns[cells.length] ?? ''
  const which =
    cells.length > expected
      ? `there is no column for value ${expected + 1}`
      : `${name === '' ? `value ${cells.length + 1}` : `"${name}"`} is missing`
  return `${cells.length} values instead of ${expected}, ${which}`
}

/** The first value alone says no for nearly every row. */
function isHeader(cells: readonly string[], { columns }: Header): boolean {
  return (
    cells[0]?.endsWith(columns[0] ?? '') === true && cells.every((cell, at) => plain(cell) === columns[at])
  )
}

/** Without the byte order mark with which the second of two files begins. */
function plain(cell: string): string {
  return cell.replace(/^\ufeff/, '').trim()
}

function idProblem(cells: readonly string[], header: Header): string | undefined {
  for (const position of header.idPositions) {
    const problem = spreadsheetProblem(cells[position] ?? '')
    if (problem !== undefined) return `${columnName(header, position)}: ${problem}`
  }
  return undefined
}

/**
 * A quote that is missing at one end swallows whole rows up to the next quote, and what comes out can have the right
 * number of values. A value of several lines is taken only where it is no part of the mapping and cannot be a row.
 */
function swallowProblem(cells: readonly string[], header: Header): string | undefined {
  const mapped = new Set(header.positions.values())
  for (const [position, cell] of cells.entries()) {
    if (!/[\r\n]/.test(cell)) continue
    const column = columnName(header, position)
    if (mapped.has(position)) return `${column} has a line break in it; is a quote missing?`
    if (cell.split(header.delimiter).length >= cells.length)
      return `${column} seems to hold whole rows; is a quote missing?`
  }
  return undefined
}
