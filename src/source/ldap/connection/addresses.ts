import { lookup } from 'node:dns/promises'
import { isIP, isIPv4 } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { DirsyncdError, networkReason, sentence } from '../../../base/errors.ts'
import { interruption } from '../../interruption.ts'
import type { Endpoint } from './endpoint.ts'

/** Rejects like `lookup` of `node:dns/promises`. */
export type LookUp = (host: string) => Promise<readonly string[]>

export type Target = { readonly endpoint: Endpoint & { readonly address: string } } | Unresolved

export interface Unresolved {
  readonly endpoint: Endpoint
  readonly problem: DirsyncdError
}

/** In the system's order, like a connection by name. */
export const lookUpBySystem: LookUp = async (host) => {
  const found = await lookup(host, { all: true })
  return found.map(({ address }) => address)
}

/** Looks up all names at once; rejects only when the signal is aborted. */
export async function resolveAll(
  endpoints: readonly Endpoint[],
  lookUp: LookUp,
  ms: number,
  signal: AbortSignal,
): Promise<Target[]> {
  const each = endpoints.map((endpoint) => resolve(endpoint, lookUp, ms, signal))
  return (await Promise.all(each)).flat()
}

async function resolve(
  endpoint: Endpoint,
  lookUp: LookUp,
  ms: number,
  signal: AbortSignal,
): Promise<Target[]> {
  const { host, url } = endpoint
  if (isIP(host) !== 0) return [{ endpoint: { ...endpoint, address: host } }]
  const done = new AbortController()
  const tooLong = delay(ms, undefined, { signal: AbortSignal.any([signal, done.signal]) })
  const unreachable = (why: string, cause?: unknown) =>
    new DirsyncdError('source-unreachable', `${url} cannot be reached (connecting): ${why}`, { cause })
  try {
    const found = await Promise.race([lookUp(host), tooLong])
    if (found !== undefined) {
      return [...new Set(found)].map((address) => ({ endpoint: { ...endpoint, address } }))
    }
    const problem = unreachable(`its host name was not resolved within ${ms / 1000} s (timeouts.connect)`)
    return [{ endpoint, problem }]
  } catch (error) {
    if (signal.aborted) throw interruption(signal, `${url}: interrupted while connecting`)
    return [{ endpoint, problem: unreachable(networkReason(error) ?? sentence(error), error) }]
  } finally {
    done.abort()
  }
}

/**
 * The probable number of servers. Most hosts with an IPv4 and an IPv6 address are one server, so only the larger
 * address family of each host counts. A host with unknown addresses counts as one.
 */
export function countServers(targets: readonly Target[]): number {
  const servers = new Set<string>()
  for (const [url, ofHost] of Map.groupBy(targets, ({ endpoint }) => endpoint.url)) {
    const found = ofHost.flatMap((target) => ('problem' in target ? [] : [target.endpoint]))
    const families = Object.values(Object.groupBy(found, ({ address }) => (isIPv4(address) ? 'v4' : 'v6')))
    const [most = []] = families.toSorted((a, b) => b.length - a.length)
    for (const { address, port } of most) servers.add(`${address} ${port}`)
    if (most.length === 0) servers.add(url)
  }
  return servers.size
}
