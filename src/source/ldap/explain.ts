import type { Kind } from '../../directory/entry.ts'
import { explainGroup, explainUser, type RawEntry } from '../explain.ts'
import type { GroupMapping, UserMapping } from '../mapping.ts'
import type { EntryTrace } from '../source.ts'
import type { CompiledOptions, Place } from './compile.ts'
import type { LdapConnection } from './connection/connection.ts'
import { lookupIn, textIn } from './entry.ts'
import { anyOf, bothOf } from './filter.ts'
import { searchAll } from './search.ts'
import { valueBytes } from './values.ts'

/** How the entry of this id came about; `undefined` where none is within the filter. */
export async function explain(
  connection: LdapConnection,
  { users, groups, pageSize }: CompiledOptions,
  kind: Kind,
  id: string,
): Promise<EntryTrace | undefined> {
  if (kind === 'user') {
    const raw = await findEntry(connection, users, pageSize, id)
    return raw && explainUser(raw, users.map)
  }
  const raw = groups && (await findEntry(connection, groups, pageSize, id))
  return raw && groups && explainGroup(raw, groups.map)
}

async function findEntry(
  connection: LdapConnection,
  place: Place<UserMapping | GroupMapping>,
  pageSize: number | undefined,
  id: string,
): Promise<RawEntry | undefined> {
  const { map, bases, scope } = place
  const values = valueBytes(map.id, id)
  if (values.length === 0) return undefined
  const filter = bothOf(place.filter, anyOf(map.id, values))
  const filterText = `for one value of ${map.id} within the filter ${place.filterText}`
  let found: RawEntry | undefined
  for (const base of bases) {
    const search = { base, scope, filter, filterText, attributes: map.attributes, pageSize }
    await searchAll(connection, search, (entry) => {
      const lookup = lookupIn(entry)
      if (found === undefined && lookup(map.id).includes(id))
        found = { id, from: entry.dn, lookup: textIn(entry) }
    })
  }
  return found
}
