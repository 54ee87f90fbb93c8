import { isUtf8 } from 'node:buffer'
import type { Decode } from './connection/ber-reader.ts'

/** Attributes whose 16 bytes are a GUID in Microsoft's order. */
const GUIDS = new Set(['objectguid', 'ms-ds-consistencyguid', 'invocationid'])

/** Attributes that are always bytes, even where the bytes of one entry happen to be UTF-8. */
const BINARY = new Set(['guid', 'jpegphoto', 'repluptodatevector', 'userpassword'])

const SIDS = new Set(['objectsid', 'sidhistory'])

const GUID_TEXT = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

type Form = 'guid' | 'sid' | 'hex' | 'text'

/** The attribute's name decides the form, or an id would have one form for one entry and another for the next. */
function formOf(attribute: string): Form {
  const name = attribute.toLowerCase()
  if (GUIDS.has(name)) return 'guid'
  if (SIDS.has(name)) return 'sid'
  return BINARY.has(name) || name.endsWith(';binary') ? 'hex' : 'text'
}

/**
 * Decodes the values of an attribute: a GUID and a SID as Microsoft writes them, other binary attributes and everything
 * that is not UTF-8 as lower-case hexadecimal digits, text byte for byte.
 * @param onBytes called for each value that seems to be text and is not UTF-8
 */
export function valueDecoder(attribute: string, onBytes: () => void = () => undefined): Decode<string> {
  switch (formOf(attribute)) {
    case 'guid':
      return (bytes, start, end) =>
        end - start === 16 ? guidText(bytes.subarray(start, end)) : hexText(bytes, start, end)
    case 'sid':
      return sidText
    case 'hex':
      return hexText
    case 'text':
      return (bytes, start, end) => {
        const text = bytes.toString('utf8', start, end)
        // Bytes that are not UTF-8 become U+FFFD, which may also have been sent as such.
        if (!text.includes('\ufffd') || isUtf8(bytes.subarray(start, end))) return text
        onBytes()
        return hexText(bytes, start, end)
      }
  }
}

function hexText(bytes: Buffer, start: number, end: number): string {
  return bytes.toString('hex', start, end)
}

/** The values that `valueDecoder` writes like this: one, seldom two, none for an impossible text. */
export function valueBytes(attribute: string, text: string): Buffer[] {
  const form = formOf(attribute)
  if (form === 'guid' && isGuid(text)) return [guidBytes(text)]
  if (form === 'sid' && text.startsWith('S-')) return sidBytes(text)
  const hex = /^(?:[0-9a-f]{2})+$/.test(text) ? Buffer.from(text, 'hex') : undefined
  if (form !== 'text') return hex === undefined ? [] : [hex]
  const plain = Buffer.from(text)
  return hex === undefined || isUtf8(hex) ? [plain] : [plain, hex]
}

/** Whether `valueDecoder` writes 16 bytes of such an attribute like this. */
export function isGuid(text: string): boolean {
  return GUID_TEXT.test(text)
}

export function guidText(bytes: Buffer): string {
  const hex = swapFirstFields(bytes).toString('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}

function guidBytes(text: string): Buffer {
  return swapFirstFields(Buffer.from(text.replaceAll('-', ''), 'hex'))
}

/** Microsoft stores the first three fields of a GUID with the lowest byte first. */
function swapFirstFields(bytes: Buffer): Buffer {
  const swapped = Buffer.from(bytes)
  swapped.subarray(0, 4).swap32()
  swapped.subarray(4, 8).swap16()
  return swapped
}

const MOST_SID_PARTS = 15

/** Revision 1, the number of parts, six bytes of authority, and the parts with the lowest byte first. */
function sidText(bytes: Buffer, start: number, end: number): string {
  const parts = bytes[start + 1] ?? 0
  const isSid = end - start === 8 + 4 * parts && bytes[start] === 1 && parts <= MOST_SID_PARTS
  if (!isSid) return hexText(bytes, start, end)
  const numbers = [1, bytes.readUIntBE(start + 2, 6)]
  for (let at = start + 8; at < end; at += 4) numbers.push(bytes.readUInt32LE(at))
  return `S-${numbers.join('-')}`
}

/** Empty for a text that is no SID or another spelling of one. */
function sidBytes(text: string): Buffer[] {
  const [authority = Number.NaN, ...parts] = text.split('-').slice(2).map(Number)
  const inRange = authority < 2 ** 48 && parts.every((part) => part < 2 ** 32)
  const whole = [authority, ...parts].every((part) => Number.isInteger(part) && part >= 0)
  if (!whole || !inRange || parts.length > MOST_SID_PARTS) return []
  const bytes = Buffer.alloc(8 + 4 * parts.length)
  bytes[0] = 1
  bytes[1] = parts.length
  bytes.writeUIntBE(authority, 2, 6)
  for (const [index, part] of parts.entries()) bytes.writeUInt32LE(part, 8 + 4 * index)
  return sidText(bytes, 0, bytes.length) === text ? [bytes] : []
}
