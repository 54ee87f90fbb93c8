import { incomplete } from '../incomplete.ts'

/** The WHATWG's name, such as `windows-1250`; `undefined` where TextDecoder does not know it. */
export function encodingNamed(name: string): string | undefined {
  try {
    return new TextDecoder(name.replace(/^utf16/i, 'utf-16')).encoding
  } catch {
    return undefined
  }
}

/** Throws `source-incomplete` for an Excel workbook or a ZIP archive. */
export function refuseWorkbook(head: Buffer, name: string): void {
  if (!WORKBOOKS.some((signature) => head.subarray(0, signature.length).equals(signature))) return
  throw incomplete(`${name} is an Excel workbook or a ZIP archive, not CSV; save it as CSV (gzip is allowed)`)
}

/** Excel workbooks: new ones are ZIP archives. */
const WORKBOOKS = [Buffer.from('PK\x03\x04', 'latin1'), Buffer.from('\xd0\xcf\x11\xe0', 'latin1')]

/**
 * The encoding of a file that begins with `head`. `auto` is UTF-8 unless the beginning shows another one; decoding then
 * refuses other text. Throws `source-incomplete` when the beginning contradicts the configured encoding.
 */
export function chooseEncoding(head: Buffer, set: string, name: string): string {
  const detected = detectEncoding(head)
  if (set === 'auto') return detected ?? 'utf-8'
  const isUtf16 = set.startsWith('utf-16')
  const isOther = detected === undefined ? isUtf16 && head.length > 1 && !head.includes(0) : detected !== set
  if (!isOther) return set
  const looks = detected === undefined ? 'it has no zero bytes' : `it looks like ${detected}`
  const remedy = detected === undefined ? 'set its encoding' : `set encoding: ${detected}`
  throw incomplete(`${name}, line 1: this is not ${set}, ${looks}; ${remedy}, or auto`)
}

/** By a byte order mark or the zero bytes of UTF-16; `undefined` without these. */
function detectEncoding(head: Buffer): string | undefined {
  if (head[0] === 0xff && head[1] === 0xfe) return 'utf-16le'
  if (head[0] === 0xfe && head[1] === 0xff) return 'utf-16be'
  if (head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf) return 'utf-8'
  const zeros = [0, 0]
  for (const [at, byte] of head.entries()) if (byte === 0) zeros[at % 2] = (zeros[at % 2] ?? 0) + 1
  const [even = 0, odd = 0] = zeros
  if (odd > head.length / 8 && odd > 4 * even) return 'utf-16le'
  if (even > head.length / 8 && even > 4 * odd) return 'utf-16be'
  return undefined
}

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

/** Proposes an encoding for text that is invalid in the configured one: shows a line of it in likely encodings. */
export function encodingRemedy(encoding: string, line: Buffer = Buffer.alloc(0)): string {
  if (encoding !== 'utf-8' && isUtf8(line)) return 'it looks like utf-8; set encoding: utf-8, or auto'
  const readings = encoding.startsWith('utf-16') ? [] : readingsOf(line)
  if (readings.length === 0) return 'export the file as UTF-8, or set its encoding'
  return `export the file as UTF-8, or set the encoding in which this line is right: ${readings.join(', ')}`
}

/** Needs characters outside ASCII; the line may be cut within its first or last character. */
function isUtf8(line: Buffer): boolean {
  const text = line.toString('utf8').replaceAll(/^\ufffd+|\ufffd+$/g, '')
  return /[^\0-\x7f]/.test(text) && !text.includes('\ufffd')
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
