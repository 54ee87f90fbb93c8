import { DirsyncdError } from '../../base/errors.ts'
import { advance, type TextPosition, formatPosition, START } from './text-position.ts'

const LINE_FEED = 0x0a

const SHOWN_BYTES = 80

/** In the order in which messages propose them. */
const LIKELY_ENCODINGS = [
  'windows-1252',
  'windows-1250',
  'iso-8859-2',
  'windows-1251',
  'koi8-r',
  'shift_jis',
  'gb18030',
]

/**
 * The error for bytes that are invalid in the encoding; shows the line in likely encodings. Reads the file again,
 * because a decoder does not report where it failed; `from` is the offset of the failed chunk.
 */
export async function badBytes(
  chunks: AsyncIterable<Buffer>,
  from: number,
  name: string,
  encoding: string,
): Promise<DirsyncdError> {
  const { position, line } = await findBadBytes(chunks, from, encoding)
  const what =
    line === undefined
      ? `the file ends within a character of ${encoding}, so it may have been cut off`
      : `this is not ${encoding}`
  const message = `${formatPosition(name, position)}: ${what}; ${remedy(line, encoding)}`
  return new DirsyncdError('source-incomplete', message)
}

function remedy(line: Buffer | undefined, encoding: string): string {
  if (line !== undefined && encoding !== 'utf-8' && isUtf8(line))
    return 'it looks like utf-8; set encoding: utf-8, or auto'
  const readings = line === undefined || encoding.startsWith('utf-16') ? [] : readingsOf(line)
  if (readings.length === 0) return 'export the file as UTF-8, or set its encoding'
  return `export the file as UTF-8, or set the encoding in which this line is right: ${readings.join(', ')}`
}

/** Needs characters outside ASCII; the line may be cut within its first or last character. */
function isUtf8(line: Buffer): boolean {
  const text = line.toString('utf8').replaceAll(/^\ufffd+|\ufffd+$/g, '')
  return /[^\0-\x7f]/.test(text) && !text.includes('\ufffd')
}

/** No line when the file ends within a character. */
async function findBadBytes(
  chunks: AsyncIterable<Buffer>,
  from: number,
  encoding: string,
): Promise<{ readonly position: TextPosition; readonly line?: Buffer }> {
  const decoder = new TextDecoder(encoding, { fatal: true })
  let position = START
  let offset = 0
  let before = Buffer.alloc(0)
  for await (const chunk of chunks) {
    offset += chunk.length
    const step = offset <= from ? chunk.length : 1
    for (let at = 0; at < chunk.length; at += step) {
      try {
        position = advance(position, decoder.decode(chunk.subarray(at, at + step), { stream: true }))
      } catch {
        return { position, line: lineAt(Buffer.concat([before, chunk]), before.length + at) }
      }
    }
    before = Buffer.concat([before, chunk]).subarray(-SHOWN_BYTES)
  }
  return { position }
}

function lineAt(bytes: Buffer, at: number): Buffer {
  const end = bytes.indexOf(LINE_FEED, at)
  const line = bytes.subarray(0, end < 0 ? bytes.length : end)
  const start = at === 0 ? 0 : line.subarray(0, at).lastIndexOf(LINE_FEED) + 1
  return line.subarray(Math.max(start, at - SHOWN_BYTES), at + SHOWN_BYTES)
}

/** Up to three different readings of a line, the most natural first, each with its encodings. */
function readingsOf(line: Buffer): string[] {
  const texts = Map.groupBy(LIKELY_ENCODINGS, (encoding) => textIn(encoding, line) ?? '')
  texts.delete('')
  return [...texts]
    .toSorted(([a], [b]) => oddities(a) - oddities(b))
    .slice(0, 3)
    .map(([text, encodings]) => `${encodings.join(' or ')} ${JSON.stringify(text)}`)
}

/** Counts unnatural text: signs outside ASCII, and capitals behind small letters. */
function oddities(text: string): number {
  return text.match(/[^\0-\x7f\p{L}\p{M}]|\p{Ll}\p{Lu}/gu)?.length ?? 0
}

/** `undefined` when the line is invalid in this encoding or has control characters in it. */
function textIn(encoding: string, line: Buffer): string | undefined {
  try {
    const text = new TextDecoder(encoding, { fatal: true }).decode(line).trimEnd()
    return /[\u0080-\u009f]/.test(text) ? undefined : text
  } catch {
    return undefined
  }
}
