import type { CompiledOptions } from './compile.ts'
import { recordsOf } from './global-catalog.ts'
import type { LdapImage, UserRecord } from './image.ts'
import { requireVisibleBases } from './bases.ts'
import { readGroups } from './read-groups.ts'
import type { Reading } from './read-place.ts'
import { readUsers } from './read-users.ts'

/** Users first: they are what the members of groups are looked up in. Throws like `readPlace`. */
export async function readImage(
  reading: Reading,
  { users: place, groups }: Pick<CompiledOptions, 'users' | 'groups'>,
): Promise<LdapImage> {
  const records = recordsOf(reading, { users: place, groups })
  const index = records.createIndex()
  const users = await readUsers(reading, place, records, index)
  const found =
    groups && (await readGroups(reading, { users: place, groups, records, index }, () => primaryNames(users)))
  await requireVisibleBases(reading, { users: place, groups })
  return { users, ...(found ?? { groups: [], others: [] }) }
}

/** What users call their primary groups, each once. */
export function primaryNames(users: readonly UserRecord[]): readonly string[] {
  return [...new Set(users.flatMap(({ primaryGroup }) => primaryGroup ?? []))]
}
