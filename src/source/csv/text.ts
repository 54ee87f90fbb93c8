import { DirsyncdError } from '../../errors.ts'
import { badBytes } from './bad-bytes.ts'
import { createDoubtSearch } from './doubts.ts'
import { advance, START } from './text-position.ts'

/** Converts a file to UTF-8 without a byte order mark, for the parser, and checks how it ends. */
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
  readonly onDoubt: (detail: string) => void
}

export function createTextStage({ name, encoding, quote, onDoubt }: TextOptions): TextStage {
  const decoder = new TextDecoder(encoding, { fatal: true })
  const lookForDoubts = createDoubtSearch(name, encoding, onDoubt)
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
          offset += chunk.length
        }
        yield take(decoder.decode())
      } catch (error) {
        if (!isBadBytes(error)) throw error
        throw await badBytes(again(), offset, name, encoding)
      }
    },
    finish(lastRowWhole) {
      // Another message says that the file is empty.
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

function isBadBytes(error: unknown): boolean {
  return error instanceof TypeError && 'code' in error && error.code === 'ERR_ENCODING_INVALID_ENCODED_DATA'
}
