import { isUtf8 } from 'node:buffer'

const LINE_FEED = 0x0a
const BYTE_ORDER_MARK = '\ufeff'

export interface LineLimits {
  /** Bytes of all lines together. */
  readonly maxOutput: number
  /** Bytes of one line. */
  readonly maxLine: number
}

/** `first` is the number of the first line, counted from 1. */
export interface Lines {
  readonly first: number
  readonly lines: readonly string[]
}

/** Keeps one line and one chunk at most. Too long a line, too many bytes or invalid UTF-8 throw the error of `fail`. */
export async function* splitLines(
  chunks: AsyncIterable<Buffer>,
  limits: LineLimits,
  fail: (why: string) => Error,
): AsyncGenerator<Lines> {
  let rest: Buffer[] = []
  let restLength = 0
  let total = 0
  let first = 1

  function take(bytes: Buffer): Lines {
    const lines = decode(bytes, first, fail).split('\n')
    if (bytes.length > limits.maxLine) refuseLong(lines)
    const taken = { first, lines }
    first += lines.length
    return taken
  }

  function refuseLong(lines: readonly string[]): void {
    const long = lines.findIndex((line) => Buffer.byteLength(line) > limits.maxLine)
    if (long >= 0) throw fail(tooLong(first + long))
  }

  const tooLong = (line: number) => `line ${line} of its output is longer than ${limits.maxLine} bytes`

  for await (const chunk of chunks) {
    total += chunk.length
    if (total > limits.maxOutput) throw fail(`it printed more than ${limits.maxOutput} bytes (maxOutput)`)
    const end = chunk.lastIndexOf(LINE_FEED)
    const head = end < 0 ? chunk.length : chunk.indexOf(LINE_FEED)
    if (restLength + head > limits.maxLine) throw fail(tooLong(first))
    if (end >= 0) {
      yield take(Buffer.concat([...rest, chunk.subarray(0, end)]))
      rest = []
      restLength = 0
    }
    const tail = chunk.subarray(end + 1)
    if (tail.length > 0) rest.push(tail)
    restLength += tail.length
  }
  if (restLength > 0) yield take(Buffer.concat(rest))
}

/** In UTF-8 no other character has the byte of a line feed, so whole lines can be decoded alone. */
function decode(bytes: Buffer, first: number, fail: (why: string) => Error): string {
  if (!isUtf8(bytes)) throw fail(`line ${first + linesBeforeInvalid(bytes)} of its output is not UTF-8`)
  const text = bytes.toString('utf8')
  return first === 1 && text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text
}

function linesBeforeInvalid(bytes: Buffer): number {
  let lines = 0
  for (let start = 0; start <= bytes.length; lines += 1) {
    const feed = bytes.indexOf(LINE_FEED, start)
    const end = feed < 0 ? bytes.length : feed
    if (!isUtf8(bytes.subarray(start, end))) return lines
    start = end + 1
  }
  return lines
}
