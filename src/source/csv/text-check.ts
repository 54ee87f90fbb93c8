import { isUtf8 } from 'node:buffer'
import { DirsyncdError } from '../../errors.ts'

const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d
const QUOTE = 0x22

/** Lets the bytes of a file pass and sees what the parser of the rows does not: broken UTF-8, and how the file ends. */
export interface TextCheck {
  readonly pass: (chunks: AsyncIterable<Buffer>) => AsyncGenerator<Buffer>
  /** Throws `source-incomplete` when the end of the file may not be the end of what was to be written. */
  finish(lastRowWhole: boolean): void
}

export function createTextCheck(name: string): TextCheck {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let lines = 1
  let last: number | undefined

  function decode(chunk: Buffer | undefined): void {
    try {
      decoder.decode(chunk, { stream: chunk !== undefined })
    } catch (cause) {
      const line = lines + (chunk === undefined ? 0 : linesBeforeFault(chunk))
      const hint = chunk?.includes(0) === true && line === 1 ? ', it looks like UTF-16' : ''
      const message = `${name}, line ${line}: this is not UTF-8${hint}; export the file as UTF-8`
      throw new DirsyncdError('source-incomplete', message, { cause })
    }
  }

  return {
    async *pass(chunks) {
      for await (const chunk of chunks) {
        decode(chunk)
        for (let at = chunk.indexOf(LINE_FEED); at >= 0; at = chunk.indexOf(LINE_FEED, at + 1)) lines += 1
        last = chunk.at(-1)
        yield chunk
      }
      decode(undefined)
    },
    finish(lastRowWhole) {
      // Of an empty file there is more to say than that.
      if (last === undefined) return
      if (last === LINE_FEED || last === CARRIAGE_RETURN || (last === QUOTE && lastRowWhole)) return
      const why = `${name}, line ${lines}: the last row has no line end, so the file may have been cut off`
      throw new DirsyncdError('source-incomplete', `${why}; let the exporter end every row with a line break`)
    },
  }
}

function linesBeforeFault(chunk: Buffer): number {
  let lines = 0
  for (let start = 0; start < chunk.length; lines += 1) {
    const feed = chunk.indexOf(LINE_FEED, start)
    const end = feed < 0 ? chunk.length : feed
    if (!isUtf8(chunk.subarray(start, end))) return lines
    start = end + 1
  }
  return Math.max(0, lines - 1)
}
