import { isUtf8 } from 'node:buffer'
import {
  AndFilter,
  ApproximateFilter,
  EqualityFilter,
  ExtensibleFilter,
  type Filter,
  GreaterThanEqualsFilter,
  LessThanEqualsFilter,
  NotFilter,
  OrFilter,
  PresenceFilter,
  SubstringFilter,
} from 'ldapts'
import { DirsyncdError, sentence } from '../../base/errors.ts'

/**
 * Parses an RFC 4515 filter into ldapts' objects. ldapts' own parser encodes `\c3\a9` twice, so that the filter matches
 * nothing, refuses blanks between clauses, options and `(&)`, and accepts some unbalanced filters. A value may be
 * `now()` or `now(filetime)`, whose parentheses no value can have. Throws `config-invalid` with a sentence that names
 * the key and the position.
 */
export function parseFilter(text: string, key: string, now: Date = new Date()): Filter {
  const trimmed = text.trim()
  const whole = trimmed.startsWith('(') ? trimmed : `(${trimmed})`
  try {
    const { filter, end } = parseClause({ text: whole, now }, 0)
    if (end !== whole.length) throw new Error(`there is more after its end at position ${end + 1}`)
    return filter
  } catch (cause) {
    throw new DirsyncdError('config-invalid', `${key}: "${text}" is not an LDAP filter: ${sentence(cause)}`, {
      cause,
    })
  }
}

/** Follows the name of the filter in a sentence; `undefined` for a valid filter. */
export function filterProblem(text: string): string | undefined {
  try {
    parseFilter(text, '')
    return undefined
  } catch (error) {
    return `is not an LDAP filter: ${sentence((error as Error).cause)}`
  }
}

/** Built from objects and never from strings: an id may hold any character. */
export function anyOf(attribute: string, values: readonly Buffer[]): Filter {
  return new OrFilter({ filters: values.map((value) => new EqualityFilter({ attribute, value })) })
}

export function bothOf(first: Filter, second: Filter): Filter {
  return allOf([first, second])
}

/** Entries with one of these values in one of these attributes. */
export function anyIn(attributes: readonly string[], values: readonly string[]): Filter {
  const bytes = values.map((value) => Buffer.from(value))
  return someOf(attributes.map((attribute) => anyOf(attribute, bytes)))
}

export function someOf(filters: readonly Filter[]): Filter {
  return new OrFilter({ filters: [...filters] })
}

export function allOf(filters: readonly Filter[]): Filter {
  return new AndFilter({ filters: [...filters] })
}

/** Entries with a value in any of these attributes, with the text of the filter. */
export function anyPresent(attributes: readonly string[]): typeof ANYTHING {
  const texts = attributes.map((attribute) => `(${attribute}=*)`)
  return {
    filter: new OrFilter({ filters: attributes.map((attribute) => new PresenceFilter({ attribute })) }),
    filterText: texts.length === 1 ? texts.join('') : `(|${texts.join('')})`,
  }
}

/** As spelled in the filter, without options. */
export function attributesOf(filter: Filter): string[] {
  if (filter instanceof AndFilter || filter instanceof OrFilter) return filter.filters.flatMap(attributesOf)
  if (filter instanceof NotFilter) return attributesOf(filter.filter)
  const name = filter instanceof ExtensibleFilter ? filter.matchType : nameIn(filter)
  return name === '' ? [] : [name.replace(/;.*$/, '')]
}

/** Every other kind of filter is about one attribute. */
function nameIn(filter: Filter): string {
  return 'attribute' in filter && typeof filter.attribute === 'string' ? filter.attribute : ''
}

export const ANYTHING: { readonly filter: Filter; readonly filterText: string } = {
  filter: new PresenceFilter({ attribute: 'objectClass' }),
  filterText: '(objectClass=*)',
}

interface Parsed {
  readonly filter: Filter
  readonly end: number
}

interface Input {
  readonly text: string
  readonly now: Date
}

function parseClause(input: Input, start: number): Parsed {
  const { text } = input
  if (text[start] !== '(') throw new Error(`"(" is missing at position ${start + 1}`)
  const at = skipBlanks(text, start + 1)
  switch (text[at] ?? '') {
    case '&': {
      const { filters, end } = parseList(input, at + 1)
      return { filter: new AndFilter({ filters }), end }
    }
    case '|': {
      const { filters, end } = parseList(input, at + 1)
      return { filter: new OrFilter({ filters }), end }
    }
    case '!': {
      const { filter, end } = parseClause(input, skipBlanks(text, at + 1))
      return { filter: new NotFilter({ filter }), end: closeAt(text, end) }
    }
    default:
      return parseComparison(input, at)
  }
}

function parseList(input: Input, start: number): { readonly filters: Filter[]; readonly end: number } {
  const { text } = input
  const filters: Filter[] = []
  let at = skipBlanks(text, start)
  while (text[at] === '(') {
    const { filter, end } = parseClause(input, at)
    filters.push(filter)
    at = skipBlanks(text, end)
  }
  return { filters, end: closeAt(text, at) }
}

function closeAt(text: string, at: number): number {
  const close = skipBlanks(text, at)
  if (text[close] !== ')') throw new Error(`")" is missing at position ${close + 1}`)
  return close + 1
}

function skipBlanks(text: string, start: number): number {
  let at = start
  while (/\s/.test(text[at] ?? '')) at += 1
  return at
}

const COMPARISON = /^(?<left>[^=()<>~]*?)\s*(?<operator>:=|[<>~]?=)(?<value>[^()]*)$/

const WITH_TIME = /(?<left>[^=()<>~]*?)\s*(?<operator>:=|[<>~]?=)\s*now\((?<form>[^()]*)\)\s*\)/y

function parseComparison({ text, now }: Input, start: number): Parsed {
  WITH_TIME.lastIndex = start
  const timed = WITH_TIME.exec(text)?.groups
  if (timed !== undefined) {
    const { left = '', operator = '', form = '' } = timed
    return { filter: comparison(left, operator, timeIn(form, now)), end: WITH_TIME.lastIndex }
  }
  const close = text.indexOf(')', start)
  if (close < 0) throw new Error(`")" is missing at position ${text.length + 1}`)
  const clause = text.slice(start, close)
  const groups = COMPARISON.exec(clause)?.groups
  if (groups === undefined) {
    const hint = /\bnow\s*\(/i.test(clause)
      ? '; now() and now(filetime) are whole values, such as (a<=now())'
      : ''
    throw new Error(`"(${clause})" at position ${start} is no comparison${hint}`)
  }
  const { left = '', operator = '', value = '' } = groups
  return { filter: comparison(left, operator, value), end: close + 1 }
}

/** From the beginning of 1601 (UTC), where FILETIME begins, to that of 1970, in milliseconds. */
const FILETIME_BEGINS_MS = 11_644_473_600_000

/** In tenths of a microsecond from 1601. */
export function filetimeOf(time: Date): bigint {
  return BigInt(time.getTime() + FILETIME_BEGINS_MS) * 10_000n
}

function timeIn(form: string, now: Date): string {
  switch (form.trim()) {
    case '':
      // GeneralizedTime (RFC 4517, 3.3.13).
      return now.toISOString().replace(/\.\d+|[-:T]/g, '')
    case 'filetime':
      return String(filetimeOf(now))
    default:
      throw new Error(
        `"now(${form})" is not known; there are now(), such as 20260131235900Z, and now(filetime) of Active Directory`,
      )
  }
}

function comparison(left: string, operator: string, value: string): Filter {
  if (operator === ':=') return extensible(left, textOf(value))
  const attribute = attributeName(left)
  switch (operator) {
    case '>=':
      return new GreaterThanEqualsFilter({ attribute, value: textOf(value) })
    case '<=':
      return new LessThanEqualsFilter({ attribute, value: textOf(value) })
    case '~=':
      return new ApproximateFilter({ attribute, value: textOf(value) })
    default:
      if (value === '*') return new PresenceFilter({ attribute })
      return value.includes('*')
        ? substrings(attribute, value)
        : new EqualityFilter({ attribute, value: bytesOf(value) })
  }
}

function substrings(attribute: string, value: string): Filter {
  const parts = value.split('*').map(textOf)
  if (parts.slice(1, -1).includes('')) throw new Error(`"**" in "(${attribute}=${value})"`)
  return new SubstringFilter({
    attribute,
    initial: parts[0] ?? '',
    any: parts.slice(1, -1),
    final: parts.at(-1) ?? '',
  })
}

/** `attribute:dn:rule:=value`; the attribute or the rule may be missing. */
function extensible(left: string, value: string): Filter {
  const [attribute = '', ...rest] = left.split(':')
  const dnAttributes = rest[0]?.toLowerCase() === 'dn'
  const [rule, ...more] = dnAttributes ? rest.slice(1) : rest
  if (more.length > 0 || (attribute === '' && rule === undefined))
    throw new Error(`"${left}:=" is no matching rule`)
  const matchType = attribute === '' ? {} : { matchType: attributeName(attribute) }
  return new ExtensibleFilter({
    ...matchType,
    ...(rule === undefined ? {} : { rule: attributeName(rule) }),
    dnAttributes,
    value,
  })
}

/** Follows RFC 4512: a name or an OID, perhaps with options. */
export function attributeProblem(name: string): string | undefined {
  const good = /^(?:[a-z][a-z0-9-]*|\d+(?:\.\d+)+)(?:;[a-z0-9-]+)*$/i.test(name)
  return good ? undefined : `"${name}" is not the name of an LDAP attribute`
}

function attributeName(text: string): string {
  const problem = attributeProblem(text)
  if (problem !== undefined) throw new Error(problem)
  return text
}

/** The value with its `\xx` escapes as bytes; everything else is UTF-8. */
function bytesOf(value: string): Buffer {
  const parts: Buffer[] = []
  for (const part of value.split(/(\\.{0,2})/s)) {
    if (!part.startsWith('\\')) parts.push(Buffer.from(part))
    else if (/^\\[0-9a-f]{2}$/i.test(part)) parts.push(Buffer.from(part.slice(1), 'hex'))
    else throw new Error(`"${part}" is no escape, which is a backslash and two hexadecimal digits`)
  }
  return Buffer.concat(parts)
}

/** ldapts carries bytes that are not text only in comparisons with `=`. */
function textOf(value: string): string {
  const bytes = bytesOf(value)
  if (!isUtf8(bytes)) throw new Error(`"${value}" is not UTF-8, and bytes can only be compared with "="`)
  return bytes.toString('utf8')
}
