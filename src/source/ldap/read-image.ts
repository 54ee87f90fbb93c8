import type { Collector } from '../collect.ts'
import type { CompiledOptions } from './compile.ts'
import { recordsOf } from './global-catalog.ts'
import type { ImageUsers, LdapImage } from './image.ts'
import { requireVisibleBases } from './bases.ts'
import { readGroups } from './read-groups.ts'
import type { Reading } from './read-place.ts'
import { readUsers } from './read-users.ts'
import { ReadUsers } from './users.ts'

export interface ReadImage extends LdapImage {
  readonly users: ReadUsers
}

/** Users first: members of groups are looked up in them. Throws like `readPlace`. */
export async function readImage(
  reading: Reading,
  { users: place, groups }: Pick<CompiledOptions, 'users' | 'groups'>,
  collector: Collector,
): Promise<ReadImage> {
  const records = recordsOf(reading, { users: place, groups })
  const users = new ReadUsers(collector, place.map.id)
  const index = records.createIndex(users)
  await readUsers(reading, place, records, { users, index })
  const found =
    groups && (await readGroups(reading, { users: place, groups, records, index }, () => primaryNames(users)))
  await requireVisibleBases(reading, { users: place, groups })
  return { users, ...(found ?? { groups: [], others: [] }) }
}

/** What users call their primary groups, each once. */
export function primaryNames(users: ImageUsers): readonly string[] {
  const names = new Set<string>()
  for (const { primaryGroup } of users.naming()) if (primaryGroup !== undefined) names.add(primaryGroup)
  return [...names]
}
