import { ProtocolOperation } from 'ldapts'
import type { LdapEntry } from '../entry.ts'
import { valueDecoder } from '../values.ts'
import { BerReader, type Decode } from './ber-reader.ts'

const SEQUENCE = 0x30
const SET = 0x31
const INTEGER = 0x02
const BOOLEAN = 0x01
const OCTETS = 0x04
const ENUMERATED = 0x0a
/** The tag of `referral` (RFC 4511, 4.1.9). */
const REFERRAL = 0xa3
/** The tags of `responseName` and `responseValue` (RFC 4511, 4.12). */
const EXTENDED_NAME = 0x8a
const EXTENDED_VALUE = 0x8b

/** The paged results control (RFC 2696). */
export const PAGED_RESULTS = '1.2.840.113556.1.4.319'

/** A server has some hundred attributes; beyond this, names are dropped, so that they fill no memory. */
const MOST_KNOWN_ATTRIBUTES = 10_000

export type Answer =
  | { readonly type: 'entry'; readonly messageId: number; readonly entry: SentEntry }
  | { readonly type: 'reference'; readonly messageId: number; readonly urls: readonly string[] }
  | { readonly type: 'result'; readonly messageId: number; readonly result: LdapResult }

/** A received entry, to be decoded once, when there is time for it. */
export class SentEntry {
  /** In memory. */
  readonly bytes: number
  readonly #reader: BerReader
  readonly #attributeOf: Decode<Attribute>

  constructor(reader: BerReader, bytes: number, attributeOf: Decode<Attribute>) {
    this.bytes = bytes
    this.#reader = reader
    this.#attributeOf = attributeOf
  }

  /** Throws when it is broken. */
  decode(): LdapEntry {
    return decodeEntry(this.#reader, this.#attributeOf)
  }
}

export interface LdapResult {
  readonly operation: 'bind' | 'search' | 'extended'
  readonly code: number
  /** The server's diagnostic message, often empty. */
  readonly diagnostic: string
  readonly referral: readonly string[]
  /** The cookie of the paged results control; `undefined` where the server sent no such control. */
  readonly cookie: Buffer | undefined
  /** The value of an extended response, if any. */
  readonly value: Buffer | undefined
}

const OPERATIONS = new Map<number, LdapResult['operation']>([
  [ProtocolOperation.LDAP_RES_BIND, 'bind'],
  [ProtocolOperation.LDAP_RES_SEARCH, 'search'],
  [ProtocolOperation.LDAP_RES_EXTENSION, 'extended'],
])

/**
 * Returns the decoder of one connection. It takes the content of a message, without its header, and throws when a
 * message is broken or of an unexpected kind.
 *
 * ldapts decodes lengths without bounds: twenty bytes of a hostile server keep it busy for ever.
 */
export function createAnswerDecoder(): Decode<Answer> {
  const attributeOf = createAttributes()
  return (bytes, start, end) => {
    const reader = new BerReader(bytes, start, end)
    const messageId = reader.integer(INTEGER)
    const { tag } = reader
    if (tag === ProtocolOperation.LDAP_RES_SEARCH_ENTRY) {
      return { type: 'entry', messageId, entry: new SentEntry(reader, end - start, attributeOf) }
    }
    if (tag === ProtocolOperation.LDAP_RES_SEARCH_REF) {
      const urls = decodeUrls(reader, tag)
      reader.leaveExtended(end)
      return { type: 'reference', messageId, urls }
    }
    const operation = OPERATIONS.get(tag)
    if (tag < 0) throw new Error('a broken message arrived (it has no operation)')
    if (operation === undefined) throw new Error(`a message of type 0x${tag.toString(16)} was not asked for`)
    const result = decodeResult(reader, tag, operation)
    const cookie = decodeCookie(reader)
    reader.leaveExtended(end)
    return { type: 'result', messageId, result: { ...result, cookie } }
  }
}

function decodeResult(
  reader: BerReader,
  tag: number,
  operation: LdapResult['operation'],
): Omit<LdapResult, 'cookie'> {
  const outerEnd = reader.enter(tag)
  const code = reader.integer(ENUMERATED)
  // `matchedDN`: the existing part of the base.
  reader.skip(OCTETS)
  const diagnostic = printable(reader.text(OCTETS))
  const referral = reader.tag === REFERRAL ? decodeUrls(reader, REFERRAL) : []
  const value = operation === 'extended' ? decodeValue(reader) : undefined
  reader.leaveExtended(outerEnd)
  return { operation, code, diagnostic, referral, value }
}

function decodeUrls(reader: BerReader, tag: number): string[] {
  const urls: string[] = []
  const outerEnd = reader.enter(tag)
  while (!reader.isAtEnd) urls.push(printable(reader.text(OCTETS)))
  reader.leave(outerEnd)
  return urls
}

function decodeValue(reader: BerReader): Buffer | undefined {
  if (reader.tag === EXTENDED_NAME) reader.skip(EXTENDED_NAME)
  return reader.tag === EXTENDED_VALUE ? reader.octets(EXTENDED_VALUE) : undefined
}

function decodeCookie(reader: BerReader): Buffer | undefined {
  if (reader.tag !== ProtocolOperation.LDAP_CONTROLS) return undefined
  const outerEnd = reader.enter(ProtocolOperation.LDAP_CONTROLS)
  let cookie: Buffer | undefined
  while (!reader.isAtEnd) {
    const found = decodeControl(reader)
    cookie ??= found
  }
  reader.leave(outerEnd)
  return cookie
}

function decodeControl(reader: BerReader): Buffer | undefined {
  const outerEnd = reader.enter(SEQUENCE)
  const type = reader.text(OCTETS)
  if (reader.tag === BOOLEAN) reader.skip(BOOLEAN)
  if (type !== PAGED_RESULTS && reader.tag === OCTETS) reader.skip(OCTETS)
  const cookie = type === PAGED_RESULTS ? decodePagedResults(reader) : undefined
  reader.leaveExtended(outerEnd)
  return cookie
}

function decodePagedResults(reader: BerReader): Buffer {
  const valueEnd = reader.enter(OCTETS)
  const outerEnd = reader.enter(SEQUENCE)
  // The estimated number of entries, which most servers leave out.
  reader.skip(INTEGER)
  const cookie = reader.octets(OCTETS)
  reader.leaveExtended(outerEnd)
  reader.leave(valueEnd)
  return cookie
}

interface Attribute {
  readonly spelled: Buffer
  /** In lower case. */
  readonly name: string
  readonly decode: Decode<string>
  hasBytes: boolean
  /** The attribute that followed it last time. */
  next: Attribute | undefined
}

/** Thousands of entries have the same attributes in the same order, so each name is decoded once. */
function createAttributes(): Decode<Attribute> {
  const known = new Map<string, Attribute>()
  let last: Attribute | undefined

  function lookUp(bytes: Buffer, start: number, end: number): Attribute {
    const spelled = bytes.toString('latin1', start, end)
    const found = known.get(spelled)
    if (found !== undefined) return found
    const name = spelled.toLowerCase()
    const made: Attribute = {
      spelled: Buffer.from(spelled, 'latin1'),
      name,
      decode: valueDecoder(name, () => {
        made.hasBytes = true
      }),
      hasBytes: false,
      next: undefined,
    }
    if (known.size === MOST_KNOWN_ATTRIBUTES) known.clear()
    known.set(spelled, made)
    return made
  }

  return (bytes, start, end) => {
    const guess = last?.next
    const attribute =
      guess !== undefined && isAt(bytes, start, end, guess.spelled) ? guess : lookUp(bytes, start, end)
    if (last !== undefined) last.next = attribute
    last = attribute
    return attribute
  }
}

/** Quicker than `Buffer.compare` for the few bytes of a name. */
function isAt(bytes: Buffer, start: number, end: number, name: Buffer): boolean {
  if (end - start !== name.length) return false
  for (let at = 0; at < name.length; at += 1) if (bytes[start + at] !== name[at]) return false
  return true
}

function decodeEntry(reader: BerReader, attributeOf: Decode<Attribute>): LdapEntry {
  const outerEnd = reader.enter(ProtocolOperation.LDAP_RES_SEARCH_ENTRY)
  const dn = reader.text(OCTETS)
  const attributes = new Map<string, string[]>()
  let bytes: Set<string> | undefined
  const listEnd = reader.enter(SEQUENCE)
  while (!reader.isAtEnd) {
    const attributeEnd = reader.enter(SEQUENCE)
    const attribute = reader.decode(OCTETS, attributeOf)
    const { name } = attribute
    const values = decodeValues(reader, attribute.decode)
    reader.leaveExtended(attributeEnd)
    if (attribute.hasBytes) {
      attribute.hasBytes = false
      bytes = (bytes ?? new Set()).add(name)
    }
    const others = attributes.get(name)
    if (others === undefined) attributes.set(name, values)
    else for (const value of values) others.push(value)
  }
  reader.leave(listEnd)
  reader.leaveExtended(outerEnd)
  reader.skipExtensions()
  return bytes === undefined ? { dn, attributes } : { dn, attributes, bytes }
}

function decodeValues(reader: BerReader, decode: Decode<string>): string[] {
  const values: string[] = []
  const outerEnd = reader.enter(SET)
  while (!reader.isAtEnd) values.push(reader.decode(OCTETS, decode))
  reader.leave(outerEnd)
  return values
}

/** A server's text, on one line and cut to length; Active Directory ends it with a NUL. */
function printable(text: string): string {
  return text
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .slice(0, 200)
}
