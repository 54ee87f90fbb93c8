import { DirsyncdError } from '../../base/errors.ts'
import type { LdapConnection } from './connection/connection.ts'
import type { LdapEntry } from './entry.ts'
import { ANYTHING } from './filter.ts'
import { searchSome } from './search.ts'

/** Attributes that change with every change of an entry, where the server has them. */
const MARKS = ['uSNChanged', 'whenChanged', 'modifyTimestamp']

/** How often an entry that changes during the read is read again. */
const MOST_READS = 4

/**
 * Whether the server sent only a part of some values. Active Directory sends the first 1,500 values of an attribute as
 * `member;range=0-1499`, beside an empty `member`. Taken as complete, that would remove every other member.
 */
export function isPartial(entry: LdapEntry): boolean {
  for (const name of entry.attributes.keys()) if (rangeOf(name) !== undefined) return true
  return false
}

/**
 * Reads an entry with all values of these attributes, range by range, up to the one that the server marks as the last.
 * An entry that changed between two ranges is read again, a few times; then it is torn. Rejects with
 * `source-incomplete` for other errors. No other search may be open on the connection: most servers allow one at a
 * time.
 */
export async function readWhole(
  connection: LdapConnection,
  dn: string,
  attributes: readonly string[],
): Promise<LdapEntry> {
  for (let reads = 1; reads < MOST_READS; reads += 1) {
    const whole = await readRanges(connection, dn, attributes).catch(unlessChanged)
    if (whole !== undefined) return whole
  }
  const whole = await readRanges(connection, dn, attributes)
  return whole ?? withoutRanges(await readEntry(connection, dn, attributes))
}

function withoutRanges({ dn, attributes }: LdapEntry): LdapEntry {
  const ranged = [...attributes.keys()].map(rangeOf).filter((range) => range !== undefined)
  const torn = new Set(ranged.map(({ attribute }) => attribute))
  const rest = [...attributes].filter(([name]) => rangeOf(name) === undefined && !torn.has(name))
  return { dn, attributes: new Map(rest), isTorn: true }
}

/** A range that no longer exists is refused. A lost connection stays so, and fails the next time too. */
function unlessChanged(error: unknown): undefined {
  if (error instanceof DirsyncdError && error.code === 'source-incomplete') return undefined
  throw error
}

/** `undefined` when the entry changed. */
async function readRanges(
  connection: LdapConnection,
  dn: string,
  attributes: readonly string[],
): Promise<LdapEntry | undefined> {
  const first = await readEntry(connection, dn, attributes)
  const whole = new Map<string, readonly string[]>()
  for (const [name, values] of first.attributes) {
    const range = rangeOf(name)
    const all = range === undefined ? values : await readRest(connection, first, { ...range, values })
    if (all === undefined) return undefined
    if (range !== undefined || !whole.has(name)) whole.set(range?.attribute ?? name, all)
  }
  return { dn: first.dn, attributes: whole }
}

/**
 * Each range begins with the last value of the one before. The mark does not show every change: the account of a
 * deleted member leaves the group without a change of the group, all values behind it move up, and one is never read.
 * @returns the values of all ranges, or `undefined` when the entry changed between two of them
 */
async function readRest(
  connection: LdapConnection,
  first: LdapEntry,
  { attribute, next: second, values }: Values,
): Promise<readonly string[] | undefined> {
  const { dn } = first
  const mark = markOf(first)
  const all = [...values]
  for (let next = second; next !== undefined;) {
    if (mark === '') throw incomplete(connection, dn, 'the reader does not see whether it changes meanwhile')
    const part = await readEntry(connection, dn, [`${attribute};range=${next - 1}-*`])
    if (markOf(part) !== mark) return undefined
    const found = rangeIn(part, attribute, next - 1)
    if (found === undefined) {
      throw incomplete(connection, dn, `the server does not go on with value ${next} of ${attribute}`)
    }
    const [again, ...others] = found.values
    const last = all.at(-1)
    if (again === undefined || last === undefined || again !== last) return undefined
    for (const value of others) all.push(value)
    next = found.next
  }
  return all
}

async function readEntry(
  connection: LdapConnection,
  dn: string,
  attributes: readonly string[],
): Promise<LdapEntry> {
  const search = { base: dn, scope: 'base', ...ANYTHING, pageSize: undefined } as const
  const [entry] = await searchSome(connection, { ...search, attributes: [...attributes, ...MARKS] }).catch(
    moved,
  )
  if (entry !== undefined) return entry
  throw incomplete(connection, dn, 'it is no longer there')

  function moved(error: unknown): never {
    const gone = error instanceof DirsyncdError && error.code === 'source-refused'
    throw gone ? incomplete(connection, dn, 'it is no longer there') : error
  }
}

interface Range {
  /** In lower case, without the option. */
  readonly attribute: string
  readonly from: number
  /** The number of the next value; `undefined` when this was the last range. */
  readonly next: number | undefined
}

interface Values extends Range {
  readonly values: readonly string[]
}

function rangeOf(name: string): Range | undefined {
  // A fast path: this runs for every name of every entry, and hardly one is a range.
  if (!name.includes(';range=')) return undefined
  const match = /^(?<attribute>.+);range=(?<from>\d+)-(?<to>\d+|\*)$/.exec(name)?.groups
  if (match === undefined) return undefined
  const { attribute = '', from = '', to = '' } = match
  return {
    attribute,
    from: Number(from),
    next: to === '*' ? undefined : Number(to) + 1,
  }
}

/** The range that begins there and, unless it is the last, has more than its first value. */
function rangeIn(entry: LdapEntry, attribute: string, from: number): Values | undefined {
  for (const [name, values] of entry.attributes) {
    const range = rangeOf(name)
    if (range?.attribute !== attribute || range.from !== from) continue
    const goesOn = range.next === undefined || (range.next === from + values.length && values.length > 1)
    if (goesOn) return { ...range, values }
  }
  return undefined
}

function markOf({ attributes }: LdapEntry): string {
  const values = MARKS.flatMap((name) => attributes.get(name.toLowerCase()) ?? [])
  return values.join(' ')
}

function incomplete({ endpoint }: LdapConnection, dn: string, why: string): DirsyncdError {
  return new DirsyncdError('source-incomplete', `${endpoint.url}: could not read all of "${dn}": ${why}`)
}
