import { isUtf8 } from 'node:buffer'

/** Names that mean the same attribute in a DN, by RFC 4514 and the schemas that every server has. */
const SHORT_NAMES = new Map([
  ['2.5.4.3', 'cn'],
  ['commonname', 'cn'],
  ['2.5.4.4', 'sn'],
  ['surname', 'sn'],
  ['2.5.4.6', 'c'],
  ['countryname', 'c'],
  ['2.5.4.7', 'l'],
  ['localityname', 'l'],
  ['2.5.4.8', 'st'],
  ['stateorprovincename', 'st'],
  ['2.5.4.9', 'street'],
  ['streetaddress', 'street'],
  ['2.5.4.10', 'o'],
  ['organizationname', 'o'],
  ['2.5.4.11', 'ou'],
  ['organizationalunitname', 'ou'],
  ['0.9.2342.19200300.100.1.1', 'uid'],
  ['userid', 'uid'],
  ['0.9.2342.19200300.100.1.25', 'dc'],
  ['domaincomponent', 'dc'],
])

const TYPE = /\s*(?:oid\.)?([a-z][a-z0-9-]*|\d+(?:\.\d+)*)\s*=\s*/iy
const HEX_VALUE = /#((?:[0-9a-f]{2})+)\s*(?=[,;+]|$)/iy
const QUOTED_VALUE = /"((?:[^"\\]|\\.)*)"\s*(?=[,;+]|$)/sy
const PLAIN_VALUE = /((?:[^,;+"\\]|\\.)*)(?=[,;+]|$)/sy

/** Most values vary in case only; a fast path, because every user and every member has a DN. */
const SIMPLE = String.raw`[\w.@-]+(?: [\w.@-]+)*`
const SIMPLE_VALUE = new RegExp(`^${SIMPLE}$`)
const SIMPLE_RDN = `(?:cn|ou|dc|uid|o|c)=${SIMPLE}`
/** The normal form of such a DN is itself in lower case. */
const SIMPLE_DN = new RegExp(`^${SIMPLE_RDN}(?:,${SIMPLE_RDN})*$`, 'i')

/** In characters; far more than servers accept. Regular expressions fail on texts of many millions. */
const LONGEST = 100_000

/**
 * One spelling for all spellings of a DN (RFC 4514, and RFC 1779's quotes and semicolons): types and values in lower
 * case, escapes resolved, insignificant blanks removed, the parts of a multi-valued RDN sorted. Two DNs name the same
 * entry when their normal forms are equal. `undefined` when the text is not a DN. Servers may distinguish more (an
 * attribute where case counts), so two entries can have one normal form. The empty DN is the empty text.
 */
export function normalizeDn(dn: string): string | undefined {
  if (dn.length > LONGEST) return undefined
  if (SIMPLE_DN.test(dn)) return dn.toLowerCase()
  if (dn.trim() === '') return ''
  const rdns: string[] = []
  let parts: string[] = []
  let at = 0
  for (;;) {
    const part = parsePart(dn, at)
    if (part === undefined) return undefined
    parts.push(part.text)
    const separator = dn[part.end]
    if (separator !== '+') {
      rdns.push(parts.length === 1 ? part.text : parts.toSorted().join('+'))
      parts = []
    }
    if (separator === undefined) return rdns.join(',')
    at = part.end + 1
  }
}

/** The key of an entry: the normal form of the DN, or the text itself where it is no DN. */
export function dnKey(dn: string): string {
  return normalizeDn(dn) ?? dn
}

interface Part {
  readonly text: string
  readonly end: number
}

function parsePart(dn: string, start: number): Part | undefined {
  const type = matchAt(TYPE, dn, start)
  if (type === undefined) return undefined
  const name = type.text.toLowerCase()
  const value = parseValue(dn, type.end)
  return value && { text: `${SHORT_NAMES.get(name) ?? name}=${value.text}`, end: value.end }
}

function parseValue(dn: string, start: number): Part | undefined {
  const hex = matchAt(HEX_VALUE, dn, start)
  if (hex !== undefined) return { text: hexValue(hex.text), end: hex.end }
  const quoted = matchAt(QUOTED_VALUE, dn, start)
  const plain = quoted ?? matchAt(PLAIN_VALUE, dn, start)
  if (plain === undefined) return undefined
  if (!plain.text.includes('\\')) return { text: normalizeText(plain.text), end: plain.end }
  const bytes = unescapeValue(plain.text)
  return bytes && { text: normalizeValue(bytes), end: plain.end }
}

function matchAt(pattern: RegExp, text: string, at: number): Part | undefined {
  pattern.lastIndex = at
  const match = pattern.exec(text)
  return match === null ? undefined : { text: match[1] ?? '', end: pattern.lastIndex }
}

function unescapeValue(text: string): Buffer | undefined {
  const parts: Buffer[] = []
  for (const part of text.split(/(\\[0-9a-f]{2}|\\.)/is)) {
    if (!part.startsWith('\\')) parts.push(Buffer.from(part))
    else if (part.length === 3) parts.push(Buffer.from(part.slice(1), 'hex'))
    else if (/^\\[ "#+,;<=>\\]$/.test(part)) parts.push(Buffer.from(part.slice(1)))
    else return undefined
  }
  return Buffer.concat(parts)
}

/** ASN.1 strings whose content is the value itself: octets, UTF-8, printable and IA5. */
const STRING_TAGS = new Set([0x04, 0x0c, 0x13, 0x16])

function hexValue(hex: string): string {
  const bytes = Buffer.from(hex, 'hex')
  const content = STRING_TAGS.has(bytes[0] ?? 0) ? contentOf(bytes) : undefined
  return content === undefined ? `#${hex.toLowerCase()}` : normalizeValue(content)
}

/** The content of a BER element; `undefined` where the length is wrong. */
function contentOf(bytes: Buffer): Buffer | undefined {
  const first = bytes[1] ?? 0
  const more = first > 0x80 ? first - 0x80 : 0
  const length = more === 0 ? first : Number.parseInt(bytes.toString('hex', 2, 2 + more), 16)
  return bytes.length === 2 + more + length ? bytes.subarray(2 + more) : undefined
}

function normalizeValue(bytes: Buffer): string {
  if (!isUtf8(bytes)) return `#04${lengthHex(bytes.length)}${bytes.toString('hex')}`
  return normalizeText(bytes.toString('utf8'))
}

/** As RFC 4518 prepares strings for a comparison without case: every run of blanks is one, none at the ends. */
function normalizeText(text: string): string {
  if (SIMPLE_VALUE.test(text)) return text.toLowerCase()
  return foldCase(text)
    .replace(/\s+/g, ' ')
    .trim()
    .replace(SPECIAL, (character) => `\\${character.charCodeAt(0).toString(16).padStart(2, '0')}`)
}

const SPECIAL = /["#+,;<=>\\\0]/g

function foldCase(text: string): string {
  return text.normalize('NFKC').toLowerCase().replaceAll('ς', 'σ').normalize('NFKC')
}

/** A BER length in hexadecimal digits. */
function lengthHex(length: number): string {
  const hex = length.toString(16).padStart(2, '0')
  if (length < 0x80) return hex
  const even = hex.padStart(hex.length + (hex.length % 2), '0')
  return (0x80 + even.length / 2).toString(16) + even
}
