import { EqualityFilter, type Filter, PresenceFilter } from 'ldapts'
import { DirsyncdError } from '../../../base/errors.ts'
import type { Lookup } from '../../mapping.ts'
import type { LdapConnection } from '../connection/connection.ts'
import { isOutage, resultInWords, SUCCESS } from '../connection/result.ts'
import { type LdapEntry, lookupIn } from '../entry.ts'
import { type Search, tryPage } from '../search.ts'

/** Reads the server's facts about itself. A refusal is no error: the fact is then missing. */
export interface Ask {
  /** `undefined` where the entry is not shown. */
  entry(dn: string, attributes: readonly string[]): Promise<LdapEntry | undefined>
  values(dn: string, attributes: readonly string[]): Promise<Lookup>
  below(dn: string, objectClass: string, attributes: readonly string[]): Promise<readonly LdapEntry[]>
}

/** Each request rejects with `source-incomplete` where the connection fails, or the server cannot answer now. */
export function createAsk(connection: LdapConnection): Ask {
  async function search(
    base: string,
    scope: Search['scope'],
    filter: Filter,
    attributes: readonly string[],
  ): Promise<LdapEntry[]> {
    const entries: LdapEntry[] = []
    const asked = { base, scope, filter, filterText: filter.toString(), attributes, pageSize: undefined }
    const { code } = await tryPage(connection, asked, (one) => entries.push(one))
    if (isOutage(code)) throw busy(connection, code)
    return code === SUCCESS ? entries : []
  }

  async function entry(dn: string, attributes: readonly string[]): Promise<LdapEntry | undefined> {
    const [found] = await search(dn, 'base', new PresenceFilter({ attribute: 'objectClass' }), attributes)
    return found
  }

  return {
    entry,
    async values(dn, attributes) {
      const found = await entry(dn, attributes)
      return found === undefined ? () => [] : lookupIn(found)
    },
    below: (dn, objectClass, attributes) =>
      search(dn, 'sub', new EqualityFilter({ attribute: 'objectClass', value: objectClass }), attributes),
  }
}

/** Not the same as a refusal: the next run may get an answer. */
function busy({ endpoint }: LdapConnection, code: number): DirsyncdError {
  const what = `${endpoint.url}: the server ended with ${resultInWords(code, '')} when it was asked how new its data is`
  return new DirsyncdError('source-incomplete', `${what}; the next run reads again from the beginning`)
}
