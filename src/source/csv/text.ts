import { DirsyncdError } from '../../errors.ts'
import { createDoubtSearch } from './doubts.ts'
import type { Encoding } from './options.ts'
import { createTextPosition } from './text-position.ts'
import { createTranscoder, ENCODING_NAMES } from './transcode.ts'

const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d

/** Turns a file into UTF-8 on the way to the parser, and sees how it ends. */
export interface TextStage {
  readonly pass: (chunks: AsyncIterable<Buffer>) => AsyncGenerator<Buffer>
  /** Throws `source-incomplete` when the end of the file may not be the end of what was to be written. */
  finish(lastRowWhole: boolean | undefined): void
}

export interface TextOptions {
  readonly name: string
  readonly encoding: Exclude<Encoding, 'auto'>
  readonly quote: string | null
  readonly onDoubt: (detail: string) => void
}

export function createTextStage({ name, encoding, quote, onDoubt }: TextOptions): TextStage {
  const position = createTextPosition(name)
  const transcoder = createTranscoder(encoding, position)
  const doubts = createDoubtSearch(ENCODING_NAMES[encoding], onDoubt)
  const lastOfQuote = quote === null ? undefined : Buffer.from(quote).at(-1)
  let last: number | undefined

  return {
    async *pass(chunks) {
      for await (const chunk of chunks) {
        const text = transcoder.write(chunk)
        doubts.look(text, position)
        position.advance(text)
        last = text.at(-1) ?? last
        yield text
      }
      transcoder.end()
    },
    finish(lastRowWhole) {
      // Of an empty file there is more to say than that.
      if (lastRowWhole === undefined) return
      if (last === LINE_FEED || last === CARRIAGE_RETURN || (last === lastOfQuote && lastRowWhole)) return
      const why = `${name}, line ${position.line}: the last row has no line end, so the file may have been cut off`
      throw new DirsyncdError(
        'source-incomplete',
        `${why}; let the exporter end every row with a line break, or write a trailer or a sha256 file`,
      )
    },
  }
}
