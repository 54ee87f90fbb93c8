import type { Faulty } from '../../core/notice.ts'
import { DirsyncdError } from '../../base/errors.ts'
import { badBytes } from './bad-bytes.ts'
import { createDoubtSearch } from './doubts.ts'
import { advance, START } from './text-position.ts'

/** Converts a file to UTF-8 without a byte order mark, and checks how it ends. */
export interface TextStage {
  /** Throws `source-incomplete` with line and character for invalid bytes; `again` reads the file once more. */
  pass(chunks: AsyncIterable<Buffer>, again: () => AsyncIterable<Buffer>): AsyncGenerator<Buffer>
  /** Throws `source-incomplete` when the file may have been cut off. */
  finish(lastRowWhole: boolean | undefined): void
}

export interface TextOptions {
  readonly name: string
  readonly encoding: string
  readonly quote: string | null
  readonly onDoubt: (text: Faulty) => void
}

export function createTextStage({ name, encoding, quote, onDoubt }: TextOptions): TextStage {
  const decoder = new TextDecoder(encoding, { fatal: true })
  const lookForDoubts = createDoubtSearch(name, encoding, onDoubt)
  const utf8 = encoding.startsWith('utf-') ? undefined : createUtf8Check()
  let position = START
  let last: string | undefined

  function take(text: string): Buffer {
    const bytes = Buffer.from(text)
    if (bytes.length !== text.length) lookForDoubts(text, position)
    position = advance(position, text)
    last = text.at(-1) ?? last
    return bytes
  }

  return {
    async *pass(chunks, again) {
      let offset = 0
      try {
        for await (const chunk of chunks) {
          yield take(decoder.decode(chunk, { stream: true }))
          utf8?.write(chunk)
          offset += chunk.length
        }
        yield take(decoder.decode())
        if (utf8?.isUtf8() === true) throw wrongEncoding(name, encoding)
      } catch (error) {
        if (!isBadBytes(error)) throw error
        throw await badBytes(again(), offset, name, encoding)
      }
    },
    finish(lastRowWhole) {
      // Another message reports the empty file.
      if (lastRowWhole === undefined) return
      if (last === '\n' || last === '\r' || (last === quote && lastRowWhole)) return
      const why = `${name}, line ${position.line}: the last row has no line end, so the file may have been cut off`
      throw new DirsyncdError(
        'source-incomplete',
        `${why}; let the exporter end every row with a line break, or write a trailer or a sha256 file`,
      )
    },
  }
}

/** Other text is valid UTF-8 only by accident, and not with so many characters outside ASCII. */
const ACCIDENTAL_CHARACTERS = 5

/** Whether bytes are UTF-8, with enough characters outside ASCII to be sure. */
function createUtf8Check(): { write(chunk: Buffer): void; isUtf8(): boolean } {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let isValid = true
  let characters = 0
  const decode = (chunk?: Buffer): void => {
    if (!isValid) return
    try {
      const text = decoder.decode(chunk, { stream: chunk !== undefined })
      if (characters < ACCIDENTAL_CHARACTERS) characters += text.match(/[^\0-\x7f]/gu)?.length ?? 0
    } catch {
      isValid = false
    }
  }
  return {
    write: decode,
    isUtf8() {
      decode()
      return isValid && characters >= ACCIDENTAL_CHARACTERS
    },
  }
}

function wrongEncoding(name: string, encoding: string): DirsyncdError {
  return new DirsyncdError(
    'source-incomplete',
    `${name} is UTF-8 from beginning to end, not ${encoding}; set encoding: utf-8, or auto`,
  )
}

function isBadBytes(error: unknown): boolean {
  return error instanceof TypeError && 'code' in error && error.code === 'ERR_ENCODING_INVALID_ENCODED_DATA'
}
