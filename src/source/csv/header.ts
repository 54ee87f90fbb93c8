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

export function parseHeader(cells: readonly string[], input: CsvInput, name: string): Header {
  const columns = cells.map((cell) => cell.trim())
  const positions = new Map(input.columns.map((wanted) => [wanted, columns.indexOf(wanted)]))
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

function columnProblem(columns: readonly string[], input: CsvInput, name: string): string | undefined {
  for (const wanted of input.columns) {
    const count = columns.filter((column) => column === wanted).length
    if (count === 1) continue
    const has = count === 0 ? 'has no column' : 'has more than one column'
    const existing = columns.map((column) => `"${column}"`).join(', ')
    return `${input.key}.map: ${name} ${has} "${wanted}"; its columns are ${existing}`
  }
  return undefined
}

/** Why a row cannot be taken: nobody knows whose it was, or it may have swallowed others. */
export function rowProblem(cells: readonly string[], header: Header, multiline: boolean): string | undefined {
  const expected = header.columns.length
  if (cells.length !== expected) {
    const column = cells.length < expected ? `, "${header.columns[cells.length]}" is missing` : ''
    return `${cells.length} values instead of ${expected}${column}`
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
