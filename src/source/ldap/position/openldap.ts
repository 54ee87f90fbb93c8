import type { Ask } from './ask.ts'
import { type ContextState, type ServerState, unite } from './server-state.ts'

/** A change sequence number: time, count within that moment, server id, count within that change. */
const CSN = /^\d{14}(?:\.\d{6})?Z#[0-9a-f]{6}#([0-9a-f]{2,3})#[0-9a-f]{6}$/i

/**
 * OpenLDAP keeps `contextCSN` at the suffix, one value for each server id, where the overlay `syncprov` or a `syncrepl`
 * is configured. The suffix's `entryUUID` is the same on all replicas and another one in another database.
 */
export async function readOpenLdap(ask: Ask, contexts: readonly string[]): Promise<ServerState> {
  const states: ContextState[] = []
  for (const context of contexts) {
    const lookup = await ask.values(context, ['contextCSN', 'entryUUID'])
    const [database] = lookup('entryUUID')
    states.push({ context, database, origins: originsOf(lookup('contextCSN')) })
  }
  return unite(states)
}

function originsOf(values: readonly string[]): ReadonlyMap<string, string> | undefined {
  const origins = new Map<string, string>()
  for (const value of values) {
    const serverId = CSN.exec(value)?.[1]
    if (serverId === undefined) return undefined
    origins.set(serverId, value)
  }
  return origins.size === 0 ? undefined : origins
}
