import { byCodeUnit } from '../../base/order.ts'

/**
 * The first block is small, because most directories are. The C library returns blocks of the largest size to the
 * system; until they are written to, they take no memory.
 */
const FIRST_BLOCK_BYTES = 2 ** 18
const BLOCK_BYTES = 2 ** 26
/** Records begin at multiples of four bytes, so that an address of 32 bits reaches 16 GiB. */
const UNIT_BITS = 2
const UNITS_OF_BLOCK_BITS = 24
const UNITS_OF_BLOCK = 2 ** UNITS_OF_BLOCK_BITS
/** Flags and three lengths. */
const MAX_HEAD_BYTES = 16

type TextField = 0 | 1 | 2
type Text = string | undefined

/**
 * Keeps records of three texts as bytes outside of the JavaScript heap: a million of them take the bytes of their
 * characters, without garbage collection. Every text comes back unchanged, also with lone surrogates.
 */
export class TextArena {
  #blocks: Buffer[] = []
  #end = 0

  /** Returns the address of the new record. Throws `RangeError` beyond 16 GiB. */
  add(first: Text, second: Text, third: Text): number {
    const most = MAX_HEAD_BYTES + 2 * (lengthOf(first) + lengthOf(second) + lengthOf(third))
    // A block for a long record is larger than what addresses reach.
    const room = Math.min(BLOCK_BYTES, this.#blocks.at(-1)?.length ?? 0)
    if (this.#end + most > room) this.#addBlock(most)
    const block = this.#blocks.length - 1
    const bytes = this.#blocks[block]!
    const start = this.#end
    bytes[start] = 0
    let at = writeField(bytes, start, start + 1, 0, first)
    at = writeField(bytes, start, at, 1, second)
    at = writeField(bytes, start, at, 2, third)
    this.#end = (at + 3) & ~3
    return block * UNITS_OF_BLOCK + (start >>> UNIT_BITS)
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
    const start = startOf(address)
    return endIfSame(bytes, lengthPlace(bytes, start, field), bytes[start]! >> field, text) >= 0
  }

  isRecord(address: number, first: Text, second: Text, third: Text): boolean {
    const bytes = this.#blockOf(address)
    const start = startOf(address)
    const flags = bytes[start]!
    let at = endIfSame(bytes, start + 1, flags, first)
    if (at >= 0) at = endIfSame(bytes, at, flags >> 1, second)
    return at >= 0 && endIfSame(bytes, at, flags >> 2, third) >= 0
  }

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

  /** Frees the memory at once; nothing can be read any more. */
  release(): void {
    for (const { buffer } of this.#blocks) if (buffer instanceof ArrayBuffer) buffer.transfer(0)
    this.#blocks = []
  }
}

/** Bits of a record's first byte, shifted by the number of the field. The fields follow, each behind its length. */
const WIDE = 1
const ABSENT = 8

function lengthOf(text: Text): number {
  return text === undefined ? 0 : text.length
}

/** Returns where the field ends. The flags of the record are at `start`. */
function writeField(bytes: Buffer, start: number, at: number, field: TextField, text: Text): number {
  if (text === undefined) {
    bytes[start]! |= ABSENT << field
    return writeLength(bytes, at, 0)
  }
  const first = writeLength(bytes, at, text.length)
  let all = 0
  // For short texts this takes a third of the time of a call of `write`.
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index)
    bytes[first + index] = unit
    all |= unit
  }
  if (all <= 0xff) return first + text.length
  bytes[start]! |= WIDE << field
  return writeWide(bytes, writeLength(bytes, at, 2 * text.length), text)
}

function writeWide(bytes: Buffer, first: number, text: string): number {
  let at = first
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index)
    bytes[at++] = unit
    bytes[at++] = unit >> 8
  }
  return at
}

/** Seven bits a byte, the lowest first; the highest bit: more bytes follow. */
function writeLength(bytes: Buffer, at: number, length: number): number {
  let rest = length
  for (; rest >= 0x80; rest >>>= 7) bytes[at++] = (rest & 0x7f) | 0x80
  bytes[at++] = rest
  return at
}

function readLength(bytes: Buffer, at: number): number {
  let length = bytes[at]! & 0x7f
  for (let shift = 7; bytes[at]! >= 0x80; shift += 7) length |= (bytes[++at]! & 0x7f) << shift
  return length
}

function bytesOfLength(length: number): number {
  let bytes = 1
  for (let rest = length; rest >= 0x80; rest >>>= 7) bytes += 1
  return bytes
}

/** Where the field ends, or -1 if it is another text. `flags` are those of the record, shifted right by its number. */
function endIfSame(bytes: Buffer, at: number, flags: number, text: Text): number {
  if (((flags & ABSENT) !== 0) !== (text === undefined)) return -1
  const isWide = (flags & WIDE) !== 0
  const length = isWide ? 2 * lengthOf(text) : lengthOf(text)
  if (readLength(bytes, at) !== length) return -1
  const first = at + bytesOfLength(length)
  if (text === undefined) return first
  for (let index = 0; index < text.length; index += 1) {
    const place = isWide ? first + 2 * index : first + index
    const unit = isWide ? bytes[place]! | (bytes[place + 1]! << 8) : bytes[place]
    if (text.charCodeAt(index) !== unit) return -1
  }
  return first + length
}

function startOf(address: number): number {
  return (address & (UNITS_OF_BLOCK - 1)) << UNIT_BITS
}

function lengthPlace(bytes: Buffer, start: number, field: TextField): number {
  let at = start + 1
  for (let index = 0; index < field; index += 1) {
    const length = readLength(bytes, at)
    at += bytesOfLength(length) + length
  }
  return at
}

function placeOf(bytes: Buffer, startOfRecord: number, field: TextField): { start: number; end: number } {
  const at = lengthPlace(bytes, startOfRecord, field)
  const length = readLength(bytes, at)
  const start = at + bytesOfLength(length)
  return { start, end: start + length }
}

/** FNV-1a with 32 bits over the code units, then mixed, because tables use the lowest bits. */
export function textHash(text: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index += 1)
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return hash ^ (hash >>> 16)
}
