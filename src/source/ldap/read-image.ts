import type { CompiledOptions } from './compile.ts'
import type { LdapImage } from './image.ts'
import { readGroups } from './read-groups.ts'
import type { Reading } from './read-place.ts'
import { readUsers } from './read-users.ts'
import { createRecords } from './records.ts'

/** Users first: they are what the members of groups are looked up in. Throws like `readPlace`. */
export async function readImage(
  reading: Reading,
  { users: place, groups }: Pick<CompiledOptions, 'users' | 'groups'>,
): Promise<LdapImage> {
  const records = createRecords({ users: place, groups }, reading.catalog)
  const index = records.createIndex()
  const users = await readUsers(reading, place, records, index)
  if (groups === undefined) return { users, groups: [], others: [] }
  const primaryNames = () => [...new Set(users.map(({ primaryGroup }) => primaryGroup ?? []).flat())]
  return { users, ...(await readGroups(reading, { users: place, groups, records, index }, primaryNames)) }
}
