/** Splits the UTF-8 of a file into rows, chunk by chunk. A chunk ends with a whole character. */
export interface Splitter {
  write(chunk: Buffer): void
  end(): void
}

/** A row as it stands in the file; the first one is the header. Empty lines are counted and left out. */
export interface RawRow {
  readonly cells: readonly string[]
  /** From 1 on. */
  readonly row: number
  /** The line on which it begins, from 1 on. */
  readonly line: number
  readonly multiline: boolean
  readonly fault: RowFault | undefined
}

/** What is wrong with the bytes of a row; the cells from there on may be wrong. */
export interface RowFault {
  readonly what: 'quote-in-value' | 'text-after-quote' | 'quote-not-closed' | 'too-long' | 'zero-byte'
  /** The position of the cell, from 0 on. */
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
 * Rows end with LF, CRLF or CR, also mixed. After a broken quote a value ends at the next delimiter or line end, so
 * that a broken row does not damage others.
 */
export function createSplitter(options: SplitOptions, onRow: (row: RawRow) => void): Splitter {
  const delimiter = Buffer.from(options.delimiter)
  const quote = options.quote === null ? undefined : Buffer.from(options.quote)
  /** 1 for each zero byte and each byte that can begin a line end, a delimiter or a quote. */
  const isSpecial = new Uint8Array(256)
  for (const byte of [0, LINE_FEED, CARRIAGE_RETURN, delimiter[0], quote?.[0]]) isSpecial[byte ?? 0] = 1

  let row = 1
  let line = 1
  // The bytes to parse, and the row that is being parsed.
  let bytes: Buffer = NOTHING
  let isEnd = false
  let at = 0
  let cells: string[] = []
  let breaks = 0
  let fault: RowFault | undefined

  function take(chunk: Buffer): void {
    bytes = bytes.length === 0 ? chunk : Buffer.concat([bytes, chunk])
    let start = 0
    while (start < bytes.length && takeRow(start)) start = at
    // A copy, so that the chunk can be freed.
    bytes = Buffer.from(bytes.subarray(start))
    if (bytes.length > MAX_ROW_BYTES) emit({ what: 'too-long', cell: cells.length })
  }

  /** Moves past the row that begins at `start`; `false` when it needs more of the file. */
  function takeRow(start: number): boolean {
    at = start
    cells = []
    breaks = 0
    fault = undefined
    for (;;) {
      const value = quote !== undefined && isAt(quote, at) ? takeQuoted(quote) : takePlain()
      if (value === undefined) return false
      cells.push(value)
      if (!isAt(delimiter, at)) break
      at += delimiter.length
    }
    const isEmpty = at === start
    if (bytes[at] === CARRIAGE_RETURN) {
      if (at + 1 === bytes.length && !isEnd) return false
      if (bytes[at + 1] === LINE_FEED) at += 1
    }
    at += 1
    if (!isEmpty) emit(fault)
    row += 1
    line += 1 + breaks
    return true
  }

  function emit(found: RowFault | undefined): void {
    onRow({ cells, row, line, multiline: breaks > 0, fault: found })
  }

  /** The value from here to its end; `undefined` when that has not been read yet. */
  function takePlain(): string | undefined {
    const begin = at
    for (; at < bytes.length; at += 1) {
      if (isSpecial[bytes[at] ?? 0] === 0) continue
      if (endsValue()) return bytes.toString('utf8', begin, at)
      if (bytes[at] === 0) fault ??= { what: 'zero-byte', cell: cells.length }
      else if (quote !== undefined && isAt(quote, at))
        fault ??= { what: 'quote-in-value', cell: cells.length }
    }
    return isEnd ? bytes.toString('utf8', begin, at) : undefined
  }

  function takeQuoted(mark: Buffer): string | undefined {
    const begin = at + mark.length
    const isDoubled = seekClosing(begin, mark)
    // Only the next chunk shows whether a quote at the end is doubled.
    if (at + mark.length >= bytes.length && !isEnd) return undefined
    if (at >= bytes.length) fault = { what: 'quote-not-closed', cell: cells.length }
    const text = bytes.toString('utf8', begin, at)
    at = Math.min(at + mark.length, bytes.length)
    const value = isDoubled ? text.replaceAll(`${options.quote}${options.quote}`, `${options.quote}`) : text
    if (at === bytes.length || endsValue()) return value
    fault ??= { what: 'text-after-quote', cell: cells.length }
    return takePlain()
  }

  /** Moves to the closing quote, or to the end without one; returns whether there were doubled ones. */
  function seekClosing(begin: number, mark: Buffer): boolean {
    let isDoubled = false
    for (at = begin; at < bytes.length; at += 1) {
      const byte = bytes[at]
      if (byte === LINE_FEED || (byte === CARRIAGE_RETURN && bytes[at + 1] !== LINE_FEED)) breaks += 1
      if (byte === 0) fault ??= { what: 'zero-byte', cell: cells.length }
      if (byte !== mark[0] || !isAt(mark, at)) continue
      if (!isAt(mark, at + mark.length)) return isDoubled
      isDoubled = true
      at += 2 * mark.length - 1
    }
    return isDoubled
  }

  function endsValue(): boolean {
    const byte = bytes[at]
    return byte === LINE_FEED || byte === CARRIAGE_RETURN || isAt(delimiter, at)
  }

  function isAt(wanted: Buffer, position: number): boolean {
    for (let each = 0; each < wanted.length; each += 1)
      if (bytes[position + each] !== wanted[each]) return false
    return true
  }

  return {
    write: take,
    end() {
      isEnd = true
      take(NOTHING)
    },
  }
}
