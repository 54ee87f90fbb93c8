import { guidText } from '../values.ts'

const HEADER = 16
/** Bytes of one cursor, by version; the second one has the time of the last success, too. */
const CURSOR = new Map([
  [1, 24],
  [2, 32],
])

/**
 * Decodes `replUpToDateVector` (MS-DRSR, `UPTODATE_VECTOR_V1_EXT` and `_V2_EXT`): for each invocation id, as text, the
 * greatest update sequence number that the server has of it. `undefined` for other bytes.
 */
export function decodeUpToDateVector(bytes: Buffer): ReadonlyMap<string, string> | undefined {
  if (bytes.length < HEADER) return undefined
  const size = CURSOR.get(bytes.readUInt32LE(0))
  const count = bytes.readUInt32LE(8)
  if (size === undefined || bytes.length !== HEADER + count * size) return undefined
  const cursors = new Map<string, string>()
  for (let at = HEADER; at < bytes.length; at += size) {
    cursors.set(guidText(bytes.subarray(at, at + 16)), String(bytes.readBigUInt64LE(at + 16)))
  }
  return cursors
}
