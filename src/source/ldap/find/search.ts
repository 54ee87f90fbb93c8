import type { Filter } from 'ldapts'
import { DirsyncdError, sentence } from '../../../base/errors.ts'
import type { LdapConnection } from '../connection/connection.ts'
import { ConnectionLost } from '../connection/wire.ts'
import { dnKey, normalizeDn } from '../dn.ts'
import { type LdapEntry, lookupIn } from '../entry.ts'
import { findEntry, type Search, searchAll } from '../search.ts'
import type { Searched } from './places.ts'

export interface Hit extends Searched {
  readonly entry: LdapEntry
}

export interface Finding {
  readonly connection: LdapConnection
  readonly pageSize: number | undefined
  /** The DNs of the searches, and what the server refused. */
  readonly searched: Set<string>
}

export type FilterOf = (place: Searched) => Filter | undefined

export async function atDn(
  { connection, searched }: Finding,
  places: readonly Searched[],
  who: string,
): Promise<Hit[]> {
  const dn = normalizeDn(who)
  if (dn === undefined || !dn.includes('=')) return []
  searched.add(who)
  const hits: Hit[] = []
  for (const place of places) {
    const entry = await findEntry(connection, who, place.attributes)
    if (entry !== undefined) hits.push({ ...place, entry })
  }
  return hits
}

export async function searchBases(
  finding: Finding,
  places: readonly Searched[],
  filterOf: FilterOf,
): Promise<Hit[]> {
  const hits: Hit[] = []
  for (const searched of places) {
    const filter = filterOf(searched)
    if (filter === undefined) continue
    const { bases, scope } = searched.place
    for (const base of bases) hits.push(...(await search(finding, searched, { base, scope, filter })))
  }
  return hits
}

const WITHOUT_PEOPLE = /^(?:cn=configuration|cn=schema|dc=domaindnszones|dc=forestdnszones),/

export async function searchElsewhere(
  finding: Finding,
  places: readonly Searched[],
  filterOf: FilterOf,
): Promise<Hit[]> {
  const { rootDse } = finding.connection
  const contexts = rootDse === undefined ? [] : lookupIn(rootDse)('namingContexts')
  const hits: Hit[] = []
  for (const base of contexts) {
    if (WITHOUT_PEOPLE.test(dnKey(base))) continue
    for (const searched of places) {
      const filter = filterOf(searched)
      if (filter === undefined) continue
      hits.push(...(await search(finding, searched, { base, scope: 'sub', filter })))
    }
  }
  return hits
}

/** Some servers refuse searches by attributes without an index: counts as no match, and the report names it. */
async function search(
  { connection, pageSize, searched }: Finding,
  place: Searched,
  { base, scope, filter }: Pick<Search, 'base' | 'scope' | 'filter'>,
): Promise<Hit[]> {
  const hits: Hit[] = []
  const { attributes } = place
  const where = { base, scope, filter, filterText: 'for one person', attributes, pageSize }
  searched.add(base)
  try {
    await searchAll(connection, where, (entry) => hits.push({ ...place, entry }))
  } catch (error) {
    const isRefusal = error instanceof DirsyncdError && error.code === 'source-incomplete'
    if (!isRefusal || error instanceof ConnectionLost) throw error
    searched.add(`with a refusal: ${sentence(error)}`)
  }
  return hits
}

export function idsOf({ entry, place }: Hit): readonly string[] {
  return lookupIn(entry)(place.map.id)
}
