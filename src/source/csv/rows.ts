import { DirsyncdError } from '../../base/errors.ts'
import { columnName, type Header, parseHeader, rowProblem } from './header.ts'
import type { CsvInput, CsvListener, CsvTotals } from './input.ts'
import { type RowFault, type RawRow, Splitter } from './split.ts'
import { statedDelimiter } from './spreadsheet.ts'

export interface RowReader {
  write(chunk: Buffer): void
  end(): void
  /** `undefined` without a row; false where the last row is broken or short. */
  lastRowWhole(): boolean | undefined
  /** The last line, which is not a row where a trailer is expected. Call it once, after `end`. */
  trailer(): string | undefined
  /** Call it after `end`. Throws for a file without a header or without the wanted columns. */
  totals(): CsvTotals
}

export function createRowReader(input: CsvInput, name: string, listener: CsvListener): RowReader {
  let header: Header | undefined
  let rows = 0
  let whole: boolean | undefined
  /** With a trailer every row waits until the next one shows that it was not the last line. */
  let pending: RawRow | undefined

  function onRow(row: RawRow): void {
    refuseFatal(row, header, name)
    // A broken row counts even if it looks empty, because its values may be lost.
    if (row.fault === undefined && row.cells.every((cell) => cell.trim() === '')) return
    whole = row.fault === undefined
    if (header === undefined) {
      if (!isDelimiterLine(row, input, name)) header = parseHeader(row.cells, input, name)
      return
    }
    if (header.problem !== undefined) return
    if (input.trailer === undefined) return take(row, header)
    takePending()
    pending = row
  }

  function take(row: RawRow, head: Header): void {
    rows += 1
    const { cells, multiline, fault } = row
    const problem = fault === undefined ? rowProblem(cells, head, multiline) : faultSentence(fault, head)
    whole = problem === undefined && cells.length === head.columns.length
    if (problem === undefined)
      listener.onRow({ from: () => locationOf(row, name), cells: head.lookup(cells) })
    else listener.onUnreadable({ from: locationOf(row, name), fault: problem })
  }

  function takePending(): void {
    if (pending !== undefined && header !== undefined) take(pending, header)
    pending = undefined
  }

  const quote = input.quote === undefined ? '"' : input.quote
  const splitter = new Splitter({ delimiter: input.delimiter, quote }, onRow)
  return {
    write: (chunk) => splitter.write(chunk),
    end: () => splitter.end(),
    lastRowWhole: () => whole,
    trailer() {
      const line = pending?.cells.join(input.delimiter)
      pending = undefined
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

/** Such as "users.csv, row 17"; with the line number if earlier values had several lines. */
function locationOf({ row, line }: RawRow, name: string): string {
  return row === line ? `${name}, row ${row}` : `${name}, row ${row} (line ${line})`
}

const FAULTS: Readonly<Record<RowFault['what'], string>> = {
  'quote-in-value': 'there is a quote in the middle of a value that does not begin with one',
  'text-after-quote': 'there is text after a closing quote',
  'quote-not-closed': 'a quote is opened and never closed',
  'zero-byte': 'there is a zero byte in it; is the file damaged, or its encoding wrong?',
  'too-long': 'the row is longer than 4 MB, so a quote is opened and never closed',
}

function faultSentence({ what, cell }: RowFault, header: Header | undefined): string {
  return header === undefined ? FAULTS[what] : `${columnName(header, cell)}: ${FAULTS[what]}`
}

/** Throws when it is unknown where the next row begins, or what the columns are. */
function refuseFatal(row: RawRow, header: Header | undefined, name: string): void {
  const { fault } = row
  if (fault === undefined) return
  const isLost = fault.what === 'quote-not-closed' || fault.what === 'too-long'
  if (!isLost && header !== undefined) return
  if (header?.problem !== undefined) throw new DirsyncdError('config-invalid', header.problem)
  const what = `${locationOf(row, name)}: ${faultSentence(fault, header)}`
  throw new DirsyncdError('source-incomplete', `${what}; the file cannot be understood`)
}

/** Excel's line about the delimiter; throws `config-invalid` when it names another one. */
function isDelimiterLine({ cells, row }: RawRow, { delimiter, key }: CsvInput, name: string): boolean {
  const stated = row === 1 ? statedDelimiter(cells.join(delimiter)) : undefined
  if (stated === undefined || stated === delimiter) return stated !== undefined
  const [is, set] = [JSON.stringify(stated), JSON.stringify(delimiter)]
  throw new DirsyncdError(
    'config-invalid',
    `${key}.delimiter: is ${set}, and the first line of ${name} says ${is}; set it to ${is}`,
  )
}
