/** The part of BER (X.690) that LDAP messages need: definite lengths and tags of one byte. */
export interface Tlv {
  readonly tag: number
  readonly content: Buffer
}

export const SEQUENCE = 0x30
export const OCTETS = 0x04
export const SET = 0x31
const INTEGER = 0x02
export const ENUMERATED = 0x0a

/** Decodes a sequence of elements. Throws when the last element is cut off. */
export function decodeAll(bytes: Buffer): Tlv[] {
  const elements: Tlv[] = []
  for (let at = 0; at < bytes.length;) {
    const size = sizeAt(bytes, at)
    if (size === undefined || at + size.all > bytes.length) throw new Error('a BER element is cut off')
    elements.push({ tag: bytes[at] ?? 0, content: bytes.subarray(at + size.head, at + size.all) })
    at += size.all
  }
  return elements
}

/** The length in bytes of the first message, or `undefined` while the message is incomplete. */
export function messageLength(bytes: Buffer): number | undefined {
  const size = sizeAt(bytes, 0)
  return size === undefined || size.all > bytes.length ? undefined : size.all
}

function sizeAt(bytes: Buffer, at: number): { head: number; all: number } | undefined {
  const first = bytes[at + 1]
  if (first === undefined) return undefined
  if (first < 0x80) return { head: 2, all: 2 + first }
  const digits = first & 0x7f
  if (bytes.length < at + 2 + digits) return undefined
  return { head: 2 + digits, all: 2 + digits + bytes.readUIntBE(at + 2, digits) }
}

export function encode(tag: number, ...contents: readonly (Buffer | string)[]): Buffer {
  const content = Buffer.concat(contents.map((each) => Buffer.from(each)))
  if (content.length < 0x80) return Buffer.concat([Buffer.from([tag, content.length]), content])
  const length = Buffer.alloc(4)
  length.writeUInt32BE(content.length)
  return Buffer.concat([Buffer.from([tag, 0x84]), length, content])
}

export function encodeInteger(value: number, tag = INTEGER): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return encode(tag, bytes)
}

export function encodeTlv({ tag, content }: Tlv): Buffer {
  return encode(tag, content)
}

export function integerOf({ content }: Tlv): number {
  return content.length === 0 ? 0 : content.readIntBE(0, content.length)
}
