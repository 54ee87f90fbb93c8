import type { Lookup } from '../mapping.ts'
import type { CsvInput } from './input.ts'

/** The first row of a file, and what can be said about the others with it. */
export interface Header {
  readonly columns: readonly string[]
  /** A sentence when wanted columns are not there, or not once. */
  readonly problem: string | undefined
  /** The columns that are wanted, and where they are. */
  readonly positions: ReadonlyMap<string, number>
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
    delimiter: input.delimiter,
    lookup: (row) => (column) => {
      const cell = row[positions.get(column) ?? -1]
      return cell === undefined ? [] : [cell]
    },
  }
}

/** Columns of one key are one column: case and the blanks around a name are nobody's intention. */
function columnKey(name: string): string {
  return name.trim().normalize('NFC').toLowerCase()
}

function columnProblem(columns: readonly string[], input: CsvInput, name: string): string | undefined {
  const existing = columns.map((column) => `"${column}"`).join(', ')
  const missing: string[] = []
  for (const wanted of input.columns) {
    const same = columns.filter((column) => columnKey(column) === columnKey(wanted))
    if (same.length > 1) {
      return `${input.key}.map: ${name} has more than one column "${wanted}"; its columns are ${existing}`
    }
    if (same.length === 0) missing.push(`"${wanted}"`)
  }
  if (missing.length === 0) return undefined
  const what = missing.length === 1 ? 'no column' : 'none of the columns'
  return `${input.key}.map: ${name} has ${what} ${missing.join(', ')}; its columns are ${existing}`
}

/** Why a row cannot be taken: nobody knows whose it was, or it may have swallowed others. */
export function rowProblem(cells: readonly string[], header: Header, multiline: boolean): string | undefined {
  const expected = header.columns.length
  if (cells.length !== expected) {
    const which =
      cells.length < expected
        ? `"${header.columns[cells.length]}" is missing`
        : `there is no column for value ${expected + 1}`
    return `${cells.length} values instead of ${expected}, ${which}`
  }
  return multiline ? swallowProblem(cells, header) : undefined
}

/**
 * A quote that is missing at one end swallows whole rows up to the next quote, and what comes out can have the right
 * number of values. A value of several lines is taken only where it is no part of the mapping and cannot be a row.
 */
function swallowProblem(cells: readonly string[], header: Header): string | undefined {
  const mapped = new Set(header.positions.values())
  for (const [position, cell] of cells.entries()) {
    if (!/[\r\n]/.test(cell)) continue
    const column = `column "${header.columns[position]}"`
    if (mapped.has(position)) return `${column} has a line break in it; is a quote missing?`
    if (cell.split(header.delimiter).length >= cells.length)
      return `${column} seems to hold whole rows; is a quote missing?`
  }
  return undefined
}
