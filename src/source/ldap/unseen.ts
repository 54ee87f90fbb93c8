import { DirsyncdError } from '../../base/errors.ts'
import type { LdapConnection } from './connection/connection.ts'
import type { Reading, Where } from './read-place.ts'
import { namesIn, readSchema } from './schema.ts'

/**
 * Logs mapped attributes that no entry has: a typo, or the bind account cannot read them. Throws like `refuseAliases`.
 * @param key `users.map` or `groups.map`
 * @param isUsual whether an attribute that the server knows may well be on no entry
 */
export async function reportUnseen(
  { connection, log }: Reading,
  key: string,
  { bases, filterText }: Where,
  unseen: readonly string[],
  isUsual: (name: string) => boolean = () => false,
): Promise<void> {
  const unknown = new Set(await refuseAliases(connection, key, unseen))
  const attributes = unseen.filter((name) => unknown.has(name) || !isUsual(name))
  if (attributes.length === 0) return
  log.warn(
    { base: bases, filter: filterText, attributes },
    'mapped attributes that no entry has, or that the bind user cannot see',
  )
}

/**
 * Throws `config-invalid` where the server sends one of these attributes under another name: it then seems to be in no
 * entry. Otherwise throws like `findEntry`. Resolves with the attributes that the schema of the server lacks.
 */
export async function refuseAliases(
  connection: LdapConnection,
  key: string,
  unseen: readonly string[],
): Promise<readonly string[]> {
  const schema = unseen.length === 0 ? undefined : await readSchema(connection)
  if (schema === undefined) return []
  const types = schema('attributeTypes').map((text) => ({ text, names: namesIn(text) }))
  return unseen.filter((name) => {
    const [plain = name, ...options] = name.split(';')
    const type = types.find(({ names }) => names.includes(plain.toLowerCase()))
    // The first is the OID; the server sends the attribute under the next one.
    const sent = type?.names[1]
    if (type === undefined || sent === undefined) return true
    if (sent === plain.toLowerCase()) return false
    const right = [spelled(sent, type.text), ...options].join(';')
    const what = `"${name}" is another name of ${right}, and ${connection.endpoint.url} sends it as ${right}`
    throw new DirsyncdError('config-invalid', `${key}: ${what}, so write ${right}`)
  })
}

/** As the server spells the name in the description of the attribute. */
function spelled(name: string, description: string): string {
  return new RegExp(`'(${name})'`, 'i').exec(description)?.[1] ?? name
}
