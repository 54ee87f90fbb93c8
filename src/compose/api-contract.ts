import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { createDispatcher } from '../client/dispatcher.ts'
import { DEFAULT_TIMEOUTS } from '../client/options.ts'
import type { Config, DirectoryConfig, SyncConfig } from '../config/config.ts'
import { openConformance, type Result, type TestedService } from '../conformance/conformance.ts'
import { endpoints, type Operation } from '../contract/endpoints.ts'
import { sentence } from '../errors.ts'
import type { Log } from '../log.ts'
import { createLimit } from './limit.ts'
import { openSite } from './site.ts'
import { trustThisMachine } from './trust.ts'

const PATHS = Object.values(endpoints).map(({ path }) => path)

export interface ContractRequest {
  readonly writes: boolean
  readonly sync?: string
  /** The subscription whose password may be reset (#18). */
  readonly resetSubscription?: number
}

/** One step of comparing a service with the API description, endpoint by endpoint. */
export type ContractStep =
  | {
      readonly step: 'begin'
      readonly sync: string
      readonly baseUrl: string
      readonly organizationId: number
      readonly directoryId: number
      readonly writes: boolean
      /** The paths of all endpoints, in order. */
      readonly paths: readonly string[]
    }
  | { readonly step: 'endpoint'; readonly sync: string; readonly results: readonly Result[] }
  /** `left` are sentences about what could not be removed or put back. */
  | { readonly step: 'end'; readonly sync: string; readonly left: readonly string[] }
  /** The comparison failed; `detail` says why. */
  | { readonly step: 'failed'; readonly sync: string; readonly detail: string }

/**
 * Compares the service of each sync's directory with the API description. Without `writes` only GET is sent. What the
 * check wrote is removed or restored, also when the signal is aborted.
 */
export async function* runApiContract(
  config: Config,
  log: Log,
  request: ContractRequest,
  signal: AbortSignal,
): AsyncGenerator<ContractStep> {
  trustThisMachine(config.syncs)
  for (const sync of config.syncs) {
    if (request.sync !== undefined && sync.name !== request.sync) continue
    try {
      yield* compare(sync, { config, log, request }, signal)
    } catch (error) {
      signal.throwIfAborted()
      yield { step: 'failed', sync: sync.name, detail: sentence(error) }
    }
  }
}

interface Parts {
  readonly config: Config
  readonly log: Log
  readonly request: ContractRequest
}

async function* compare(
  sync: SyncConfig,
  { config, log, request }: Parts,
  signal: AbortSignal,
): AsyncGenerator<ContractStep> {
  const { name, directory } = sync
  const { baseUrl, organizationId, directoryId } = directory
  const { writes } = request
  await using stack = new AsyncDisposableStack()
  const limit = await openLimit(stack, config, directory, log)
  yield { step: 'begin', sync: name, baseUrl, organizationId, directoryId, writes, paths: PATHS }
  const tested = await testedServiceOf(directory, request)
  const conformance = await openConformance({ ...tested, ...(limit !== undefined && { limit }) }, signal)
  stack.defer(async () => {
    const left = await conformance.close()
    if (left.length > 0) log.warn({ sync: name, left }, 'the check could not remove everything that it made')
  })
  for (const operation of Object.keys(endpoints) as Operation[]) {
    const results = await Array.fromAsync(conformance.check(operation))
    yield { step: 'endpoint', sync: name, results }
  }
  yield { step: 'end', sync: name, left: await conformance.close() }
}

async function testedServiceOf(directory: DirectoryConfig, request: ContractRequest): Promise<TestedService> {
  const { baseUrl, organizationId, directoryId, token, allowedDomains = [] } = directory
  const [emailDomain] = allowedDomains
  const { writes, resetSubscription } = request
  return {
    baseUrl,
    organizationId,
    directoryId,
    token: await token.read(),
    deviceId: `dirsyncd-check-${randomUUID()}`,
    dispatcher: createDispatcher({
      origin: new URL(baseUrl).origin,
      connections: 4,
      ca: directory.ca,
      proxy: directory.proxy,
      timeouts: DEFAULT_TIMEOUTS,
    }),
    writes,
    ...(emailDomain !== undefined && { emailDomain }),
    ...(resetSubscription !== undefined && { resetSubscriptionId: resetSubscription }),
  }
}

/** The share of the rate limit that a check uses while a daemon owns the store that holds the shared budget. */
const SHARE_BESIDE_DAEMON = 0.25

type Limit = (signal: AbortSignal) => Promise<void>

/** The shared request budget; when its store cannot be opened, a fixed share of the rate limit. */
async function openLimit(
  stack: AsyncDisposableStack,
  config: Config,
  directory: DirectoryConfig,
  log: Log,
): Promise<Limit | undefined> {
  const { rateLimit } = directory
  if (rateLimit === undefined) return undefined
  try {
    const site = stack.use(await openSite(config, 'dirsyncd check', log, { tables: 'keep' }))
    return createLimit(directory, { backend: site.backend, pool: site.store.pool })
  } catch {
    return createPace(rateLimit.perMs / rateLimit.requests / SHARE_BESIDE_DAEMON)
  }
}

/** Requests one after the other, at least so many milliseconds apart. */
function createPace(intervalMs: number): Limit {
  let next = 0
  return async (signal) => {
    const now = performance.now()
    const wait = next - now
    next = Math.max(next, now) + intervalMs
    if (wait > 0) await sleep(wait, undefined, { signal })
  }
}
