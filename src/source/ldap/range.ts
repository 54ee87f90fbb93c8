import { DirsyncdError } from '../../errors.ts'
import type { Endpoint } from './endpoint.ts'
import type { LdapEntry } from './message.ts'

/**
 * Active Directory sends the first 1,500 values of an attribute as `member;range=0-1499` and leaves the rest out.
 * Taken for the whole, that would remove every other member.
 */
export function requireWhole(entry: LdapEntry, endpoint: Endpoint): void {
  for (const name of entry.attributes.keys()) {
    if (!name.includes(';range=')) continue
    const what = `${endpoint.url}: the server sent only a part of the values ("${name}") of "${entry.dn}"`
    throw new DirsyncdError('source-incomplete', `${what}, and reading the others is not supported`)
  }
}
