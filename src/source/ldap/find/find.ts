import { canonicalEmail } from '../../../core/entries/normalize.ts'
import { type Collector, usableId } from '../../collect.ts'
import type { Found, FoundEntry, Wanted } from '../../source.ts'
import type { CompiledOptions } from '../compile.ts'
import type { LdapConnection } from '../connection/connection.ts'
import { dnKey } from '../dn.ts'
import { textIn } from '../entry.ts'
import { byId, byValue, hasEmail, type Hit, idsOf, type Searched, searchedOf } from './places.ts'
import { atDn, type Finding, inBases, onServer, searchIn } from './search.ts'
import { collect, foundEntry } from './standing.ts'

/**
 * See `Source.find`. By DN it reads that entry, otherwise it searches for equal values: of the id, then of e-mails,
 * logins and names, first in the sync's bases and then on the whole server. The id has a search of its own, because a
 * server may refuse one that names an attribute without an index.
 *
 * @param collector gets the entries as a read would
 */
export async function find(
  connection: LdapConnection,
  compiled: CompiledOptions,
  { who, kinds }: Wanted,
  collector: Collector,
): Promise<Found> {
  const finding = { connection, pageSize: compiled.pageSize, searched: new Set<string>() }
  const hits = await withSameId(finding, await hitsOf(finding, searchedOf(compiled, kinds), who))
  const entries: FoundEntry[] = []
  for (const hit of hits) entries.push(await foundEntry(connection, hit))
  if (isOneEntry(hits)) {
    for (const hit of [...hits, ...(await sharingEmail(finding, hits))]) collect(collector, hit)
  }
  const searched = `at and below ${[...finding.searched].join('; ')}`
  return { entries, snapshot: collector.snapshot(), searched, server: connection.endpoint.url }
}

async function hitsOf(finding: Finding, places: readonly Searched[], who: string): Promise<readonly Hit[]> {
  const there = await atDn(finding, places, who)
  if (there.length > 0) return there
  for (const areasOf of [inBases, onServer(finding)]) {
    for (const filterOf of [byId, byValue]) {
      const hits = await searchIn(finding, places, areasOf, (place) => filterOf(place, who))
      const meant = meantBy(who, hits)
      if (meant.length > 0) return meant
    }
  }
  return []
}

/** A server may ignore case where it searches for an id, and an e-mail is looked for as a login, too. */
function meantBy(who: string, hits: readonly Hit[]): readonly Hit[] {
  const exact = hits.filter((hit) => idsOf(hit).includes(who))
  if (exact.length > 0) return exact
  return who.includes('@') ? hits.filter((hit) => hasEmail(hit, who)) : hits
}

/** Adds all entries of the bases with the same id, where there is one id. */
async function withSameId(finding: Finding, hits: readonly Hit[]): Promise<readonly Hit[]> {
  const [first] = hits
  const id = first && usableId({ ids: idsOf(first) })
  if (first === undefined || id === undefined || !isOneEntry(hits)) return hits
  const same = await searchIn(finding, [first], inBases, (place) => byId(place, id))
  const sharing = same.filter((hit) => idsOf(hit).includes(id))
  return [...new Map([...hits, ...sharing].map((hit) => [dnKey(hit.entry.dn), hit])).values()]
}

/** Whether these are one user or group: the same entry, or several that share one id. */
function isOneEntry([first, ...others]: readonly Hit[]): boolean {
  if (first === undefined) return false
  const ids = idsOf(first).join('\0')
  return others.every((hit) => hit.kind === first.kind && ids !== '' && idsOf(hit).join('\0') === ids)
}

/** The other users of the bases with the same mapped e-mail. */
async function sharingEmail(finding: Finding, hits: readonly Hit[]): Promise<readonly Hit[]> {
  const [first] = hits
  const email = first && emailOf(first)
  if (first === undefined || email === undefined) return []
  const known = new Set(hits.map(({ entry }) => dnKey(entry.dn)))
  const found = await searchIn(finding, [first], inBases, (place) => byValue(place, email))
  return found.filter(
    (hit) => !known.has(dnKey(hit.entry.dn)) && canonicalEmail(emailOf(hit) ?? '') === canonicalEmail(email),
  )
}

function emailOf({ place: { map }, entry }: Hit): string | undefined {
  return 'email' in map ? map.email.valueOf(textIn(entry)) : undefined
}
