/** The first row is the header. Empty lines are counted and left out. */
export interface RawRow {
  readonly cells: readonly string[]
  /** From 1 on. */
  readonly row: number
  /** The first line, from 1 on. */
  readonly line: number
  readonly multiline: boolean
  readonly fault: RowFault | undefined
}

/** Invalid text; the cells from there on may be wrong. */
export interface RowFault {
  readonly what: 'quote-in-value' | 'text-after-quote' | 'quote-not-closed' | 'too-long' | 'zero-byte'
  /** From 0 on. */
  readonly cell: number
}

export interface SplitOptions {
  readonly delimiter: string
  readonly quote: string | null
}

/** A quote that is never closed must not take the rest of a large file into memory. */
const MAX_ROW_LENGTH = 4 * 1024 ** 2

/**
 * Splits the text of a file into rows, chunk by chunk. Rows end with LF, CRLF or CR, also mixed. After a broken quote a
 * value ends at the next delimiter or line end, so that a broken row does not damage others. Values are slices of a
 * chunk and keep it in memory.
 */
export class Splitter {
  readonly #options: SplitOptions
  readonly #onRow: (row: RawRow) => void
  #text = ''
  #at = 0
  #delimiters = new Occurrences('', null)
  #quotes = this.#delimiters
  #lineFeeds = this.#delimiters
  #returns = this.#delimiters
  #zeros = this.#delimiters
  #isEnd = false
  #row = 1
  #line = 1
  #cells: string[] = []
  #breaks = 0
  #fault: RowFault | undefined

  constructor(options: SplitOptions, onRow: (row: RawRow) => void) {
    this.#options = options
    this.#onRow = onRow
  }

  write(chunk: string): void {
    const text = this.#text + chunk
    this.#text = text
    this.#delimiters = new Occurrences(text, this.#options.delimiter)
    this.#quotes = new Occurrences(text, this.#options.quote)
    this.#lineFeeds = new Occurrences(text, '\n')
    this.#returns = new Occurrences(text, '\r')
    this.#zeros = new Occurrences(text, '\0')
    let start = 0
    while (start < this.#text.length && this.#takeRow(start)) start = this.#at
    this.#text = this.#text.slice(start)
    if (this.#text.length > MAX_ROW_LENGTH) this.#emit({ what: 'too-long', cell: this.#cells.length })
  }

  end(): void {
    this.#isEnd = true
    this.write('')
  }

  /** How many lines the rows so far have. */
  get lines(): number {
    return this.#line - 1
  }

  /** Moves past the row that begins at `start`; `false` when it needs more of the file. */
  #takeRow(start: number): boolean {
    this.#at = start
    this.#cells = []
    this.#breaks = 0
    this.#fault = undefined
    if (!this.#takeValues()) return false
    const isEmpty = this.#at === start
    if (!this.#takeLineEnd()) return false
    if (!isEmpty) this.#emit(this.#fault)
    this.#row += 1
    this.#line += 1 + this.#breaks
    return true
  }

  #takeValues(): boolean {
    const { delimiter, quote } = this.#options
    for (;;) {
      const value = this.#text[this.#at] === quote ? this.#takeQuoted(quote) : this.#takePlain()
      if (value === undefined) return false
      this.#cells.push(value)
      if (this.#text[this.#at] !== delimiter) return true
      this.#at += 1
    }
  }

  #takeLineEnd(): boolean {
    const end = this.#text.slice(this.#at, this.#at + 2)
    // Only the next chunk shows whether a line feed follows.
    if (end === '\r' && !this.#isEnd) return false
    this.#at += end === '\r\n' ? 2 : 1
    return true
  }

  #emit(fault: RowFault | undefined): void {
    this.#onRow({ cells: this.#cells, row: this.#row, line: this.#line, multiline: this.#breaks > 0, fault })
  }

  /** `undefined` when its end has not been read yet. */
  #takePlain(): string | undefined {
    const text = this.#text
    const begin = this.#at
    const end = this.#valueEnd(begin)
    if (end === text.length && !this.#isEnd) return undefined
    const quote = this.#quotes.from(begin)
    const zero = this.#zeros.from(begin)
    if (Math.min(quote, zero) < end) this.#note(quote < zero ? 'quote-in-value' : 'zero-byte')
    this.#at = end
    return text.slice(begin, end)
  }

  #takeQuoted(quote: string): string | undefined {
    const text = this.#text
    const begin = this.#at + 1
    let end = this.#quotes.from(begin)
    let isDoubled = false
    for (; text[end + 1] === quote; end = this.#quotes.from(end + 2)) isDoubled = true
    // Only the next chunk shows whether a quote at the end is doubled.
    if (end + 1 >= text.length && !this.#isEnd) return undefined
    const value = text.slice(begin, end)
    if (this.#lineEnd(begin) < end) this.#breaks += value.match(/\r\n?|\n/g)?.length ?? 0
    if (this.#zeros.from(begin) < end) this.#note('zero-byte')
    if (end === text.length) this.#fault = { what: 'quote-not-closed', cell: this.#cells.length }
    this.#at = Math.min(end + 1, text.length)
    if (this.#valueEnd(this.#at) === this.#at)
      return isDoubled ? value.replaceAll(quote + quote, quote) : value
    this.#note('text-after-quote')
    return this.#takePlain()
  }

  #valueEnd(at: number): number {
    return Math.min(this.#delimiters.from(at), this.#lineEnd(at))
  }

  #lineEnd(at: number): number {
    return Math.min(this.#lineFeeds.from(at), this.#returns.from(at))
  }

  /** Only the first fault of a row is reported. */
  #note(what: RowFault['what']): void {
    this.#fault ??= { what, cell: this.#cells.length }
  }
}

/** The next occurrence of a character, searched once for all positions before it. */
class Occurrences {
  readonly #text: string
  readonly #character: string | null
  #next = -1

  constructor(text: string, character: string | null) {
    this.#text = text
    this.#character = character
  }

  /** The first at or after a position, which never decreases; the length of the text when there is none. */
  from(at: number): number {
    if (this.#next < at) {
      const found = this.#character === null ? -1 : this.#text.indexOf(this.#character, at)
      this.#next = found < 0 ? this.#text.length : found
    }
    return this.#next
  }
}
