/** A longer length would be of a message that does not fit into memory. */
const MOST_LENGTH_BYTES = 4

export type Decode<T> = (bytes: Buffer, start: number, end: number) => T

/**
 * Reads BER elements (X.690) of definite length, one after the other. No length leads out of the enclosing element, and
 * each step moves on by two bytes or more, so n bytes never take more than n / 2 steps. Every method throws for other
 * bytes.
 */
export class BerReader {
  readonly #bytes: Buffer
  #at: number
  #end: number

  constructor(bytes: Buffer, start = 0, end = bytes.length) {
    this.#bytes = bytes
    this.#at = start
    this.#end = end
  }

  get isAtEnd(): boolean {
    return this.#at === this.#end
  }

  /** The tag of the next element; -1 at the end. */
  get tag(): number {
    return this.#at < this.#end ? (this.#bytes[this.#at] ?? -1) : -1
  }

  /** Enters the next element. `leave` takes what this returns. */
  enter(tag: number): number {
    const length = this.next(tag)
    const outerEnd = this.#end
    this.#end = this.#at + length
    return outerEnd
  }

  /** Leaves the current element. All of it must have been read. */
  leave(outerEnd: number): void {
    if (!this.isAtEnd) throw broken('an element has too much in it')
    this.#end = outerEnd
  }

  /**
   * Leaves the current element, and skips elements that a later version of LDAP may have added to it (RFC 4511, 4). The
   * tags of such elements are context-specific: anything else is a known element at a wrong place.
   */
  leaveExtended(outerEnd: number): void {
    this.skipExtensions()
    this.leave(outerEnd)
  }

  skipExtensions(): void {
    while (!this.isAtEnd) {
      const { tag } = this
      const isContextSpecific = (tag & 0xc0) === 0x80 && (tag & 0x1f) !== 0x1f
      if (!isContextSpecific) throw broken('an element is at a wrong place')
      this.skip(tag)
    }
  }

  /** A whole number of one to four bytes. */
  integer(tag: number): number {
    return this.decode(tag, integerOf)
  }

  text(tag: number): string {
    return this.decode(tag, textOf)
  }

  /** A copy: a few bytes of the chunk of a socket keep the whole chunk in memory. */
  octets(tag: number): Buffer {
    return this.decode(tag, copyOf)
  }

  skip(tag: number): void {
    this.decode(tag, nothing)
  }

  decode<T>(tag: number, decode: Decode<T>): T {
    const length = this.next(tag)
    const start = this.#at
    this.#at += length
    return decode(this.#bytes, start, this.#at)
  }

  /** Moves to the content of the next element, which must have this tag. Returns its length. */
  next(tag: number): number {
    const bytes = this.#bytes
    const end = this.#end
    if (this.tag !== tag) throw broken(`there is no element of type 0x${tag.toString(16)}`)
    let start = this.#at + 2
    let length = bytes[start - 1] ?? 0
    if (length >= 0x80) {
      const lengthBytes = length & 0x7f
      if (lengthBytes === 0 || lengthBytes > MOST_LENGTH_BYTES) throw broken('a length cannot be read')
      if (start + lengthBytes > end) throw broken('an element is cut off')
      length = bytes.readUIntBE(start, lengthBytes)
      start += lengthBytes
    }
    if (start + length > end) throw broken('an element is cut off')
    this.#at = start
    return length
  }
}

function integerOf(bytes: Buffer, start: number, end: number): number {
  const length = end - start
  if (length < 1 || length > 4) throw broken(`a number has ${length} bytes`)
  return bytes.readIntBE(start, length)
}

function textOf(bytes: Buffer, start: number, end: number): string {
  return bytes.toString('utf8', start, end)
}

function copyOf(bytes: Buffer, start: number, end: number): Buffer {
  return Buffer.from(bytes.subarray(start, end))
}

function nothing(): void {}

function broken(why: string): Error {
  return new Error(`a broken message arrived (${why})`)
}
