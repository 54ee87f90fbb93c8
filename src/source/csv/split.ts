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

/** Invalid bytes; the cells from there on may be wrong. */
export interface RowFault {
  readonly what: 'quote-in-value' | 'text-after-quote' | 'quote-not-closed' | 'too-long' | 'zero-byte'
  /** From 0 on. */
  readonly cell: number
}

export interface SplitOptions {
  readonly delimiter: string
  readonly quote: string | null
}

const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d
const NOTHING = Buffer.alloc(0)

/** A quote that is never closed must not take the rest of a large file into memory. */
const MAX_ROW_BYTES = 4 * 1024 ** 2

/**
 * Splits the UTF-8 of a file into rows, chunk by chunk. Rows end with LF, CRLF or CR, also mixed. After a broken quote
 * a value ends at the next delimiter or line end, so that a broken row does not damage others.
 */
export class Splitter {
  readonly #delimiter: Buffer
  readonly #quote: Buffer | undefined
  readonly #isSpecial: Uint8Array
  readonly #onRow: (row: RawRow) => void
  #bytes: Buffer = NOTHING
  #at = 0
  #isEnd = false
  #row = 1
  #line = 1
  #cells: string[] = []
  #breaks = 0
  #fault: RowFault | undefined

  constructor({ delimiter, quote }: SplitOptions, onRow: (row: RawRow) => void) {
    this.#delimiter = Buffer.from(delimiter)
    this.#quote = quote === null ? undefined : Buffer.from(quote)
    this.#isSpecial = specialBytes(this.#delimiter, this.#quote)
    this.#onRow = onRow
  }

  /** A chunk ends with a whole character. */
  write(chunk: Buffer): void {
    const bytes = this.#bytes.length === 0 ? chunk : Buffer.concat([this.#bytes, chunk])
    this.#bytes = bytes
    let start = 0
    while (start < bytes.length && this.#takeRow(start)) start = this.#at
    // A copy, so that the chunk can be freed.
    this.#bytes = Buffer.from(bytes.subarray(start))
    if (this.#bytes.length > MAX_ROW_BYTES) this.#emit({ what: 'too-long', cell: this.#cells.length })
  }

  end(): void {
    this.#isEnd = true
    this.write(NOTHING)
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
    const quote = this.#quote
    for (;;) {
      const value =
        quote !== undefined && isAt(this.#bytes, quote, this.#at)
          ? this.#takeQuoted(quote)
          : this.#takePlain()
      if (value === undefined) return false
      this.#cells.push(value)
      if (!isAt(this.#bytes, this.#delimiter, this.#at)) return true
      this.#at += this.#delimiter.length
    }
  }

  #takeLineEnd(): boolean {
    if (this.#bytes[this.#at] === CARRIAGE_RETURN) {
      // Only the next chunk shows whether a line feed follows.
      if (this.#at + 1 === this.#bytes.length && !this.#isEnd) return false
      if (this.#bytes[this.#at + 1] === LINE_FEED) this.#at += 1
    }
    this.#at += 1
    return true
  }

  #emit(fault: RowFault | undefined): void {
    this.#onRow({ cells: this.#cells, row: this.#row, line: this.#line, multiline: this.#breaks > 0, fault })
  }

  /** `undefined` when its end has not been read yet. */
  #takePlain(): string | undefined {
    const bytes = this.#bytes
    const isSpecial = this.#isSpecial
    const begin = this.#at
    for (let at = begin; at < bytes.length; at += 1) {
      if (isSpecial[bytes[at] ?? 0] === 0) continue
      if (this.#endsValue(at)) {
        this.#at = at
        return bytes.toString('utf8', begin, at)
      }
      if (bytes[at] === 0) this.#note('zero-byte')
      else if (this.#quote !== undefined && isAt(bytes, this.#quote, at)) this.#note('quote-in-value')
    }
    this.#at = bytes.length
    return this.#isEnd ? bytes.toString('utf8', begin) : undefined
  }

  #takeQuoted(quote: Buffer): string | undefined {
    const bytes = this.#bytes
    const begin = this.#at + quote.length
    const isDoubled = this.#seekClosing(begin, quote)
    const end = this.#at
    // Only the next chunk shows whether a quote at the end is doubled.
    if (end + quote.length >= bytes.length && !this.#isEnd) return undefined
    if (end >= bytes.length) this.#fault = { what: 'quote-not-closed', cell: this.#cells.length }
    const text = bytes.toString('utf8', begin, end)
    this.#at = Math.min(end + quote.length, bytes.length)
    const value = isDoubled ? text.replaceAll(quote.toString().repeat(2), quote.toString()) : text
    if (this.#at === bytes.length || this.#endsValue(this.#at)) return value
    this.#note('text-after-quote')
    return this.#takePlain()
  }

  /** Moves to the closing quote, or to the end without one; returns whether there were doubled ones. */
  #seekClosing(begin: number, quote: Buffer): boolean {
    const bytes = this.#bytes
    let isDoubled = false
    let at = begin
    for (; at < bytes.length; at += 1) {
      const byte = bytes[at]
      if (byte === LINE_FEED || (byte === CARRIAGE_RETURN && bytes[at + 1] !== LINE_FEED)) this.#breaks += 1
      if (byte === 0) this.#note('zero-byte')
      if (byte !== quote[0] || !isAt(bytes, quote, at)) continue
      if (!isAt(bytes, quote, at + quote.length)) break
      isDoubled = true
      at += 2 * quote.length - 1
    }
    this.#at = at
    return isDoubled
  }

  /** Only the first fault of a row is reported. */
  #note(what: RowFault['what']): void {
    this.#fault ??= { what, cell: this.#cells.length }
  }

  #endsValue(at: number): boolean {
    const byte = this.#bytes[at]
    return byte === LINE_FEED || byte === CARRIAGE_RETURN || isAt(this.#bytes, this.#delimiter, at)
  }
}

/** 1 for each zero byte and each byte that can begin a line end, a delimiter or a quote. */
function specialBytes(delimiter: Buffer, quote: Buffer | undefined): Uint8Array {
  const isSpecial = new Uint8Array(256)
  for (const byte of [0, LINE_FEED, CARRIAGE_RETURN, delimiter[0], quote?.[0]]) isSpecial[byte ?? 0] = 1
  return isSpecial
}

function isAt(bytes: Buffer, wanted: Buffer, position: number): boolean {
  for (let each = 0; each < wanted.length; each += 1)
    if (bytes[position + each] !== wanted[each]) return false
  return true
}
