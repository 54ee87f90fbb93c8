import type { Filter } from 'ldapts'
import { DirsyncdError, sentence } from '../../../base/errors.ts'
import { byCodeUnit } from '../../../base/order.ts'
import type { LdapConnection } from '../connection/connection.ts'
import { ConnectionLost } from '../connection/wire.ts'
import { dnKey, normalizeDn } from '../dn.ts'
import { type LdapEntry, lookupIn } from '../entry.ts'
import { findEntry, type Search, searchAll } from '../search.ts'
import type { Hit, Searched, Seen } from './places.ts'
import { standingOf } from './standing.ts'

export interface Finding {
  readonly connection: LdapConnection
  readonly pageSize: number | undefined
  /** The DNs of the searches, and what the server refused. */
  readonly searched: Set<string>
}

type Area = Pick<Search, 'base' | 'scope'>
type AreasOf = (place: Searched) => readonly Area[]

export const inBases: AreasOf = ({ place: { bases, scope } }) => bases.map((base) => ({ base, scope }))

const WITHOUT_PEOPLE = /^(?:cn=configuration|cn=schema|dc=domaindnszones|dc=forestdnszones),/

export function onServer({ connection: { rootDse } }: Finding): AreasOf {
  const contexts = rootDse === undefined ? [] : lookupIn(rootDse)('namingContexts')
  const areas = contexts
    .filter((base) => !WITHOUT_PEOPLE.test(dnKey(base)))
    .map((base) => ({ base, scope: 'sub' }) as const)
  return () => areas
}

export async function atDn(
  { connection, searched }: Finding,
  places: readonly Searched[],
  who: string,
): Promise<readonly Hit[]> {
  const dn = normalizeDn(who)
  if (dn === undefined || !dn.includes('=')) return []
  searched.add(who)
  const seen: Seen[] = []
  for (const place of places) {
    const entry = await findEntry(connection, who, place.attributes)
    if (entry !== undefined) seen.push({ ...place, entry })
  }
  return judged(connection, seen)
}

/** In the order of DNs. */
export async function searchIn(
  finding: Finding,
  places: readonly Searched[],
  areasOf: AreasOf,
  filterOf: (place: Searched) => Filter | undefined,
): Promise<readonly Hit[]> {
  const seen: Seen[] = []
  for (const place of places) {
    const filter = filterOf(place)
    if (filter === undefined) continue
    for (const area of areasOf(place)) seen.push(...(await search(finding, place, { ...area, filter })))
  }
  return judged(finding.connection, seen)
}

/** Some servers refuse searches by attributes without an index: counts as no match, and the report names it. */
async function search(
  { connection, pageSize, searched }: Finding,
  place: Searched,
  where: Area & Pick<Search, 'filter'>,
): Promise<Seen[]> {
  const seen: Seen[] = []
  const { attributes } = place
  searched.add(where.base)
  try {
    await searchAll(connection, { ...where, filterText: 'for one person', attributes, pageSize }, (entry) =>
      seen.push({ ...place, entry }),
    )
  } catch (error) {
    const isRefusal = error instanceof DirsyncdError && error.code === 'source-incomplete'
    if (!isRefusal || error instanceof ConnectionLost) throw error
    searched.add(`with a refusal: ${sentence(error)}`)
  }
  return seen
}

/**
 * Every entry once, as a user or as a group: users and groups may have one base, and a user's name may equal the id of a
 * group. The filter decides; without it, the object classes do.
 */
async function judged(connection: LdapConnection, seen: readonly Seen[]): Promise<readonly Hit[]> {
  const hits: Hit[] = []
  for (const same of Map.groupBy(seen, ({ entry }) => dnKey(entry.dn)).values()) {
    const each: Hit[] = []
    for (const one of new Map(same.map((other) => [other.kind, other])).values())
      each.push({ ...one, standing: await standingOf(connection, one) })
    const within = each.filter(({ standing }) => standing.inFilter)
    const kind = kindOfClasses(same[0]!.entry) ?? same[0]!.kind
    hits.push(...(within.length > 0 ? within : each.filter((hit) => hit.kind === kind)))
  }
  return hits.toSorted((a, b) => byCodeUnit(a.entry.dn, b.entry.dn))
}

function kindOfClasses(entry: LdapEntry): Seen['kind'] | undefined {
  const classes = lookupIn(entry)('objectClass')
  if (classes.some((name) => /group/i.test(name))) return 'group'
  return classes.some((name) => /person|account|user/i.test(name)) ? 'user' : undefined
}
