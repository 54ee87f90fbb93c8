import { DirsyncdError, sentence } from '../../../errors.ts'
import type { Log } from '../../../log.ts'
import { type Credentials, loadCredentials } from './bind.ts'
import { type LdapConnection, openConnection } from './connection.ts'
import type { Endpoint } from './endpoint.ts'
import type { LdapSourceOptions } from '../options.ts'
import { isCertificateProblem } from './tls-problem.ts'

/** The servers of one source, of which every connection takes the first that can be used. */
export interface Servers {
  /** Tries them in the order of the options. Rejects with a `DirsyncdError` that names each with its reason. */
  open(signal: AbortSignal): Promise<LdapConnection>
  /** The same, beginning with the server that was used last: a replica may be some changes behind. */
  openAgain(signal: AbortSignal): Promise<LdapConnection>
}

type Options = Pick<LdapSourceOptions, 'bind' | 'tls' | 'timeouts'>

/** Only opening goes from one server to the next; a read that has begun is of one server or fails. */
export function createServers(endpoints: readonly Endpoint[], options: Options, log: Log): Servers {
  let used: Endpoint | undefined

  async function openFirst(inOrder: readonly Endpoint[], signal: AbortSignal): Promise<LdapConnection> {
    const credentials = await loadCredentials(options)
    const connection = await tryEach(inOrder, options, credentials, signal, log)
    used = connection.endpoint
    return connection
  }

  return {
    open: (signal) => openFirst(endpoints, signal),
    openAgain(signal) {
      const others = endpoints.filter((endpoint) => endpoint !== used)
      return openFirst(used === undefined ? others : [used, ...others], signal)
    },
  }
}

async function tryEach(
  endpoints: readonly Endpoint[],
  options: Options,
  credentials: Credentials,
  signal: AbortSignal,
  log: Log,
): Promise<LdapConnection> {
  const failures: unknown[] = []
  for (const endpoint of endpoints) {
    try {
      return await openConnection(endpoint, options, credentials, signal, log)
    } catch (error) {
      if (endpoints.length === 1 || !isOutOfService(error)) throw error
      failures.push(error)
      log.warn({ url: endpoint.url, reason: sentence(error) }, 'a server of the source cannot be used')
    }
  }
  const each = failures.map(sentence).join('; ')
  throw new DirsyncdError(
    'source-unreachable',
    `none of the ${endpoints.length} servers can be used: ${each}`,
    { cause: new AggregateError(failures) },
  )
}

/** A server that said no, or showed a wrong certificate, is there: the next one could only hide that. */
function isOutOfService(error: unknown): boolean {
  if (!(error instanceof DirsyncdError) || error.code !== 'source-unreachable') return false
  return !isCertificateProblem(error.cause)
}
