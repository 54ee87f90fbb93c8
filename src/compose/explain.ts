import { decisiveOptions } from '../config/options.ts'
import type { Control } from '../operations/control.ts'
import { explain } from '../operations/explain/explain.ts'
import type { Sides } from '../operations/explain/sides.ts'
import { explainingOutage, unknownSync } from '../operations/local.ts'
import { hashOptions } from '../core/plan/configuration.ts'
import { lookUp } from '../target/look-up.ts'
import { type Site, targetOf } from './site.ts'
import { rulesOf, type SyncParts } from './sync-parts.ts'

export function createExplain(
  { store, deviceId }: Site,
  opened: (sync: string) => ReadonlyMap<string, SyncParts> | Promise<ReadonlyMap<string, SyncParts>>,
): Control['explain'] {
  return explainingOutage(async (request, stopped) => {
    const syncs = await opened(request.sync)
    const parts = syncs.get(request.sync)
    if (parts === undefined) throw unknownSync(request.sync, [...syncs.keys()])
    const { sync } = parts
    const target = { sync: sync.name, target: targetOf(sync) }
    const sides = sidesOf(parts, deviceId, stopped)
    const explanation = await explain({ ...sides, db: store.db, target }, request)
    stopped?.throwIfAborted()
    return explanation
  })
}

function sidesOf({ sync, source, client }: SyncParts, salt: string, stopped: AbortSignal | undefined): Sides {
  const or = (signal: AbortSignal) => (stopped === undefined ? signal : AbortSignal.any([signal, stopped]))
  return {
    find: (wanted, signal) => source.find(wanted, or(signal)),
    lookUp: (key, signal) => lookUp(client, sync.directory.directoryId, key, or(signal)),
    rules: rulesOf(sync),
    limits: sync.guards,
    grace: sync.grace,
    approvalsExpireAfterMs: sync.approvalsExpireAfterMs,
    options: hashOptions(decisiveOptions(sync), salt),
  }
}
