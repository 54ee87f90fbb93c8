import { DirsyncdError } from '../../base/errors.ts'
import { incomplete } from '../incomplete.ts'
import { columnName, type Header, parseHeader, rowProblem } from './header.ts'
import type { CsvInput, CsvListener, CsvTotals } from './input.ts'
import { type RowFault, type RawRow, Splitter } from './split.ts'
import { statedDelimiter } from './spreadsheet.ts'

/** Checks the rows of one file and hands them to the listener. */
export class RowReader {
  readonly #input: CsvInput
  readonly #name: string
  readonly #listener: CsvListener
  readonly #quote: string | null
  readonly #splitter: Splitter
  #header: Header | undefined
  #rows = 0
  /** `undefined` without a row; false where the last row is broken or short. */
  #isLastWhole: boolean | undefined
  #lastCharacter: string | undefined
  /** With a trailer every row waits until the next one shows that it was not the last line. */
  #pending: RawRow | undefined

  constructor(input: CsvInput, name: string, listener: CsvListener) {
    this.#input = input
    this.#name = name
    this.#listener = listener
    this.#quote = input.quote === undefined ? '"' : input.quote
    const options = { delimiter: input.delimiter, quote: this.#quote }
    this.#splitter = new Splitter(options, (row) => this.#onRow(row))
  }

  write(text: string): void {
    this.#lastCharacter = text.at(-1) ?? this.#lastCharacter
    this.#splitter.write(text)
  }

  end(): void {
    this.#splitter.end()
  }

  /** Call it after `end`. Throws `source-incomplete` when the last line may have been cut off. */
  proveLastLine(): void {
    const last = this.#lastCharacter
    // Another message reports the empty file.
    if (this.#isLastWhole === undefined || last === '\n' || last === '\r') return
    if (last === this.#quote && this.#isLastWhole) return
    const where = `${this.#name}, line ${this.#splitter.lines}`
    const why = `${where}: the last row has no line end, so the file may have been cut off`
    throw incomplete(
      `${why}; let the exporter end every row with a line break, or write a trailer or a sha256 file`,
    )
  }

  /**
   * Call it after `end`. The last line is a trailer where one is expected, and no row. Throws for a file without a header
   * or without the wanted columns.
   */
  totals(): CsvTotals & { readonly trailer: string | undefined } {
    const header = this.#header
    if (header === undefined) throw incomplete(`${this.#name} is empty: there is not even a header`)
    if (header.problem !== undefined) throw new DirsyncdError('config-invalid', header.problem)
    const trailer = this.#pending?.cells.join(this.#input.delimiter)
    return { rows: this.#rows, columns: header.columns, trailer }
  }

  #onRow(row: RawRow): void {
    refuseFatal(row, this.#header, this.#name)
    // A broken row counts even if it looks empty, because its values may be lost.
    if (row.fault === undefined && row.cells.every((cell) => cell.trim() === '')) return
    this.#isLastWhole = row.fault === undefined
    const header = this.#header
    if (header === undefined) {
      if (isDelimiterLine(row, this.#input, this.#name)) return
      this.#header = parseHeader(row.cells, this.#input, this.#name)
      this.#listener.onHeader?.(this.#header.columns)
      return
    }
    if (header.problem !== undefined) return
    if (this.#input.trailer === undefined) return this.#take(row, header)
    if (this.#pending !== undefined) this.#take(this.#pending, header)
    this.#pending = row
  }

  #take(row: RawRow, header: Header): void {
    this.#rows += 1
    const { cells, multiline, fault } = row
    const problem = fault === undefined ? rowProblem(cells, header, multiline) : faultSentence(fault, header)
    this.#isLastWhole = problem === undefined && cells.length === header.columns.length
    const from = () => locationOf(row, this.#name)
    if (problem === undefined) this.#listener.onRow({ from, cells: header.lookup(cells) })
    else this.#listener.onUnreadable({ from: from(), fault: problem })
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
  throw incomplete(`${what}; the file cannot be understood`)
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
