import type { Collector } from '../../collect.ts'
import { traces } from '../../find.ts'
import type { FoundEntry, Standing } from '../../source.ts'
import type { GroupPlace } from '../compile.ts'
import type { LdapConnection } from '../connection/connection.ts'
import { dnKey } from '../dn.ts'
import { type LdapEntry, lookupIn, textIn } from '../entry.ts'
import { isPartial, readWhole } from '../range.ts'
import { findEntry, type Search } from '../search.ts'
import { type Hit, idsOf, type Seen } from './places.ts'

export async function foundEntry(connection: LdapConnection, hit: Hit): Promise<FoundEntry> {
  const { kind, place, entry, standing } = hit
  const lookup = textIn(entry)
  return {
    kind,
    ids: idsOf(hit),
    from: entry.dn,
    standing,
    container: standing.inFilter ? undefined : containerText(lookup('objectClass')),
    fields: traces(lookup, place.map),
    members: 'nested' in place ? await countMembers(connection, entry, place) : undefined,
  }
}

const CONTAINER =
  /^(?:organization|organizationalUnit|domain|domainDNS|dcObject|builtinDomain|container|nsContainer|locality|country)$/i

/** Undefined for a possible user or group, whatever its other classes. */
function containerText(classes: readonly string[]): string | undefined {
  const name = classes.find((each) => CONTAINER.test(each))
  const isOther = name === undefined || classes.some((each) => /person|group|account|user/i.test(each))
  return isOther ? undefined : `a container (objectClass ${name})`
}

export async function standingOf(connection: LdapConnection, { place, entry }: Seen): Promise<Standing> {
  const { bases, filterText: filter } = place
  // The server itself applies filters, because it knows the syntaxes.
  const meets = async (rule: Pick<Search, 'filter' | 'filterText'>) =>
    (await findEntry(connection, entry.dn, [], rule)) !== undefined
  const inFilter = await meets(place)
  const rule = 'disabled' in place ? place.disabled : undefined
  const isDisabled = rule !== undefined && inFilter && (await meets(rule))
  return {
    bases,
    inBase: bases.some((base) => isBelow(entry.dn, base, place.scope)),
    filter,
    inFilter,
    disabled: isDisabled ? { rule: rule.filterText, action: rule.action } : undefined,
  }
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

/** A sync reads only what is within bases and filter. */
export function collect(collector: Collector, hit: Hit): void {
  const { place, entry, standing } = hit
  if (!standing.inBase || !standing.inFilter) return
  const candidate = { ids: idsOf(hit), idName: place.map.id, from: entry.dn }
  const { disabled } = standing
  if (disabled !== undefined) collector.addDisabled({ ...candidate, gone: disabled.action === 'delete' })
  else if ('email' in place.map) collector.addUser({ ...candidate, ...place.map.fieldsOf(textIn(entry)) })
  else {
    const fields = place.map.fieldsOf(textIn(entry))
    collector.addGroup({ ...candidate, ...fields, members: [], unknownMembers: [] })
  }
}
