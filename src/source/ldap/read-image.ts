import type { Collector } from '../collect.ts'
import type { CompiledOptions } from './compile.ts'
import { recordsOf } from './global-catalog.ts'
import type { GroupRecords } from './image.ts'
import { requireVisibleBases } from './bases.ts'
import { readGroups } from './read-groups.ts'
import type { Reading } from './read-place.ts'
import { readUsers } from './read-users.ts'
import { ReadUsers } from './users.ts'

/** One read of a server: mapped entries, and what groups list. `snapshotOf` makes the snapshot of it. */
export interface LdapImage extends GroupRecords {
  readonly users: ReadUsers
}

/** Users first: members of groups are looked up in them. Throws like `readPlace`. */
export async function readImage(
  reading: Reading,
  { users: place, groups }: Pick<CompiledOptions, 'users' | 'groups'>,
  collector: Collector,
): Promise<LdapImage> {
  const records = recordsOf(reading, { users: place, groups })
  const users = new ReadUsers(collector, place.map.id, records.listed)
  await readUsers(reading, place, records, users)
  const found = groups && (await readGroups(reading, { users: place, groups, records, names: users }))
  await requireVisibleBases(reading, { users: place, groups })
  return { users, ...(found ?? { groups: [], others: [] }) }
}
