import { DirsyncdError } from '../../errors.ts'
import type { Sighting } from '../../directory/snapshot.ts'
import type { GroupMapping, UserMapping } from '../mapping.ts'
import type { Place } from './compile.ts'
import type { LdapConnection } from './connection.ts'
import { anyOf, bothOf } from './filter.ts'
import { type Search, searchAll, searchSome } from './search.ts'
import { lookupIn, valueBytes } from './values.ts'

const IDS_PER_SEARCH = 100

/** How many entries are looked at to find one with a usable id. */
const SAMPLE = 20

type AnyPlace = Place<UserMapping | GroupMapping>

/**
 * The second look: which of these ids the server has at all, and which of those are within the filter. A base that
 * does not exist is an error, and never "gone".
 */
export async function lookAgain(
  connection: LdapConnection,
  place: AnyPlace,
  ids: readonly string[],
  pageSize: number,
): Promise<ReadonlyMap<string, Sighting>> {
  await requireLookup(connection, place)
  const answer = new Map<string, Sighting>(ids.map((id) => [id, 'gone']))
  for (let at = 0; at < ids.length; at += IDS_PER_SEARCH) {
    const found = await findIds(connection, place, ids.slice(at, at + IDS_PER_SEARCH), pageSize, 'anywhere')
    for (const id of found) answer.set(id, 'left-filter')
    const within = await findIds(connection, place, found, pageSize, 'within the filter')
    for (const id of within) answer.set(id, 'present')
  }
  return answer
}

/**
 * A server that cannot search by this attribute (no equality rule, no right to search) answers "nobody" with success,
 * and everybody would seem gone. So an entry that is there must be found by its id first.
 */
async function requireLookup(connection: LdapConnection, place: AnyPlace): Promise<void> {
  const sample = await searchSome(connection, { ...place, attributes: [place.map.id], pageSize: SAMPLE })
  const ids = sample.map((entry) => lookupIn(entry)(place.map.id)).find((values) => values.length === 1)
  if (ids === undefined) return
  const found = await findIds(connection, place, ids, SAMPLE, 'anywhere')
  if (found.length > 0) return
  const what = `${connection.endpoint.url} does not find the entry with ${place.map.id} "${ids[0]}" by this value`
  throw new DirsyncdError(
    'source-incomplete',
    `${what} although it is there, so nothing can be proved absent`,
  )
}

/** Those of the ids that the server has, byte for byte: its own comparison may well ignore case. */
async function findIds(
  connection: LdapConnection,
  place: AnyPlace,
  ids: readonly string[],
  pageSize: number,
  where: 'anywhere' | 'within the filter',
): Promise<string[]> {
  const attribute = place.map.id
  const values = ids.flatMap((id) => valueBytes(attribute, id))
  if (values.length === 0) return []
  const byId = anyOf(attribute, values)
  const filter = where === 'anywhere' ? byId : bothOf(place.filter, byId)
  const filterText = `for ${ids.length} values of ${attribute} ${where}`
  const search: Search = { ...place, filter, filterText, attributes: [attribute], pageSize }
  const wanted = new Set(ids)
  const found = new Set<string>()
  await searchAll(connection, search, (entry) => {
    for (const id of lookupIn(entry)(attribute)) if (wanted.has(id)) found.add(id)
  })
  return [...found]
}
