import { type CsvError, type InfoRecord, parse, type Parser } from 'csv-parse'
import { DirsyncdError } from '../../errors.ts'
import { type Header, parseHeader, rowProblem } from './header.ts'
import type { CsvInput, CsvListener, CsvTotals } from './input.ts'

export interface RowParser {
  readonly parser: Parser
  /** Whether the last row that was parsed could be understood. */
  lastRowWhole(): boolean
  /** Throws for a file without a header or without the columns that are wanted; only the end shows a cut header. */
  totals(): CsvTotals
}

/**
 * The rows of one file. Everything happens inside csv-parse's callbacks, because its stream tells of broken rows and of
 * good ones in no common order.
 */
export function createRowParser(input: CsvInput, name: string, listener: CsvListener): RowParser {
  let header: Header | undefined
  let rows = 0
  let broken = 0
  let brokenLine = 0
  let doubleCounted = 0
  let whole = false

  function place(info: { lines: number; records: number; empty_lines: number }, breaks: number): string {
    const row = info.records + broken + info.empty_lines
    const line = info.lines - doubleCounted - breaks
    return row === line ? `${name}, row ${row}` : `${name}, row ${row} (line ${line})`
  }

  function onRecord(cells: string[], info: InfoRecord): void {
    const { breaks, crlf } = lineBreaks(cells)
    // csv-parse counts a CRLF inside of quotes as two lines.
    doubleCounted += crlf
    const from = place(info, breaks)
    whole = true
    if (header === undefined) {
      header = parseHeader(cells, input, name)
      return
    }
    if (header.problem !== undefined) return
    if (cells.every((cell) => cell.trim() === '')) return
    rows += 1
    const problem = rowProblem(cells, header, breaks > 0)
    whole = problem === undefined
    if (problem === undefined) listener.onRow({ from, cells: header.lookup(cells) })
    else listener.onUnreadable(`${from}: ${problem}`)
  }

  function onSkip(error: CsvError | undefined): undefined {
    if (error === undefined || header?.problem !== undefined) return
    const fault = quoteFault(error, header)
    whole = false
    if (error.code === 'CSV_QUOTE_NOT_CLOSED' || header === undefined) {
      const line = Number(error['lines']) - doubleCounted
      throw new DirsyncdError(
        'source-incomplete',
        `${name}, up to line ${line}: ${fault}; the file cannot be understood`,
      )
    }
    leaveQuotes(parser)
    const line = Number(error['lines'])
    if (line === brokenLine) return
    brokenLine = line
    broken += 1
    rows += 1
    const info = { lines: line, records: Number(error['records']), empty_lines: Number(error['empty_lines']) }
    listener.onUnreadable(`${place(info, 0)}: ${fault}`)
  }

  const parser = parse({
    bom: true,
    delimiter: input.delimiter,
    // Named, because csv-parse otherwise takes the first line's end for that of all, and ids would end with a CR.
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_column_count: true,
    skip_empty_lines: true,
    skip_records_with_error: true,
    on_record: (cells: string[], info: InfoRecord) => {
      onRecord(cells, info)
      return null
    },
    on_skip: onSkip,
  })
  return {
    parser,
    lastRowWhole: () => whole,
    totals() {
      if (header === undefined) {
        throw new DirsyncdError('source-incomplete', `${input.path} is empty: there is not even a header`)
      }
      if (header.problem !== undefined) throw new DirsyncdError('config-invalid', header.problem)
      return { rows, columns: header.columns }
    },
  }
}

/**
 * After text behind a closing quote csv-parse reads on as if the quote were still open, and would swallow every row up
 * to the next quote. Out of quotes, the broken row ends with its line.
 */
function leaveQuotes(parser: Parser): void {
  const { state } = parser as Parser & { readonly state: { quoting: boolean } }
  state.quoting = false
}

const QUOTE_FAULTS = new Map<string, string>([
  ['CSV_QUOTE_NOT_CLOSED', 'a quote is opened and never closed'],
  ['CSV_INVALID_CLOSING_QUOTE', 'there is text behind a closing quote'],
  ['INVALID_OPENING_QUOTE', 'there is a quote in the middle of a value that does not begin with one'],
])

function quoteFault(error: CsvError, header: Header | undefined): string {
  const position = Number(error['column'] ?? error['index'])
  const column = header?.columns[position]
  const where = column === undefined ? '' : `column "${column}": `
  return `${where}${QUOTE_FAULTS.get(error.code) ?? `it does not parse (${error.code})`}`
}

function lineBreaks(cells: readonly string[]): { readonly breaks: number; readonly crlf: number } {
  let breaks = 0
  let crlf = 0
  for (const cell of cells) {
    if (!cell.includes('\n') && !cell.includes('\r')) continue
    const found = cell.match(/\r\n|\n|\r/g) ?? []
    breaks += found.length
    crlf += found.filter((each) => each === '\r\n').length
  }
  return { breaks, crlf }
}
