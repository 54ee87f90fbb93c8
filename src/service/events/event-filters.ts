import type { EventFilters } from '../../api/contract/event.ts'
import { MAX_ID } from '../../api/contract/values.ts'
import { type IpAddress, parseIp } from './ip-address.ts'
import { type FieldError, fieldProblem } from '../http/problem.ts'

/** An event must match every given filter; a range includes both ends. */
export interface EventSearch {
  readonly types?: readonly string[]
  readonly from?: Date
  readonly to?: Date
  /** Addresses of one family, both ends included. */
  readonly ips?: { readonly from: string; readonly to: string }
  /** 0, which matches nothing, for an id above the largest possible one. */
  readonly groupId?: number
  readonly contactId?: number
}

const FAMILY_ENDS = {
  4: { from: '0.0.0.0', to: '255.255.255.255' },
  6: { from: '::', to: 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff' },
} as const

type Name = keyof EventFilters

/**
 * Parses the filters of #19; an empty one counts as not given. Throws a `Problem`: malformed for invalid values,
 * value-not-allowed for ranges that can hold nothing. Each error names its filter as in the query, such as
 * `filters[ip_from]`.
 */
export function readEventFilters(filters: EventFilters = {}): EventSearch {
  const errors: FieldError[] = []
  const read = <Value>(name: Name, parse: (text: string) => Value | undefined, expected: string) => {
    const text = filters[name]?.trim()
    if (text === undefined || text === '') return undefined
    const value = parse(text)
    if (value === undefined) errors.push({ field: fieldOf(name), message: expected })
    return value
  }
  const types = read('type', parseTypes, 'must be a type of event, or several separated by commas')
  const from = read('time_from', (text) => parseTime(text, 'from'), TIME_EXPECTED)
  const to = read('time_to', (text) => parseTime(text, 'to'), TIME_EXPECTED)
  const ipFrom = read('ip_from', parseIp, 'must be an IPv4 or IPv6 address')
  const ipTo = read('ip_to', parseIp, 'must be an IPv4 or IPv6 address')
  const groupId = read('group_id', parseId, 'must be the id of a group')
  const contactId = read('contact_id', parseId, 'must be the id of a contact')
  if (errors.length > 0) throw fieldProblem('malformed', errors)
  checkRanges({ from, to, ipFrom, ipTo })
  const ips = addressRange(ipFrom, ipTo)
  return {
    ...(types === undefined ? {} : { types }),
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
    ...(ips === undefined ? {} : { ips }),
    ...(groupId === undefined ? {} : { groupId }),
    ...(contactId === undefined ? {} : { contactId }),
  }
}

interface Bounds {
  readonly from: Date | undefined
  readonly to: Date | undefined
  readonly ipFrom: IpAddress | undefined
  readonly ipTo: IpAddress | undefined
}

/** Without an error, the empty result of an impossible range would look like a real answer. */
function checkRanges({ from, to, ipFrom, ipTo }: Bounds): void {
  const errors: FieldError[] = []
  const refuse = (first: Name, last: Name, why: string) => {
    errors.push({ field: fieldOf(first), message: `${why} ${fieldOf(last)}` })
    errors.push({ field: fieldOf(last), message: `must fit ${fieldOf(first)}` })
  }
  if (from !== undefined && to !== undefined && from > to) {
    refuse('time_from', 'time_to', 'must not be later than')
  }
  if (ipFrom !== undefined && ipTo !== undefined) {
    if (ipFrom.family !== ipTo.family) refuse('ip_from', 'ip_to', 'must be of the same IP version as')
    else if (ipFrom.bits > ipTo.bits) refuse('ip_from', 'ip_to', 'must not be higher than')
  }
  if (errors.length > 0) throw fieldProblem('value-not-allowed', errors)
}

function addressRange(from: IpAddress | undefined, to: IpAddress | undefined): EventSearch['ips'] {
  const given = from ?? to
  if (given === undefined) return undefined
  const ends = FAMILY_ENDS[given.family]
  return { from: from?.text ?? ends.from, to: to?.text ?? ends.to }
}

/** Any text may be a recorded type, except text with a NUL, which PostgreSQL refuses. */
function parseTypes(text: string): string[] | undefined {
  if (text.includes('\0')) return undefined
  const types = text.split(',').flatMap((type) => (type.trim() === '' ? [] : [type.trim()]))
  return types.length === 0 ? undefined : [...new Set(types)]
}

function parseId(text: string): number | undefined {
  if (!/^[1-9]\d*$/.test(text)) return undefined
  const id = Number(text)
  return id > MAX_ID ? 0 : id
}

const TIME_EXPECTED = 'must be an ISO 8601 date or time, such as 2026-01-31 or 2026-01-31T08:15:00.000+00:00'

/** The blank before the offset is a `+` that was not percent-encoded in the query. */
const TIME =
  /^(\d{4}-\d\d-\d\d)(?:[t ](\d\d:\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?(?:(z)|([+ -])(\d\d)(?::?(\d\d))?)?)?$/i

/**
 * In whole milliseconds, as in the store; a `from` with a finer fraction is rounded up. A date alone is the beginning
 * of its day, or as `to` the end.
 */
function parseTime(text: string, bound: 'from' | 'to'): Date | undefined {
  const match = TIME.exec(text)
  if (match === null) return undefined
  const [, date, clock, seconds = '00', fraction = '', , sign, hours = '00', minutes = '00'] = match
  if (clock === undefined) return exactTime(`${date}T${bound === 'from' ? '00:00:00.000' : '23:59:59.999'}Z`)
  if (Number(hours) > 23 || Number(minutes) > 59) return undefined
  const time = exactTime(`${date}T${clock}:${seconds}.${fraction.slice(0, 3).padEnd(3, '0')}Z`)
  if (time === undefined) return undefined
  const offset = (Number(hours) * 60 + Number(minutes)) * 60_000 * (sign === '-' ? -1 : 1)
  const finer = bound === 'from' && /[1-9]/.test(fraction.slice(3)) ? 1 : 0
  return new Date(time.getTime() - offset + finer)
}

/** `undefined` for a date or time that does not exist, such as February 30 or 24:00. */
function exactTime(text: string): Date | undefined {
  const time = new Date(text)
  return !Number.isNaN(time.getTime()) && time.toISOString() === text ? time : undefined
}

function fieldOf(name: Name): string {
  return `filters[${name}]`
}
