import { ExtendedRequest, PresenceFilter, SearchRequest } from 'ldapts'
import { DirsyncdError } from '../../../base/errors.ts'
import type { LdapEntry } from '../entry.ts'
import type { LdapResult } from './message.ts'
import { isOutage, resultInWords, SUCCESS } from './result.ts'
import type { Doing, Wire } from './wire.ts'

const WHO_AM_I = '1.3.6.1.4.1.4203.1.11.3'

/** With operational attributes; `undefined` where hidden. Throws `source-unreachable` if the server cannot answer. */
export async function readRootDse(wire: Wire, url: string, ms: number): Promise<LdapEntry | undefined> {
  const doing = within('reading what the server offers', ms)
  let root: LdapEntry | undefined
  const result = await wire.exchange(
    (messageId) =>
      new SearchRequest({
        messageId,
        baseDN: '',
        scope: 'base',
        filter: new PresenceFilter({ attribute: 'objectClass' }),
        attributes: ['*', '+'],
        timeLimit: 0,
      }),
    doing,
    {
      onEntry: (entry) => {
        root = wire.decode(entry, doing)
      },
      onReference: () => undefined,
    },
  )
  requireService(result, url, doing)
  return result.code === SUCCESS ? root : undefined
}

/** RFC 4532: `dn:cn=reader,…`, `u:EXAMPLE\reader`, or empty for anonymous. `undefined` where there is no answer. */
export async function askWhoAmI(
  wire: Wire,
  url: string,
  root: LdapEntry | undefined,
  ms: number,
): Promise<string | undefined> {
  const offered = root?.attributes.get('supportedextension')?.includes(WHO_AM_I)
  if (offered !== true) return undefined
  const doing = within('asking who the reader is', ms)
  const result = await wire.exchange((messageId) => new ExtendedRequest({ messageId, oid: WHO_AM_I }), doing)
  requireService(result, url, doing)
  return result.code === SUCCESS ? (result.value ?? Buffer.alloc(0)).toString() : undefined
}

/** Throws `source-unreachable` for a domain controller whose first replication is not complete. */
export function requireSynchronized(url: string, root: LdapEntry | undefined): void {
  const said = root?.attributes.get('issynchronized')?.map((value) => value.toUpperCase())
  if (said?.includes('FALSE') !== true) return
  const what = 'the domain controller says that it has not taken over everything yet (isSynchronized: FALSE)'
  throw new DirsyncdError('source-unreachable', `${url}: ${what}; wait for its replication`)
}

function within(what: string, ms: number): Doing {
  return { code: 'source-unreachable', what, within: { ms, option: 'bind' } }
}

function requireService({ code, diagnostic }: LdapResult, url: string, { what }: Doing): void {
  if (!isOutage(code)) return
  throw new DirsyncdError(
    'source-unreachable',
    `${url}: the server ended with ${resultInWords(code, diagnostic)} while ${what}`,
  )
}
