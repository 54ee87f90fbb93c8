import { isAscii, isUtf8 } from 'node:buffer'
import { DirsyncdError } from '../../errors.ts'
import type { Encoding } from './options.ts'
import { ENCODING_NAMES, unfinished } from './transcode.ts'

type Known = Exclude<Encoding, 'auto'>

/** The encoding of a file that begins with `head`, without looking further; `undefined` for anything of one byte. */
function encodingOf(head: Buffer): Known | undefined {
  if (head[0] === 0xff && head[1] === 0xfe) return 'utf16le'
  if (head[0] === 0xfe && head[1] === 0xff) return 'utf16be'
  if (head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf) return 'utf8'
  const zeros = [0, 0]
  for (const [at, byte] of head.entries()) if (byte === 0) zeros[at % 2] = (zeros[at % 2] ?? 0) + 1
  const [even = 0, odd = 0] = zeros
  if (odd > head.length / 8 && odd > 4 * even) return 'utf16le'
  if (even > head.length / 8 && even > 4 * odd) return 'utf16be'
  return undefined
}

/** Throws `source-incomplete` when a file that is called CSV is something else. */
export function refuseWorkbook(head: Buffer, name: string): void {
  if (!WORKBOOKS.some((signature) => head.subarray(0, signature.length).equals(signature))) return
  const what = 'is an Excel workbook or a ZIP archive, and no CSV'
  throw new DirsyncdError('source-incomplete', `${name} ${what}; save it as CSV (gzip is read, too)`)
}

/** How ZIP archives begin, which workbooks are, and Excel's older ones. */
const WORKBOOKS = [Buffer.from('PK\x03\x04', 'latin1'), Buffer.from('\xd0\xcf\x11\xe0', 'latin1')]

/** Throws `source-incomplete` when the beginning of a file shows that it is in another encoding than was set. */
export function refuseOtherEncoding(head: Buffer, set: Known, name: string): void {
  const shown = encodingOf(head)
  const isSixteen = set === 'utf16le' || set === 'utf16be'
  const isOther = shown === undefined ? isSixteen && head.length > 1 && !head.includes(0) : shown !== set
  if (!isOther) return
  const looks = shown === undefined ? 'it has no zero bytes' : `it looks like ${ENCODING_NAMES[shown]}`
  const remedy = shown === undefined ? 'set its encoding, or auto' : `set encoding: ${shown}, or auto`
  throw new DirsyncdError(
    'source-incomplete',
    `${name}, line 1: this is not ${ENCODING_NAMES[set]}, ${looks}; ${remedy}`,
  )
}

/**
 * Finds the encoding; reads the file to its end where its beginning does not show it. A file with characters of UTF-8 and
 * bytes that are none is taken for damaged UTF-8, which the reading then refuses, and not for Windows-1252: that
 * would rewrite everybody's name.
 */
export async function detectEncoding(head: Buffer, chunks: () => AsyncIterable<Buffer>): Promise<Known> {
  const shown = encodingOf(head)
  if (shown !== undefined) return shown
  let rest = Buffer.alloc(0)
  let isBroken = false
  for await (const chunk of chunks()) {
    if (rest.length === 0 && isAscii(chunk)) continue
    const bytes = Buffer.concat([rest, chunk])
    const whole = bytes.subarray(0, bytes.length - unfinished(bytes))
    rest = Buffer.from(bytes.subarray(whole.length))
    if (!isUtf8(whole)) isBroken = true
    if (UTF8_CHARACTER.test(whole.toString('latin1'))) return 'utf8'
  }
  return isBroken ? 'windows-1252' : 'utf8'
}

const UTF8_CHARACTER = /[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}/
