import type { Lookup } from '../mapping.ts'
import type { CsvInput } from './input.ts'
import { spreadsheetProblem } from './spreadsheet.ts'

export interface Header {
  readonly columns: readonly string[]
  /** A sentence when a wanted column is missing or not unique. */
  readonly problem: string | undefined
  readonly positions: ReadonlyMap<string, number>
  /** The ids, and the groups of a user: every row must have these columns. */
  readonly idPositions: readonly number[]
  readonly delimiter: string
  lookup(cells: readonly string[]): Lookup
}

/** Never throws, because only the end of the file shows whether the header was cut off. */
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
      return position === undefined ? [] : [detached(row[position] ?? '')]
    },
  }
}

/** A copy, because a slice of a chunk of the file keeps the chunk in memory and is slow to hash. Only joining copies. */
function detached(cell: string): string {
  return [cell[0], cell.slice(1)].join('')
}

/** Such as `column "mail"`; its number where it has no name. */
export function columnName(header: Header, position: number): string {
  const name = header.columns[position] ?? ''
  return name === '' ? `column ${position + 1}` : `column "${name}"`
}

/** Case, blanks around a name and invisible characters do not count. */
export function columnKey(name: string): string {
  return name
    .replaceAll(/\p{Cf}/gu, '')
    .trim()
    .normalize('NFC')
    .toLowerCase()
}

function columnProblem(columns: readonly string[], input: CsvInput, name: string): string | undefined {
  const existing = columns.map((column) => `"${column}"`).join(', ')
  const keys = columns.map(columnKey)
  const absent: string[] = []
  for (const wanted of input.columns) {
    const count = keys.filter((key) => key === columnKey(wanted)).length
    if (count > 1) {
      return `${keyOf([wanted], input)}: ${name} has more than one column "${wanted}"; its columns are ${existing}`
    }
    if (count === 0) absent.push(wanted)
  }
  if (absent.length === 0) return undefined
  const what = absent.length === 1 ? 'no column' : 'none of the columns'
  const missing = absent.map((column) => `"${column}"`).join(', ')
  const problem = `${keyOf(absent, input)}: ${name} has ${what} ${missing}; its columns are ${existing}`
  const other = otherDelimiter(columns.join(input.delimiter), absent)
  if (other === undefined) return problem
  return `${problem}; try ${input.key}.delimiter ${JSON.stringify(other)}`
}

function keyOf(columns: readonly string[], { key, groupColumn }: CsvInput): string {
  return columns.length === 1 && columns[0] === groupColumn ? 'groups.column' : `${key}.map`
}

/** The delimiter with which the header would have these columns. */
function otherDelimiter(header: string, columns: readonly string[]): string | undefined {
  return [';', ',', '\t', '|'].find((delimiter) => {
    const keys = new Set(header.split(delimiter).map(columnKey))
    return columns.every((column) => keys.has(columnKey(column)))
  })
}

/** Why a row cannot be used: its entry is unknown, or it may have swallowed other rows. */
export function rowProblem(cells: readonly string[], header: Header, multiline: boolean): string | undefined {
  if (!hasGoodLength(cells, header)) return countProblem(cells, header)
  if (isHeader(cells, header)) return 'it is the header again; were two files put together?'
  return idProblem(cells, header) ?? (multiline ? swallowProblem(cells, header) : undefined)
}

/**
 * Excel leaves out empty columns at the end of a row. A row of a single value is refused, because it may be a line
 * about the file, or the rest of a value with a line break.
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

/** Compares the first value first, because it differs in nearly every row. */
function isHeader(cells: readonly string[], { columns }: Header): boolean {
  return (
    cells[0]?.endsWith(columns[0] ?? '') === true &&
    cells.every((cell, at) => withoutByteOrderMark(cell) === columns[at])
  )
}

/** In concatenated files, the second one begins with a byte order mark. */
function withoutByteOrderMark(cell: string): string {
  return cell.replace(/^\ufeff/, '').trim()
}

function idProblem(cells: readonly string[], header: Header): string | undefined {
  for (const position of header.idPositions) {
    const problem = spreadsheetProblem(cells[position] ?? '')
    if (problem !== undefined) return detached(`${columnName(header, position)}: ${problem}`)
  }
  return undefined
}

/**
 * After a missing quote a value swallows whole rows up to the next quote, and the result can have the right number of
 * values. So a value of several lines is accepted only in a column that is not mapped, and if it cannot be whole rows.
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
