import { type CsvError, type InfoRecord, parse, type Parser } from 'csv-parse'
import { DirsyncdError } from '../../errors.ts'
import { type Header, parseHeader, rowProblem } from './header.ts'
import type { CsvInput, CsvListener, CsvTotals } from './input.ts'

export interface RowParser {
  readonly parser: Parser
  /** Whether the last row that was parsed could be understood. */
  lastRowWhole(): boolean
  /** The last line where a trailer is expected, which is no row then; to be asked behind the last chunk, once. */
  trailer(): string | undefined
  /** Throws for a file without a header or without the columns that are wanted; only the end shows a cut header. */
  totals(): CsvTotals
}

interface Row {
  readonly cells: readonly string[]
  readonly from: string
  readonly multiline: boolean
}

const MAX_ROW_BYTES = 4 * 1024 ** 2

const NO_BREAKS = { breaks: 0, crlf: 0 }

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
  let lines = 0
  /** With a trailer every row waits until the next one shows that it was not the last line. */
  let held: Row | undefined

  function place(info: { lines: number; records: number; empty_lines: number }, breaks: number): string {
    const row = info.records + broken + info.empty_lines
    const line = info.lines - doubleCounted - breaks
    return row === line ? `${name}, row ${row}` : `${name}, row ${row} (line ${line})`
  }

  function onRecord(cells: string[], info: InfoRecord): void {
    // Most rows are one line, and need no look for line breaks.
    const { breaks, crlf } = info.lines === lines + 1 ? NO_BREAKS : lineBreaks(cells)
    lines = info.lines
    // csv-parse counts a CRLF inside of quotes as two lines.
    doubleCounted += crlf
    whole = true
    if (header === undefined) {
      header = parseHeader(cells, input, name)
      return
    }
    if (header.problem !== undefined || cells.every((cell) => cell.trim() === '')) return
    const row = { cells, from: place(info, breaks), multiline: breaks > 0 }
    if (input.trailer === undefined) return take(row, header)
    release()
    held = row
  }

  function take({ cells, from, multiline }: Row, head: Header): void {
    rows += 1
    const problem = rowProblem(cells, head, multiline)
    whole = problem === undefined
    if (problem === undefined) listener.onRow({ from, cells: head.lookup(cells) })
    else listener.onUnreadable(`${from}: ${problem}`)
  }

  function release(): void {
    if (held !== undefined && header !== undefined) take(held, header)
    held = undefined
  }

  function onSkip(error: CsvError | undefined): undefined {
    if (error === undefined || header?.problem !== undefined) return
    release()
    const fault = quoteFault(error, header)
    whole = false
    if (FATAL_FAULTS.has(error.code) || header === undefined) {
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
    quote: input.quote === undefined ? '"' : input.quote,
    escape: input.quote ?? '"',
    // A quote that is never closed must not take the rest of a large file into memory.
    max_record_size: MAX_ROW_BYTES,
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
    trailer() {
      const line = held?.cells.join(input.delimiter)
      held = undefined
      return line
    },
    totals() {
      if (header === undefined) {
        throw new DirsyncdError('source-incomplete', `${name} is empty: there is not even a header`)
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

/** Behind these nobody knows where the next row begins. */
const FATAL_FAULTS: ReadonlySet<string> = new Set(['CSV_QUOTE_NOT_CLOSED', 'CSV_MAX_RECORD_SIZE'])

const QUOTE_FAULTS = new Map<string, string>([
  ['CSV_QUOTE_NOT_CLOSED', 'a quote is opened and never closed'],
  ['CSV_MAX_RECORD_SIZE', 'a row is longer than 4 MB, so a quote is opened and never closed'],
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
