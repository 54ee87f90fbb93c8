import { DirsyncdError } from '../../errors.ts'
import type { LdapConnection } from './connection/connection.ts'
import type { Reading, Where } from './read-place.ts'
import { namesIn, readSchema } from './schema.ts'

/**
 * Logs mapped attributes that no entry has: a typo, or the reader may not see them. Throws like `refuseAliases`.
 *
 * @param key `users.map` or `groups.map`
 */
export async function reportUnseen(
  { connection, log }: Reading,
  key: string,
  { bases, filterText }: Where,
  unseen: readonly string[],
): Promise<void> {
  if (unseen.length === 0) return
  await refuseAliases(connection, key, unseen)
  log.warn(
    { base: bases, filter: filterText, attributes: unseen },
    'mapped attributes that no entry has, or that the bind user cannot see',
  )
}

/**
 * Throws `config-invalid` where the server has another name for one of these attributes, by which it sends it: what is
 * looked for is then in every entry, and seems to be in none. Otherwise throws like `findEntry`.
 */
export async function refuseAliases(
  connection: LdapConnection,
  key: string,
  unseen: readonly string[],
): Promise<void> {
  const schema = unseen.length === 0 ? undefined : await readSchema(connection)
  const types = schema?.('attributeTypes').map(namesIn) ?? []
  for (const name of unseen) {
    // The first is the OID; by the next one the attribute is sent.
    const [, sent] = types.find((names) => names.includes(name.toLowerCase())) ?? []
    if (sent === undefined || sent === name.toLowerCase()) continue
    const what = `"${name}" is another name of ${sent}, and ${connection.endpoint.url} sends it as ${sent}`
    throw new DirsyncdError('config-invalid', `${key}: ${what}, so write ${sent}`)
  }
}
