import type { Kind } from '../../core/entries/entry.ts'
import type { Recheck, Sighting } from '../../core/entries/snapshot.ts'
import { DirsyncdError } from '../../base/errors.ts'
import type { CompiledOptions, DisabledRule, GroupPlace, UserPlace } from './compile.ts'
import type { LdapConnection } from './connection/connection.ts'
import { type LdapEntry, lookupIn } from './entry.ts'
import { anyOf, bothOf } from './filter.ts'
import { findEntry, searchAll, searchSome } from './search.ts'
import { valueBytes } from './values.ts'

const IDS_PER_SEARCH = 100

const MOST_DNS = 1000

/** How many entries are read to find one with a usable id. */
const SAMPLE = 20

type Place = (UserPlace | GroupPlace) & Pick<CompiledOptions, 'pageSize'>

/**
 * The recheck: which of these ids the server has, which of those are within the filter, and which are disabled accounts
 * that the options treat as gone. A base that does not exist is an error, and never "absent".
 */
export async function readIds(
  connection: LdapConnection,
  { users, groups, pageSize }: CompiledOptions,
  kind: Kind,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Recheck>> {
  const chosen = kind === 'user' ? users : groups
  // Without groups in the options the source does not cover them, so it proves none of them absent.
  if (chosen === undefined) return new Map(ids.map((id) => [id, { state: 'present' }]))
  const place: Place = { ...chosen, pageSize }
  const disabled = kind === 'user' && users.disabled?.action === 'delete' ? users.disabled : undefined
  await requireLookup(connection, place)
  const asksForClass = /objectclass/i.test(place.filterText)
  const answer = new Map<string, Sighting>(ids.map((id) => [id, 'absent']))
  for (let at = 0; at < ids.length; at += IDS_PER_SEARCH) {
    const found = await findIds(connection, place, ids.slice(at, at + IDS_PER_SEARCH))
    for (const id of found.keys()) answer.set(id, 'out-of-scope')
    const within = await findIds(connection, place, [...found.keys()], place)
    for (const id of within.keys()) answer.set(id, 'present')
    if (disabled !== undefined) {
      const locked = await findIds(connection, place, [...within.keys()], disabled)
      for (const [id, entries] of within) if (isWithin(entries, locked.get(id))) answer.set(id, 'disabled')
    }
    if (asksForClass)
      for (const [id, entries] of found) if (entries.some(hidesClass)) answer.set(id, 'present')
  }
  return new Map([...answer].map(([id, state]) => [id, { state }]))
}

/** See `Source.idsAt`. */
export async function idsAt(
  connection: LdapConnection,
  { groups }: CompiledOptions,
  dns: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const shown = new Map<string, readonly string[]>()
  if (groups === undefined || dns.length > MOST_DNS) return shown
  const { id } = groups.map
  for (const dn of dns) {
    const entry = await findEntry(connection, dn, [id])
    const ids = entry === undefined ? [] : lookupIn(entry)(id)
    if (ids.length > 0) shown.set(dn, ids)
  }
  return shown
}

/** A returning user may have a disabled account and another one with the same id. */
function isWithin(entries: readonly LdapEntry[], others: readonly LdapEntry[] = []): boolean {
  const dns = new Set(others.map(({ dn }) => dn))
  return entries.every(({ dn }) => dns.has(dn))
}

/**
 * Every entry has an objectClass (RFC 4512, 2.4). Where it is hidden, other attributes of the filter may be hidden too:
 * a filter that does not match then proves nothing.
 */
function hidesClass(entry: LdapEntry): boolean {
  return lookupIn(entry)('objectClass').length === 0
}

/**
 * A server that cannot search by this attribute (no equality rule, no search right) answers "no entry" with success,
 * and all users would seem gone. So an existing entry must be found by its id first.
 */
export async function requireLookup(connection: LdapConnection, place: Place): Promise<void> {
  const attribute = place.map.id
  for (const base of place.bases) {
    const page = { ...place, base, attributes: [attribute], ...(place.pageSize && { pageSize: SAMPLE }) }
    const sample = await searchSome(connection, page)
    const ids = sample.map((entry) => lookupIn(entry)(attribute)).find((values) => values.length === 1)
    if (ids === undefined || (await findIds(connection, place, ids)).size > 0) continue
    const what = `${connection.endpoint.url} does not find the entry with ${attribute} "${ids[0]}" by this value`
    throw new DirsyncdError(
      'source-incomplete',
      `${what} although it is there, so nothing can be proved absent`,
    )
  }
}

/** The existing ids with their entries. Byte for byte: the server's own comparison may ignore case. */
async function findIds(
  connection: LdapConnection,
  place: Place,
  ids: readonly string[],
  within?: Pick<DisabledRule, 'filter' | 'filterText'>,
): Promise<ReadonlyMap<string, readonly LdapEntry[]>> {
  const attribute = place.map.id
  const values = ids.flatMap((id) => valueBytes(attribute, id))
  const found = new Map<string, LdapEntry[]>()
  if (values.length === 0) return found
  const byId = anyOf(attribute, values)
  const filter = within === undefined ? byId : bothOf(within.filter, byId)
  const where = within === undefined ? 'anywhere' : `within the filter ${within.filterText}`
  const filterText = `for ${ids.length} values of ${attribute} ${where}`
  const wanted = new Set(ids)
  for (const base of place.bases) {
    const attributes = [attribute, 'objectClass']
    await searchAll(connection, { ...place, base, filter, filterText, attributes }, (entry) => {
      for (const id of lookupIn(entry)(attribute)) {
        const entries = found.get(id)
        if (entries !== undefined) entries.push(entry)
        else if (wanted.has(id)) found.set(id, [entry])
      }
    })
  }
  return found
}
