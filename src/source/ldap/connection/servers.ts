import type { PreferredServer, ReadOptions } from '../../source.ts'
import { DirsyncdError, sentence } from '../../../base/errors.ts'
import { countServers, type LookUp, lookUpBySystem, resolveAll, type Target } from './addresses.ts'
import type { Credentials } from './bind.ts'
import { type LdapConnection, openConnection, type Told } from './connection.ts'
import type { Endpoint } from './endpoint.ts'
import { Logins } from './logins.ts'
import type { LdapSourceOptions } from '../options.ts'
import { isCertificateProblem } from './tls-problem.ts'
import { ConnectionLost } from './wire.ts'

/** The servers of one source; a connection uses the first usable one. */
export interface Servers {
  /** Repeats everything with the next server when the connection is lost. Rejects like `open` and `use`. */
  withOne<T>(
    use: (connection: OpenServer) => Promise<T>,
    signal: AbortSignal,
    options?: ReadOptions,
  ): Promise<T>
  /**
   * Tries every address of every URL in order, the preferred one first. Rejects with a `DirsyncdError` that names each
   * with its reason. After a refused login it waits, unless the secret has changed or an operator asks.
   */
  open(signal: AbortSignal, options?: ReadOptions): Promise<OpenServer>
  /** Begins with the address that was used last: a replica may be some changes behind. */
  openAgain(signal: AbortSignal): Promise<OpenServer>
}

export interface OpenServer extends LdapConnection {
  /** The number of servers behind the URLs; more than one where a name has several addresses. */
  readonly addresses: number
  readonly isOnly: boolean
}

type Options = Pick<LdapSourceOptions, 'bind' | 'tls' | 'timeouts'>

interface Failed {
  readonly endpoint: Endpoint
  readonly error: unknown
}

interface ServersParts extends Told {
  readonly logins?: Logins | undefined
  readonly lookUp?: LookUp
}

export function createServers(
  endpoints: readonly Endpoint[],
  options: Options,
  { logins = new Logins(), lookUp = lookUpBySystem, ...told }: ServersParts,
): Servers {
  const { log } = told
  let used: PreferredServer | undefined

  async function open(
    signal: AbortSignal,
    { preferred, isAsked = false }: ReadOptions = {},
    failed: readonly Failed[] = [],
  ): Promise<OpenServer> {
    return logins.attempt({ options, endpoints, isAsked }, async (credentials) => {
      const targets = await resolveAll(endpoints, lookUp, options.timeouts.connectMs, signal)
      const order = inOrder(targets, preferred)
      const connection = await tryEach(order, failed, { options, credentials, signal, told })
      used = { url: connection.endpoint.url, address: connection.address }
      return { ...connection, addresses: countServers(targets), isOnly: targets.length === 1 }
    })
  }

  async function withOne<T>(
    use: (connection: OpenServer) => Promise<T>,
    signal: AbortSignal,
    how?: ReadOptions,
  ): Promise<T> {
    const lost: Failed[] = []
    for (;;) {
      using connection = await open(signal, how, lost)
      try {
        return await use(connection)
      } catch (error) {
        if (!(error instanceof ConnectionLost) || connection.isOnly || signal.aborted) throw error
        const { url, address } = connection.endpoint
        log.warn({ url, address, reason: sentence(error) }, 'a server of the source was lost in the middle')
        lost.push({ endpoint: connection.endpoint, error })
      }
    }
  }

  return { open, openAgain: (signal) => open(signal, { preferred: used }), withOne }
}

/** The preferred address, then the others of its URL, then those of the other URLs. */
function inOrder(targets: readonly Target[], preferred: PreferredServer | undefined): readonly Target[] {
  if (preferred === undefined) return targets
  const rank = ({ endpoint: { url, address } }: Target) =>
    url !== preferred.url ? 2 : address !== preferred.address ? 1 : 0
  return targets.toSorted((a, b) => rank(a) - rank(b))
}

async function tryEach(
  targets: readonly Target[],
  failed: readonly Failed[],
  { options, credentials, signal, told }: TryParts,
): Promise<LdapConnection> {
  const failures = [...failed]
  for (const target of targets) {
    const { endpoint } = target
    if (failed.some((each) => isSame(each.endpoint, endpoint))) continue
    try {
      if ('problem' in target) throw target.problem
      return await openConnection(endpoint, options, credentials, signal, told)
    } catch (error) {
      if (targets.length === 1 || !isOutOfService(error)) throw error
      failures.push({ endpoint, error })
      const { url, address } = endpoint
      told.log.warn({ url, address, reason: sentence(error) }, 'a server of the source cannot be used')
    }
  }
  const [only, ...others] = failures
  if (only !== undefined && others.length === 0) throw only.error
  const each = failures.map(({ endpoint, error }) => `${atAddress(endpoint, targets)}${sentence(error)}`)
  throw new DirsyncdError(
    'source-unreachable',
    `none of the ${targets.length} servers can be used: ${each.join('; ')}`,
    { cause: new AggregateError(failures.map(({ error }) => error)) },
  )
}

interface TryParts {
  readonly options: Options
  readonly credentials: Credentials
  readonly signal: AbortSignal
  readonly told: Told
}

function isSame(one: Endpoint, other: Endpoint): boolean {
  return one.url === other.url && one.address === other.address
}

function atAddress({ url, address }: Endpoint, targets: readonly Target[]): string {
  const isOnly = targets.filter(({ endpoint }) => endpoint.url === url).length === 1
  return isOnly || address === undefined ? '' : `at ${address}: `
}

/** A server that refused, or showed a wrong certificate, is up: trying the next one could only hide that. */
function isOutOfService(error: unknown): boolean {
  if (!(error instanceof DirsyncdError) || error.code !== 'source-unreachable') return false
  return !isCertificateProblem(error.cause)
}
