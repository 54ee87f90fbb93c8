import { canonicalEmail } from '../../../core/entries/normalize.ts'
import { byCodeUnit } from '../../../base/order.ts'
import { type Collector, usableId } from '../../collect.ts'
import type { Found, FoundEntry, Standing, Wanted } from '../../source.ts'
import type { CompiledOptions } from '../compile.ts'
import type { LdapConnection } from '../connection/connection.ts'
import { dnKey } from '../dn.ts'
import { type LdapEntry, lookupIn, textIn } from '../entry.ts'
import { bothOf } from '../filter.ts'
import { byId, byParts, byValue, hasEmail, type Searched, searchedOf } from './places.ts'
import { atDn, type Finding, type Hit, idsOf, searchBases, searchElsewhere } from './search.ts'
import { collect, foundEntry, meets, standingOf } from './standing.ts'

/**
 * See `Source.find`. By DN it reads that entry, otherwise it searches for equal values: of the id, then of e-mails,
 * logins and names, first in the sync's bases and then on the whole server.
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
  const places = searchedOf(compiled, kinds)
  const hits = await oneKindEach(connection, await hitsOf(finding, places, who))
  const whole = await withSameId(finding, hits)
  const entries: FoundEntry[] = []
  for (const hit of whole) entries.push(await foundEntry(connection, hit))
  if (isOneEntry(entries)) {
    for (const [at, hit] of whole.entries()) collect(collector, hit, entries[at]!.standing)
    for (const { hit, standing } of await sharingEmail(finding, whole)) collect(collector, hit, standing)
  }
  const searched = `at and below ${[...finding.searched].join('; ')}`
  return { entries, snapshot: collector.snapshot(), searched, server: connection.endpoint.url }
}

async function hitsOf(finding: Finding, places: readonly Searched[], who: string): Promise<readonly Hit[]> {
  const there = await atDn(finding, places, who)
  if (there.length > 0) return there
  for (const search of [searchBases, searchElsewhere]) {
    for (const filterOf of [byId, byValue]) {
      const all = await search(finding, places, (place) => filterOf(place, who))
      const found = await ofTheirKind(finding.connection, all)
      const meant = filterOf === byValue ? found.filter((hit) => isMeant(hit, who)) : exactOnes(found, who)
      if (meant.length > 0) return meant
    }
  }
  return searchBases(finding, places, (place) => byParts(place, who))
}

/** A user's name may equal the id of a group: without the filter, contradicting classes count. */
async function ofTheirKind(connection: LdapConnection, hits: readonly Hit[]): Promise<Hit[]> {
  const kept: Hit[] = []
  for (const hit of hits) {
    const isOther = (kindOfClasses(hit.entry) ?? hit.kind) !== hit.kind
    if (!isOther || (await meets(connection, hit, hit.place))) kept.push(hit)
  }
  return kept
}

/** A server may ignore case where it searches for an id. */
function exactOnes(hits: readonly Hit[], who: string): readonly Hit[] {
  const exact = hits.filter((hit) => idsOf(hit).includes(who))
  return exact.length > 0 ? exact : hits
}

function isMeant(hit: Hit, who: string): boolean {
  return !who.includes('@') || hasEmail(hit, textIn(hit.entry), who)
}

/** The filter decides about an entry that was found as a user and as a group; without it, its classes do. */
async function oneKindEach(connection: LdapConnection, hits: readonly Hit[]): Promise<Hit[]> {
  const kept: Hit[] = []
  for (const same of Map.groupBy(hits, ({ entry }) => dnKey(entry.dn)).values()) {
    const each = [...new Map(same.map((hit) => [hit.kind, hit])).values()]
    if (each.length < 2) {
      kept.push(...each)
      continue
    }
    const within: Hit[] = []
    for (const hit of each) if (await meets(connection, hit, hit.place)) within.push(hit)
    kept.push(
      ...(within.length > 0
        ? within
        : each.filter(({ kind, entry }) => kind === (kindOfClasses(entry) ?? 'user'))),
    )
  }
  return kept.toSorted((a, b) => byCodeUnit(a.entry.dn, b.entry.dn))
}

function kindOfClasses(entry: LdapEntry): Hit['kind'] | undefined {
  const classes = lookupIn(entry)('objectClass')
  if (classes.some((name) => /group/i.test(name))) return 'group'
  return classes.some((name) => /person|account|user/i.test(name)) ? 'user' : undefined
}

/** Adds all entries of the bases with the same id, where there is one id. */
async function withSameId(finding: Finding, hits: readonly Hit[]): Promise<readonly Hit[]> {
  const [first] = hits
  const id = first && usableId({ ids: idsOf(first) })
  if (first === undefined || id === undefined || !isOneEntry(hits.map(identity))) return hits
  const same = await searchBases(finding, [first], (place) => byId(place, id))
  const sharing = same.filter((hit) => idsOf(hit).includes(id))
  return [...new Map([...hits, ...sharing].map((hit) => [dnKey(hit.entry.dn), hit])).values()]
}

function identity(hit: Hit): Pick<FoundEntry, 'kind' | 'ids'> {
  return { kind: hit.kind, ids: idsOf(hit) }
}

/** Whether these are one user or group: the same entry, or several that share one id. */
function isOneEntry(entries: readonly Pick<FoundEntry, 'kind' | 'ids'>[]): boolean {
  const [first, ...others] = entries
  return (
    first !== undefined &&
    others.every(
      ({ kind, ids }) => kind === first.kind && ids.length > 0 && ids.join('\0') === first.ids.join('\0'),
    )
  )
}

/** The other users within the sync's filter with the same mapped e-mail. */
async function sharingEmail(
  finding: Finding,
  hits: readonly Hit[],
): Promise<readonly { readonly hit: Hit; readonly standing: Standing }[]> {
  const [first] = hits
  const email = first && emailOf(first)
  if (first === undefined || email === undefined) return []
  const known = new Set(hits.map(({ entry }) => dnKey(entry.dn)))
  const found = await searchBases(finding, [first], (place) => {
    const filter = byValue(place, email)
    return filter && bothOf(place.place.filter, filter)
  })
  const sharing = found.filter(
    (hit) => !known.has(dnKey(hit.entry.dn)) && canonicalEmail(emailOf(hit) ?? '') === canonicalEmail(email),
  )
  const judged: { hit: Hit; standing: Standing }[] = []
  for (const hit of sharing) judged.push({ hit, standing: await standingOf(finding.connection, hit) })
  return judged
}

function emailOf({ place: { map }, entry }: Hit): string | undefined {
  return 'email' in map ? map.email.valueOf(textIn(entry)) : undefined
}
