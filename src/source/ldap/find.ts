import type { Filter } from 'ldapts'
import { canonicalEmail, byCodeUnit } from '../../directory/normalize.ts'
import { DirsyncdError, sentence } from '../../errors.ts'
import { type Collector, usableId } from '../collect.ts'
import { traceGroup, traceUser } from '../find.ts'
import type { Found, FoundEntry, Standing, Wanted } from '../source.ts'
import type { CompiledOptions, GroupPlace } from './compile.ts'
import type { LdapConnection } from './connection/connection.ts'
import { ConnectionLost } from './connection/wire.ts'
import { dnKey, normalizeDn } from './dn.ts'
import { type LdapEntry, lookupIn, textIn } from './entry.ts'
import { bothOf } from './filter.ts'
import { byId, byValue, byParts, hasEmail, type Searched, searchedOf } from './find-filter.ts'
import { isPartial, readWhole } from './range.ts'
import { findEntry, type Search, searchAll } from './search.ts'

/** An entry that was found, and as what. */
interface Hit extends Searched {
  readonly entry: LdapEntry
}

interface Finding {
  readonly connection: LdapConnection
  readonly pageSize: number | undefined
  /** The DNs at or below which it was searched, and what the server refused. */
  readonly searched: Set<string>
}

/**
 * See `Source.find`. By DN it reads that entry, otherwise it searches for equal values: of the id, then of e-mails,
 * logins and names, first in the sync's bases and then in everything that the server holds.
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

/** Searches until somebody is found. */
async function hitsOf(finding: Finding, places: readonly Searched[], who: string): Promise<Hit[]> {
  const there = await atDn(finding, places, who)
  if (there.length > 0) return there
  for (const filterOf of [byId, byValue]) {
    const found = await searchBases(finding, places, (place) => filterOf(place, who))
    const meant = filterOf === byValue ? found.filter((hit) => isMeant(hit, who)) : found
    if (meant.length > 0) return meant
  }
  for (const filterOf of [byId, byValue]) {
    const found = await searchElsewhere(finding, places, (place) => filterOf(place, who))
    const meant = filterOf === byValue ? found.filter((hit) => isMeant(hit, who)) : found
    if (meant.length > 0) return meant
  }
  return searchBases(finding, places, (place) => byParts(place, who))
}

function isMeant(hit: Hit, who: string): boolean {
  return !who.includes('@') || hasEmail(hit, textIn(hit.entry), who)
}

async function atDn(
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

type FilterOf = (place: Searched) => Filter | undefined

async function searchBases(
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

async function searchElsewhere(
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

/** A server may refuse a search by an attribute without an index; then it has found nobody, and the story says so. */
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

/** An entry that was found as a user and as a group is what the filter says; without that, what its classes say. */
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
    kept.push(...(within.length > 0 ? within : each.filter(({ kind, entry }) => kind === likelyKind(entry))))
  }
  return kept.toSorted((a, b) => byCodeUnit(a.entry.dn, b.entry.dn))
}

function likelyKind(entry: LdapEntry): Hit['kind'] {
  return lookupIn(entry)('objectClass').some((name) => /group/i.test(name)) ? 'group' : 'user'
}

/** With all entries of the bases that have the same id, where there is one id. */
async function withSameId(finding: Finding, hits: readonly Hit[]): Promise<readonly Hit[]> {
  const [first] = hits
  const id = first && usableId({ ids: idsOf(first) })
  if (first === undefined || id === undefined || !isOneEntry(hits.map(identity))) return hits
  const same = await searchBases(finding, [first], (place) => byId(place, id))
  const known = new Set(hits.map(({ entry }) => dnKey(entry.dn)))
  return [...hits, ...same.filter((hit) => !known.has(dnKey(hit.entry.dn)) && idsOf(hit).includes(id))]
}

function idsOf({ entry, place }: Hit): readonly string[] {
  return lookupIn(entry)(place.map.id)
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

/** The other users within the sync's filter whose e-mail is mapped to the same one. */
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

async function foundEntry(connection: LdapConnection, hit: Hit): Promise<FoundEntry> {
  const { kind, place, entry } = hit
  const lookup = textIn(entry)
  return {
    kind,
    ids: idsOf(hit),
    from: entry.dn,
    standing: await standingOf(connection, hit),
    fields: 'email' in place.map ? traceUser(lookup, place.map) : traceGroup(lookup, place.map),
    members: 'nested' in place ? await countMembers(connection, entry, place) : undefined,
  }
}

async function standingOf(connection: LdapConnection, hit: Hit): Promise<Standing> {
  const { place, entry } = hit
  const { bases, filterText: filter } = place
  const inFilter = await meets(connection, hit, place)
  const rule = 'disabled' in place ? place.disabled : undefined
  const isDisabled = rule !== undefined && inFilter && (await meets(connection, hit, rule))
  return {
    bases,
    inBase: bases.some((base) => isBelow(entry.dn, base, place.scope)),
    filter,
    inFilter,
    disabled: isDisabled ? { rule: rule.filterText, action: rule.action } : undefined,
  }
}

/** The server itself applies the filter, because it knows the syntaxes. */
async function meets(
  connection: LdapConnection,
  { entry }: Hit,
  filter: Pick<Search, 'filter' | 'filterText'>,
): Promise<boolean> {
  return (await findEntry(connection, entry.dn, [], filter)) !== undefined
}

function isBelow(dn: string, base: string, scope: Search['scope']): boolean {
  const [key, top] = [dnKey(dn), dnKey(base)]
  if (scope === 'base') return key === top
  if (scope === 'one') return key.slice(key.indexOf(',') + 1) === top
  return top === '' || key === top || key.endsWith(`,${top}`)
}

async function countMembers(
  connection: LdapConnection,
  entry: LdapEntry,
  { map, membersFrom, nested }: GroupPlace,
): Promise<number | undefined> {
  if (membersFrom !== 'member' || nested === 'in-chain') return undefined
  const whole = isPartial(entry) ? await readWhole(connection, entry.dn, map.members) : entry
  if (whole.isTorn === true) return undefined
  const lookup = lookupIn(whole)
  return map.members.reduce((count, attribute) => count + lookup(attribute).length, 0)
}

/** Only what is within bases and filter is read by a sync. */
function collect(collector: Collector, hit: Hit, standing: Standing | undefined): void {
  const { place, entry } = hit
  if (standing === undefined || !standing.inBase || !standing.inFilter) return
  const candidate = { ids: idsOf(hit), idName: place.map.id, from: entry.dn }
  const { disabled } = standing
  if (disabled !== undefined) collector.addDisabled({ ...candidate, gone: disabled.action === 'delete' })
  else if ('email' in place.map) collector.addUser({ ...candidate, ...place.map.fieldsOf(textIn(entry)) })
  else {
    const fields = place.map.fieldsOf(textIn(entry))
    collector.addGroup({ ...candidate, ...fields, members: [], unknownMembers: [] })
  }
}
