import { DirsyncdError } from '../../base/errors.ts'
import type { CompiledOptions } from './compile.ts'
import { dnKey } from './dn.ts'
import type { Reading } from './read-place.ts'
import { findEntry } from './search.ts'

/**
 * Throws `source-refused` for a base that showed nothing in this read, not even its own entry: Active Directory and
 * 389-ds answer "success, no entry" for what the bind account may no longer read, and all entries below would seem
 * gone. Only bases without any entry cost a request.
 */
export async function requireVisibleBases(
  { connection, filled }: Pick<Reading, 'connection' | 'filled'>,
  { users, groups }: Pick<CompiledOptions, 'users' | 'groups'>,
): Promise<void> {
  const bases = new Map([...users.bases, ...(groups?.bases ?? [])].map((base) => [dnKey(base), base]))
  for (const [key, base] of bases) {
    if (filled.has(key) || (await findEntry(connection, base, [])) !== undefined) continue
    const what = `${connection.endpoint.url} shows neither the entry "${base}", which is a base of the sync, nor an entry of the sync below it`
    const remedy = 'let the reader see it again, or correct the base'
    throw new DirsyncdError('source-refused', `${what}; ${remedy}`)
  }
}
