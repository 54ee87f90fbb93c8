import { DirsyncdError } from '../../base/errors.ts'
import type { Log } from '../../base/log/log.ts'
import type { Place } from './compile.ts'
import type { LdapConnection } from './connection/connection.ts'
import { dnKey } from './dn.ts'
import type { LdapEntry } from './entry.ts'
import type { GlobalCatalog } from './global-catalog.ts'
import type { LdapSourceOptions } from './options.ts'
import { isPartial, readWhole } from './range.ts'
import { searchAll } from './search.ts'

export interface Reading {
  readonly connection: LdapConnection
  readonly pageSize: number | undefined
  readonly referrals: NonNullable<LdapSourceOptions['referrals']>
  readonly log: Log
  /** Where the server is one. */
  readonly catalog: GlobalCatalog | undefined
  /** Bases whose references to other servers are already in the log. */
  readonly referred: Set<string>
  /** Bases below which the server showed an entry, by normal DN. */
  readonly filled: Set<string>
}

export type Where = Pick<Place<unknown>, 'bases' | 'scope' | 'filter' | 'filterText'>

/**
 * Reads the entries of all bases, each once and with all of its values. Entries that the server sends in parts come
 * behind the others, because their other parts can only be requested when the pages have ended. Throws like
 * `searchAll`.
 * @param isWanted whether an entry that came in parts, by DN, is worth reading completely
 */
export async function readPlace(
  { connection, pageSize, referrals, log, referred, filled }: Reading,
  where: Where,
  attributes: readonly string[],
  onEntry: (entry: LdapEntry) => void,
  isWanted: (dn: string) => boolean = () => true,
): Promise<void> {
  const isNew = overlap(where.bases) ? createOnce() : () => true
  for (const base of where.bases) {
    const partial: string[] = []
    const totals = await searchAll(connection, { ...where, base, attributes, pageSize }, (entry) => {
      if (!isNew(entry.dn)) return
      if (isPartial(entry)) partial.push(entry.dn)
      else onEntry(entry)
    })
    const { references } = totals
    if (totals.entries > 0) filled.add(dnKey(base))
    const scope = { base, filter: where.filterText }
    log.debug({ ...scope, ...totals, partial: partial.length }, 'read a part of the source')
    if (references > 0 && referrals === 'refuse') throw refused(connection, base, references)
    if (references > 0 && !referred.has(base)) {
      log.warn({ ...scope, references }, 'search references not followed')
      referred.add(base)
    }
    for (const dn of partial) if (isWanted(dn)) onEntry(await readWhole(connection, dn, attributes))
  }
}

/** Whether one base is in another; otherwise no entry can come twice. */
function overlap(bases: readonly string[]): boolean {
  const normal = bases.map(dnKey)
  return normal.some((one, at) =>
    normal.some(
      (other, index) => index !== at && (other === '' || one === other || one.endsWith(`,${other}`)),
    ),
  )
}

function createOnce(): (dn: string) => boolean {
  const seen = new Set<string>()
  return (dn) => {
    const { size } = seen
    seen.add(dnKey(dn))
    return seen.size > size
  }
}

function refused({ endpoint }: LdapConnection, base: string, references: number): DirsyncdError {
  const places = references === 1 ? 'another place' : `${references} other places`
  const what = `${endpoint.url}: below "${base}" the server names ${places} to look at`
  const remedy = 'dirsyncd follows no references, so choose a base without any, or set referrals to "report"'
  return new DirsyncdError('source-incomplete', `${what}; ${remedy}`)
}
