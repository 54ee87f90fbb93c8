import { DirsyncdError } from '../../errors.ts'
import { columnName, type Header, parseHeader, rowProblem } from './header.ts'
import type { CsvInput, CsvListener, CsvTotals } from './input.ts'
import { createSplitter, type Fault, type RawRow } from './split.ts'
import { statedDelimiter } from './spreadsheet.ts'

/** Turns the UTF-8 of one file into rows that are told to a listener. */
export interface RowReader {
  write(chunk: Buffer): void
  end(): void
  /** Whether the last row could be understood and has all its values; `undefined` where there is none. */
  lastRowWhole(): boolean | undefined
  /** The last line where a trailer is expected, which is no row then; to be asked behind the end, once. */
  trailer(): string | undefined
  /** Throws for a file without a header or without the columns that are wanted; only the end shows a cut header. */
  totals(): CsvTotals
}

export function createRowReader(input: CsvInput, name: string, listener: CsvListener): RowReader {
  let header: Header | undefined
  let rows = 0
  let whole: boolean | undefined
  /** With a trailer every row waits until the next one shows that it was not the last line. */
  let held: RawRow | undefined

  function onRow(row: RawRow): void {
    refuseFatal(row, header, name)
    // Of a row that is broken nobody knows whether there was nothing in it.
    if (row.fault === undefined && row.cells.every((cell) => cell.trim() === '')) return
    whole = row.fault === undefined
    if (header === undefined) {
      if (!isDelimiterLine(row, input, name)) header = parseHeader(row.cells, input, name)
      return
    }
    if (header.problem !== undefined) return
    if (input.trailer === undefined) return take(row, header)
    release()
    held = row
  }

  function take(row: RawRow, head: Header): void {
    rows += 1
    const { cells, multiline, fault } = row
    const problem = fault === undefined ? rowProblem(cells, head, multiline) : faultSentence(fault, head)
    whole = problem === undefined && cells.length === head.columns.length
    if (problem === undefined) listener.onRow({ from: () => placeOf(row, name), cells: head.lookup(cells) })
    else listener.onUnreadable(`${placeOf(row, name)}: ${problem}`)
  }

  function release(): void {
    if (held !== undefined && header !== undefined) take(held, header)
    held = undefined
  }

  const quote = input.quote === undefined ? '"' : input.quote
  const splitter = createSplitter({ delimiter: input.delimiter, quote }, onRow)
  return {
    ...splitter,
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

/** Such as "users.csv, row 17"; with the line where values of several lines came before. */
function placeOf({ row, line }: RawRow, name: string): string {
  return row === line ? `${name}, row ${row}` : `${name}, row ${row} (line ${line})`
}

const FAULTS: Readonly<Record<Fault['what'], string>> = {
  'quote-in-value': 'there is a quote in the middle of a value that does not begin with one',
  'text-behind-quote': 'there is text behind a closing quote',
  'quote-not-closed': 'a quote is opened and never closed',
  'zero-byte': 'there is a zero byte in it; was the file damaged, or is its encoding another?',
  'too-long': 'the row is longer than 4 MB, so a quote is opened and never closed',
}

function faultSentence({ what, cell }: Fault, header: Header | undefined): string {
  return header === undefined ? FAULTS[what] : `${columnName(header, cell)}: ${FAULTS[what]}`
}

/** Throws where nobody knows where the next row begins, or what the columns are. */
function refuseFatal(row: RawRow, header: Header | undefined, name: string): void {
  const { fault } = row
  if (fault === undefined) return
  const isLost = fault.what === 'quote-not-closed' || fault.what === 'too-long'
  if (!isLost && header !== undefined) return
  if (header?.problem !== undefined) throw new DirsyncdError('config-invalid', header.problem)
  const what = `${placeOf(row, name)}: ${faultSentence(fault, header)}`
  throw new DirsyncdError('source-incomplete', `${what}; the file cannot be understood`)
}

/** Whether this is Excel's line about the delimiter; throws `config-invalid` when it says another one. */
function isDelimiterLine({ cells, row }: RawRow, { delimiter, key }: CsvInput, name: string): boolean {
  const stated = row === 1 ? statedDelimiter(cells.join(delimiter)) : undefined
  if (stated === undefined || stated === delimiter) return stated !== undefined
  const [is, set] = [JSON.stringify(stated), JSON.stringify(delimiter)]
  throw new DirsyncdError(
    'config-invalid',
    `${key}.delimiter: is ${set}, and the first line of ${name} says ${is}; set it to ${is}`,
  )
}
