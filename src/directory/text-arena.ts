import { byCodeUnit } from './normalize.ts'

/**
 * The first block is small, because most directories are. The largest ones are such that the C library gives them back
 * to the system when they are released; until they are written to, they take no memory.
 */
const FIRST_BLOCK_BYTES = 2 ** 18
const BLOCK_BYTES = 2 ** 26
/** Records begin at multiples of four bytes, so that an address of 32 bits reaches 16 GiB. */
const UNIT_BITS = 2
const UNITS_OF_BLOCK_BITS = 24
const UNITS_OF_BLOCK = 2 ** UNITS_OF_BLOCK_BITS
/** Flags and three lengths. */
const MAX_HEAD_BYTES = 16

export type TextField = 0 | 1 | 2
type Text = string | undefined

/**
 * Keeps records of three texts as bytes outside of the JavaScript heap: a million of them cost what their characters
 * do, and no garbage collection visits them. Every text comes back as it was, half characters too.
 */
export class TextArena {
  #blocks: Buffer[] = []
  /** Where the next record begins in the last block. */
  #end = 0

  /** Returns the address of the new record. Throws `RangeError` beyond 16 GiB. */
  add(first: Text, second: Text, third: Text): number {
    const most = MAX_HEAD_BYTES + 2 * (lengthOf(first) + lengthOf(second) + lengthOf(third))
    // A block for a long record is larger than what addresses reach.
    const room = Math.min(BLOCK_BYTES, this.#blocks.at(-1)?.length ?? 0)
    if (this.#end + most > room) this.#addBlock(most)
    const block = this.#blocks.length - 1
    const bytes = this.#blocks[block]!
    const address = block * UNITS_OF_BLOCK + (this.#end >>> UNIT_BITS)
    const absent = absentFlag(first, 0) | absentFlag(second, 1) | absentFlag(third, 2)
    // Nearly all texts are narrow, so none is read twice to find that out.
    let at = writeNarrow(bytes, this.#end, absent, first, second, third)
    if (at < 0) at = writeRecord(bytes, this.#end, absent, first, second, third)
    this.#end = (at + 3) & ~3
    return address
  }

  textAt(address: number, field: TextField): Text {
    const bytes = this.#blockOf(address)
    const flags = bytes[startOf(address)]!
    if ((flags & (ABSENT << field)) !== 0) return undefined
    const { start, end } = placeOf(bytes, startOf(address), field)
    return bytes.toString((flags & (WIDE << field)) === 0 ? 'latin1' : 'utf16le', start, end)
  }

  isThere(address: number, field: TextField): boolean {
    return (this.#blockOf(address)[startOf(address)]! & (ABSENT << field)) === 0
  }

  has(address: number, field: TextField, text: Text): boolean {
    const bytes = this.#blockOf(address)
    const flags = bytes[startOf(address)]!
    if (text === undefined || (flags & (ABSENT << field)) !== 0)
      return text === undefined && (flags & (ABSENT << field)) !== 0
    const { start, end } = placeOf(bytes, startOf(address), field)
    const isWide = (flags & (WIDE << field)) !== 0
    if (end - start !== (isWide ? 2 * text.length : text.length)) return false
    for (let index = 0; index < text.length; index += 1) {
      const unit = isWide
        ? bytes[start + 2 * index]! | (bytes[start + 2 * index + 1]! << 8)
        : bytes[start + index]
      if (text.charCodeAt(index) !== unit) return false
    }
    return true
  }

  /** Whether two records have the same text in a field. */
  isSame(address: number, other: number, field: TextField): boolean {
    if (address === other) return true
    const [bytes, others] = [this.#blockOf(address), this.#blockOf(other)]
    const mask = (ABSENT | WIDE) << field
    if ((bytes[startOf(address)]! & mask) !== (others[startOf(other)]! & mask)) return false
    const { start, end } = placeOf(bytes, startOf(address), field)
    const place = placeOf(others, startOf(other), field)
    if (end - start !== place.end - place.start) return false
    for (let index = start, at = place.start; index < end; index += 1, at += 1)
      if (bytes[index] !== others[at]) return false
    return true
  }

  /** Orders two records by the code units of a text: negative, zero or positive. */
  compare(address: number, other: number, field: TextField): number {
    const [bytes, others] = [this.#blockOf(address), this.#blockOf(other)]
    const flags = bytes[startOf(address)]! | others[startOf(other)]!
    if ((flags & (WIDE << field)) !== 0)
      return byCodeUnit(this.textAt(address, field) ?? '', this.textAt(other, field) ?? '')
    const { start, end } = placeOf(bytes, startOf(address), field)
    const place = placeOf(others, startOf(other), field)
    for (let index = start, at = place.start; index < end && at < place.end; index += 1, at += 1)
      if (bytes[index] !== others[at]) return bytes[index]! - others[at]!
    return end - start - (place.end - place.start)
  }

  #blockOf(address: number): Buffer {
    return this.#blocks[address >>> UNITS_OF_BLOCK_BITS]!
  }

  #addBlock(bytes: number): void {
    if (this.#blocks.length >= 2 ** (32 - UNITS_OF_BLOCK_BITS))
      throw new RangeError('more than 16 GiB of text')
    const usual = Math.min(BLOCK_BYTES, FIRST_BLOCK_BYTES * 4 ** this.#blocks.length)
    this.#blocks.push(Buffer.allocUnsafeSlow(Math.max(usual, bytes)))
    this.#end = 0
  }

  /** Gives the memory back at once; nothing can be read any more. */
  release(): void {
    for (const { buffer } of this.#blocks) if (buffer instanceof ArrayBuffer) buffer.transfer(0)
    this.#blocks = []
  }
}

/** Bits of a record's first byte, moved left by the number of the field. */
const WIDE = 1
const ABSENT = 8

function lengthOf(text: Text): number {
  return text === undefined ? 0 : text.length
}

function absentFlag(text: Text, field: TextField): number {
  return text === undefined ? ABSENT << field : 0
}

function wideFlag(text: Text, field: TextField): number {
  if (text === undefined) return 0
  let all = 0
  for (let index = 0; index < text.length; index += 1) all |= text.charCodeAt(index)
  return all > 0xff ? WIDE << field : 0
}

/** Returns where the record ends, or -1 if one of its texts has a character of more than one byte. */
function writeNarrow(
  bytes: Buffer,
  start: number,
  flags: number,
  first: Text,
  second: Text,
  third: Text,
): number {
  let at = start
  bytes[at++] = flags
  at = writeLength(bytes, at, lengthOf(first))
  at = writeLength(bytes, at, lengthOf(second))
  at = writeLength(bytes, at, lengthOf(third))
  at = writeNarrowText(bytes, at, first)
  if (at >= 0) at = writeNarrowText(bytes, at, second)
  return at < 0 ? -1 : writeNarrowText(bytes, at, third)
}

function writeNarrowText(bytes: Buffer, at: number, text: Text): number {
  if (text === undefined) return at
  let all = 0
  // For short texts this takes a third of the time of a call of `write`.
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index)
    bytes[at + index] = unit
    all |= unit
  }
  return all > 0xff ? -1 : at + text.length
}

function writeRecord(
  bytes: Buffer,
  start: number,
  absent: number,
  first: Text,
  second: Text,
  third: Text,
): number {
  const flags = absent | wideFlag(first, 0) | wideFlag(second, 1) | wideFlag(third, 2)
  let at = start
  bytes[at++] = flags
  at = writeLength(bytes, at, sizeOf(first, flags, 0))
  at = writeLength(bytes, at, sizeOf(second, flags, 1))
  at = writeLength(bytes, at, sizeOf(third, flags, 2))
  at = writeText(bytes, at, first, flags, 0)
  at = writeText(bytes, at, second, flags, 1)
  return writeText(bytes, at, third, flags, 2)
}

function sizeOf(text: Text, flags: number, field: TextField): number {
  return lengthOf(text) * ((flags & (WIDE << field)) === 0 ? 1 : 2)
}

function writeText(bytes: Buffer, at: number, text: Text, flags: number, field: TextField): number {
  if ((flags & (WIDE << field)) === 0) return writeNarrowText(bytes, at, text)
  return at + bytes.write(text ?? '', at, 'utf16le')
}

/** Seven bits a byte, the lowest first; the highest bit says that more follow. */
function writeLength(bytes: Buffer, at: number, length: number): number {
  let rest = length
  for (; rest >= 0x80; rest >>>= 7) bytes[at++] = (rest & 0x7f) | 0x80
  bytes[at++] = rest
  return at
}

function startOf(address: number): number {
  return (address & (UNITS_OF_BLOCK - 1)) << UNIT_BITS
}

function placeOf(bytes: Buffer, start: number, field: TextField): { start: number; end: number } {
  let at = start + 1
  let before = 0
  let size = 0
  for (let index = 0; index < 3; index += 1) {
    let length = 0
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++]!
      length |= (byte & 0x7f) << shift
      if (byte < 0x80) break
    }
    if (index < field) before += length
    if (index === field) size = length
  }
  return { start: at + before, end: at + before + size }
}
