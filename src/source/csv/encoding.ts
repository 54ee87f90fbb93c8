import { DirsyncdError } from '../../base/errors.ts'

/** The name that the WHATWG gives an encoding, such as `windows-1250`; `undefined` where TextDecoder has none. */
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
  const what = 'is an Excel workbook or a ZIP archive, not CSV'
  throw new DirsyncdError('source-incomplete', `${name} ${what}; save it as CSV (gzip is allowed)`)
}

/** The first bytes of ZIP archives, which new Excel workbooks are, and of old Excel workbooks. */
const WORKBOOKS = [Buffer.from('PK\x03\x04', 'latin1'), Buffer.from('\xd0\xcf\x11\xe0', 'latin1')]

/**
 * The encoding of a file that begins with `head`. For `auto` it is UTF-8 unless the beginning shows another one;
 * decoding then refuses other text. Throws `source-incomplete` when the beginning contradicts the encoding that is set.
 */
export function chooseEncoding(head: Buffer, set: string, name: string): string {
  const detected = detectEncoding(head)
  if (set === 'auto') return detected ?? 'utf-8'
  const isUtf16 = set.startsWith('utf-16')
  const isOther = detected === undefined ? isUtf16 && head.length > 1 && !head.includes(0) : detected !== set
  if (!isOther) return set
  const looks = detected === undefined ? 'it has no zero bytes' : `it looks like ${detected}`
  const remedy = detected === undefined ? 'set its encoding' : `set encoding: ${detected}`
  throw new DirsyncdError(
    'source-incomplete',
    `${name}, line 1: this is not ${set}, ${looks}; ${remedy}, or auto`,
  )
}

/** The encoding that a byte order mark or the zero bytes of UTF-16 show; `undefined` without these. */
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
