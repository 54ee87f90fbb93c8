import { isAscii, isUtf8 } from 'node:buffer'
import { DirsyncdError } from '../../errors.ts'
import type { Encoding } from './options.ts'
import type { TextPosition } from './text-position.ts'

/** Turns the bytes of a file into UTF-8, chunk by chunk. Throws `source-incomplete` with line and character. */
export interface Transcoder {
  write(chunk: Buffer): Buffer
  /** Throws when the file ends within a character. */
  end(): void
}

/** How an encoding is called in sentences. */
export const ENCODING_NAMES: Readonly<Record<Exclude<Encoding, 'auto'>, string>> = {
  utf8: 'UTF-8',
  utf16le: 'UTF-16 LE',
  utf16be: 'UTF-16 BE',
  latin1: 'Latin-1',
  'windows-1252': 'Windows-1252',
}

export function createTranscoder(encoding: Exclude<Encoding, 'auto'>, position: TextPosition): Transcoder {
  switch (encoding) {
    case 'utf8':
      return fromUtf8(position)
    case 'utf16le':
    case 'utf16be':
      return fromUtf16(encoding, position)
    case 'latin1':
      return fromOneByte((chunk) => chunk.toString('latin1'))
    case 'windows-1252': {
      const decoder = new TextDecoder('windows-1252')
      return fromOneByte((chunk) => decoder.decode(chunk))
    }
  }
}

function fromUtf8(position: TextPosition): Transcoder {
  let rest = Buffer.alloc(0)
  return {
    write(chunk) {
      const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
      const whole = bytes.subarray(0, bytes.length - unfinished(bytes))
      if (!isUtf8(whole)) {
        const valid = validPrefix(whole)
        const byte = `0x${(whole[valid] ?? 0).toString(16).toUpperCase()}`
        throw fault('utf8', position.behind(whole.subarray(0, valid)), ` (byte ${byte})`)
      }
      rest = Buffer.from(bytes.subarray(whole.length))
      return whole
    },
    end() {
      if (rest.length > 0)
        throw fault('utf8', position.behind(Buffer.alloc(0)), ' (the file ends within a character)')
    },
  }
}

/** How many bytes at the end begin a character of which the rest has not come yet. */
export function unfinished(bytes: Buffer): number {
  for (let back = 1; back <= 3 && back <= bytes.length; back += 1) {
    const byte = bytes[bytes.length - back] ?? 0
    if (byte < 0x80) return 0
    if (byte < 0xc0) continue
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2
    return back < length ? back : 0
  }
  return 0
}

function validPrefix(bytes: Buffer): number {
  let valid = 0
  let invalid = bytes.length
  while (valid + 1 < invalid) {
    const middle = (valid + invalid) >>> 1
    const head = bytes.subarray(0, middle)
    if (isUtf8(head.subarray(0, middle - unfinished(head)))) valid = middle
    else invalid = middle
  }
  return valid - unfinished(bytes.subarray(0, valid))
}

function fromUtf16(encoding: 'utf16le' | 'utf16be', position: TextPosition): Transcoder {
  let rest = Buffer.alloc(0)
  return {
    write(chunk) {
      // Always a copy: swapping is done in place.
      const bytes = Buffer.concat([rest, chunk])
      const even = bytes.subarray(0, bytes.length - (bytes.length % 2))
      if (encoding === 'utf16be') even.swap16()
      const text = even.toString('utf16le')
      const split = /[\ud800-\udbff]$/.test(text)
      const whole = split ? text.slice(0, -1) : text
      if (!whole.isWellFormed()) {
        const valid = whole.slice(0, whole.search(LONE_SURROGATE))
        throw fault(encoding, position.behind(Buffer.from(valid)), ' (half of a pair)')
      }
      if (split && encoding === 'utf16be') even.subarray(-2).swap16()
      rest = Buffer.from(bytes.subarray(2 * whole.length))
      return Buffer.from(whole)
    },
    end() {
      if (rest.length > 0)
        throw fault(encoding, position.behind(Buffer.alloc(0)), ' (the file ends within a character)')
    },
  }
}

const LONE_SURROGATE = /\p{Surrogate}/u

function fromOneByte(decode: (chunk: Buffer) => string): Transcoder {
  return {
    write: (chunk) => (isAscii(chunk) ? chunk : Buffer.from(decode(chunk))),
    end: () => undefined,
  }
}

function fault(encoding: Exclude<Encoding, 'auto'>, where: string, what: string): DirsyncdError {
  const name = ENCODING_NAMES[encoding]
  const message = `${where}: this is not ${name}${what}; export the file as ${name}, or set its encoding`
  return new DirsyncdError('source-incomplete', message)
}
