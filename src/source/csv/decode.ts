import type { Faulty } from '../../core/notice.ts'
import type { DirsyncdError } from '../../base/errors.ts'
import { incomplete } from '../incomplete.ts'
import { createDoubtSearch } from './doubts.ts'
import { encodingRemedy } from './encoding.ts'

/** Both count from 1. */
interface TextPosition {
  readonly line: number
  readonly character: number
}

const START: TextPosition = { line: 1, character: 1 }

/** Long texts outlive the collections of young garbage, whose memory then grows by tens of megabytes. */
const DECODED_BYTES = 8 * 1024

export interface Encoded {
  /** In messages. */
  readonly name: string
  readonly encoding: string
  /** From the beginning, each time. */
  readonly chunks: () => AsyncIterable<Buffer>
}

/**
 * Decodes a file, without its byte order mark. Throws `source-incomplete` with line and character for invalid bytes;
 * valid but hardly intended characters are doubts.
 */
export async function* decode(
  file: Encoded,
  chunks: AsyncIterable<Buffer>,
  onDoubt: (text: Faulty) => void,
): AsyncGenerator<string, void> {
  const { name, encoding } = file
  const decoder = new TextDecoder(encoding, { fatal: true })
  const doubtsIn = createDoubtSearch(encoding)
  const utf8 = encoding.startsWith('utf-') ? undefined : new Utf8Check()
  let position = START
  let offset = 0

  function take(text: string): string {
    for (const { at, fault } of doubtsIn(text))
      onDoubt({ from: describe(name, advance(position, text.slice(0, at))), fault })
    position = advance(position, text)
    return text
  }

  try {
    for await (const chunk of chunks) {
      for (let at = 0; at < chunk.length; at += DECODED_BYTES)
        yield take(decoder.decode(chunk.subarray(at, at + DECODED_BYTES), { stream: true }))
      utf8?.write(chunk)
      offset += chunk.length
    }
    yield take(decoder.decode())
  } catch (error) {
    throw isBadBytes(error) ? await badBytes(file, offset) : error
  }
  if (utf8?.end() === true)
    throw incomplete(`${name} is UTF-8 from beginning to end, not ${encoding}; set encoding: utf-8, or auto`)
}

/** Such as "users.csv, line 3, character 7". */
function describe(name: string, { line, character }: TextPosition): string {
  return `${name}, line ${line}, character ${character}`
}

function advance(position: TextPosition, text: string): TextPosition {
  let { line } = position
  let start = 0
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', start)) {
    line += 1
    start = at + 1
  }
  const characters = Array.from(text.slice(start)).length
  return { line, character: (start === 0 ? position.character : 1) + characters }
}

/** Other text is valid UTF-8 only by accident, and not with so many characters outside ASCII. */
const ACCIDENTAL_CHARACTERS = 5

/** Whether bytes are UTF-8, with enough characters outside ASCII to be sure. */
class Utf8Check {
  readonly #decoder = new TextDecoder('utf-8', { fatal: true })
  #isValid = true
  #characters = 0

  write(chunk?: Buffer): void {
    if (!this.#isValid) return
    try {
      const text = this.#decoder.decode(chunk, { stream: chunk !== undefined })
      if (this.#characters < ACCIDENTAL_CHARACTERS)
        this.#characters += text.match(/[^\0-\x7f]/gu)?.length ?? 0
    } catch {
      this.#isValid = false
    }
  }

  end(): boolean {
    this.write()
    return this.#isValid && this.#characters >= ACCIDENTAL_CHARACTERS
  }
}

const LINE_FEED = 0x0a
const SHOWN_BYTES = 80

/** Decodes byte by byte from the chunk at `from` on, because a decoder does not report where it failed. */
async function badBytes({ name, encoding, chunks }: Encoded, from: number): Promise<DirsyncdError> {
  const decoder = new TextDecoder(encoding, { fatal: true })
  let position = START
  let offset = 0
  let before = Buffer.alloc(0)
  for await (const chunk of chunks()) {
    offset += chunk.length
    const step = offset <= from ? chunk.length : 1
    for (let at = 0; at < chunk.length; at += step) {
      try {
        position = advance(position, decoder.decode(chunk.subarray(at, at + step), { stream: true }))
      } catch {
        const line = lineAt(Buffer.concat([before, chunk]), before.length + at)
        const what = `this is not ${encoding}; ${encodingRemedy(encoding, line)}`
        return incomplete(`${describe(name, position)}: ${what}`)
      }
    }
    before = Buffer.concat([before, chunk]).subarray(-SHOWN_BYTES)
  }
  const what = `the file ends within a character of ${encoding}, so it may have been cut off`
  return incomplete(`${describe(name, position)}: ${what}; ${encodingRemedy(encoding)}`)
}

function lineAt(bytes: Buffer, at: number): Buffer {
  const end = bytes.indexOf(LINE_FEED, at)
  const line = bytes.subarray(0, end < 0 ? bytes.length : end)
  const start = at === 0 ? 0 : line.subarray(0, at).lastIndexOf(LINE_FEED) + 1
  return line.subarray(Math.max(start, at - SHOWN_BYTES), at + SHOWN_BYTES)
}

function isBadBytes(error: unknown): boolean {
  return error instanceof TypeError && 'code' in error && error.code === 'ERR_ENCODING_INVALID_ENCODED_DATA'
}
