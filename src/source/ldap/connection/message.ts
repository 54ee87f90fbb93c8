import { Ber, BerReader, ControlParser, PagedResultsControl, ProtocolOperation } from 'ldapts'

/** The tag of `responseValue` (RFC 4511, 4.12). */
const EXTENDED_VALUE = 0x8b
/** The tag of `referral` (RFC 4511, 4.1.9). */
const REFERRAL = 0xa3

/**
 * An entry as it came over the wire. Names are in lower case; values are bytes, because only they are what was sent.
 */
export interface LdapEntry {
  readonly dn: string
  readonly attributes: ReadonlyMap<string, readonly Buffer[]>
}

export type Answer =
  | { readonly type: 'entry'; readonly messageId: number; readonly entry: LdapEntry }
  | { readonly type: 'reference'; readonly messageId: number }
  | { readonly type: 'result'; readonly messageId: number; readonly result: LdapResult }

/** The end of an operation. */
export interface LdapResult {
  readonly operation: 'bind' | 'search' | 'extended'
  readonly code: number
  /** What the server says about it, often empty. */
  readonly diagnostic: string
  /** The URLs of servers that it refers to. */
  readonly referral: readonly string[]
  /** The cookie of the paged results control; `undefined` where the server sent no such control. */
  readonly cookie: Buffer | undefined
  /** What an extended operation gives back; `undefined` where it gives nothing. */
  readonly value: Buffer | undefined
}

/** Decodes one whole message. Throws when it is broken or of a kind that nobody asked for. */
export function decodeAnswer(message: Buffer): Answer {
  const reader = new BerReader(message)
  reader.readSequence()
  const messageId = reader.readInt()
  const operation = reader.readSequence()
  if (messageId === null || operation === null) throw new Error('a message without id or operation arrived')
  switch (operation) {
    case ProtocolOperation.LDAP_RES_SEARCH_ENTRY:
      return { type: 'entry', messageId, entry: decodeEntry(reader) }
    case ProtocolOperation.LDAP_RES_SEARCH_REF:
      return { type: 'reference', messageId }
    case ProtocolOperation.LDAP_RES_SEARCH:
      return { type: 'result', messageId, result: decodeResult('search', reader) }
    case ProtocolOperation.LDAP_RES_BIND:
      return { type: 'result', messageId, result: decodeResult('bind', reader) }
    case ProtocolOperation.LDAP_RES_EXTENSION:
      return { type: 'result', messageId, result: decodeResult('extended', reader) }
    default:
      throw new Error(`an unexpected message of type 0x${operation.toString(16)} arrived`)
  }
}

/** ldapts takes a result without a code for success, and loses the controls of a result with a referral. */
function decodeResult(operation: LdapResult['operation'], reader: BerReader): LdapResult {
  const end = reader.offset + reader.length
  const code = reader.readEnumeration()
  const matchedDn = reader.readString()
  const diagnostic = reader.readString()
  if (code === null || matchedDn === null || diagnostic === null) throw new Error('a broken result arrived')
  const referral = decodeReferral(reader, end)
  const value = operation === 'extended' ? decodeValue(reader, end) : undefined
  reader.offset = end
  return { operation, code, diagnostic: printable(diagnostic), referral, cookie: decodeCookie(reader), value }
}

function decodeReferral(reader: BerReader, end: number): string[] {
  const urls: string[] = []
  if (reader.offset >= end || reader.peek() !== REFERRAL) return urls
  reader.readSequence()
  const behind = reader.offset + reader.length
  while (reader.offset < behind) {
    const url = reader.readString()
    if (url === null) throw new Error('a broken result arrived')
    urls.push(printable(url))
  }
  return urls
}

/** It stands behind the name of the operation, where that is there. */
function decodeValue(reader: BerReader, end: number): Buffer | undefined {
  while (reader.offset < end) {
    const tag = reader.peek() ?? 0
    const part = reader.readString(tag, true)
    if (part === null) throw new Error('a broken result arrived')
    if (tag === EXTENDED_VALUE) return part
  }
  return undefined
}

function decodeCookie(reader: BerReader): Buffer | undefined {
  if (reader.peek() !== ProtocolOperation.LDAP_CONTROLS) return undefined
  reader.readSequence()
  const end = reader.offset + reader.length
  while (reader.offset < end) {
    const control = ControlParser.parse(reader, [])
    if (!(control instanceof PagedResultsControl)) continue
    if (control.value?.cookie === undefined) throw new Error('a broken paged results control arrived')
    // A copy, or these few bytes keep the whole chunk of the socket in memory.
    return Buffer.from(control.value.cookie)
  }
  return undefined
}

/**
 * ldapts' own decoder turns values into strings where they happen to be UTF-8 and drops a leading byte order mark, so
 * that one and the same attribute is sometimes bytes and sometimes text.
 */
function decodeEntry(reader: BerReader): LdapEntry {
  const dn = reader.readString() ?? ''
  const attributes = new Map<string, readonly Buffer[]>()
  reader.readSequence()
  const end = reader.offset + reader.length
  while (reader.offset < end) {
    reader.readSequence()
    const name = (reader.readString() ?? '').toLowerCase()
    attributes.set(name, [...(attributes.get(name) ?? []), ...decodeValues(reader)])
  }
  if (reader.offset !== end) throw new Error('a broken entry arrived')
  return { dn, attributes }
}

function decodeValues(reader: BerReader): Buffer[] {
  const values: Buffer[] = []
  reader.readSequence(ProtocolOperation.LBER_SET)
  const end = reader.offset + reader.length
  while (reader.offset < end) {
    const value = reader.readString(Ber.OctetString, true)
    if (value === null) throw new Error('a broken value arrived')
    values.push(value)
  }
  return values
}

/** A server's own words, on one line and not too long; Active Directory ends them with a NUL. */
function printable(text: string): string {
  return text
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .slice(0, 200)
}
