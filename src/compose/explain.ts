import type { AccessManagementClient } from '../client/client.ts'
import type { Config, SyncConfig } from '../config/config.ts'
import type { Control } from '../control/control.ts'
import { explain } from '../control/explain/explain.ts'
import type { Sides } from '../control/explain/sides.ts'
import { explainingOutage, unknownSync } from '../control/local.ts'
import { lookUp } from '../target/look-up.ts'
import { rulesOf, type Site, type Sources, targetOf } from './site.ts'

type Clients = ReadonlyMap<string, AccessManagementClient>

interface Parts {
  readonly sources: Sources
  /** Called when somebody asks for the first story. */
  readonly clients: () => Clients
}

/** `explain` with the sources and clients of this process. */
export function createExplain(
  config: Config,
  { store }: Site,
  { sources, clients }: Parts,
): Control['explain'] {
  let opened: Clients | undefined
  return explainingOutage(async (request) => {
    const sync = config.syncs.find(({ name }) => name === request.sync)
    if (sync === undefined) throw unknownSync(request.sync, [...sources.keys()])
    opened ??= clients()
    const sides = sidesOf(sync, sources, opened)
    return explain({ ...sides, db: store.db, target: { sync: sync.name, target: targetOf(sync) } }, request)
  })
}

function sidesOf(sync: SyncConfig, sources: Sources, clients: Clients): Sides {
  const source = sources.get(sync.name)
  const client = clients.get(sync.name)
  if (source === undefined || client === undefined)
    throw new Error(`nothing was opened for sync ${sync.name}`)
  return {
    find: (wanted, signal) => source.find(wanted, signal),
    lookUp: (key, signal) => lookUp(client, sync.directory.directoryId, key, signal),
    rules: rulesOf(sync),
    grace: sync.grace,
  }
}
