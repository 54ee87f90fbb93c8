import type { Pool, PoolClient } from 'pg'
import type { Log } from '../../base/log/log.ts'
import { makeTables } from '../../base/database/make-tables.ts'
import { databaseOptions, openPool } from '../../base/database/open.ts'
import type { ServiceConfig } from '../config/config.ts'
import { SERVICE_TABLES } from './migrations/index.ts'

/** Opens the database of the service; the stack closes it and breaks off the queries that still run. */
export async function openServicePool(
  stack: AsyncDisposableStack,
  service: ServiceConfig,
  command: string,
  log: Log,
): Promise<Pool> {
  const pool = await openPool(
    stack,
    databaseOptions(service.store, { dataDir: service.dataDir, command, log }),
  )
  // Only on PostgreSQL can another process block a query for ever.
  if (service.store.kind === 'postgres') stack.defer(watchBusyClients(pool))
  return pool
}

export function makeServiceTables(pool: Pool, { store, dataDir }: ServiceConfig): Promise<void> {
  return makeTables(pool, SERVICE_TABLES, {
    program: 'access-service',
    where: (database) =>
      store.kind === 'embedded'
        ? `The embedded store of the service in ${dataDir}`
        : `The store of the service, database ${database},`,
    rights: 'create',
    withoutIt: 'into a new store you import again (access-service import)',
  })
}

/** Returns a function that breaks off the running queries, because a pool ends only after all of them. */
function watchBusyClients(pool: Pool): () => void {
  const busy = new Set<PoolClient>()
  pool.on('acquire', (client) => busy.add(client))
  pool.on('release', (_error, client) => busy.delete(client))
  pool.on('remove', (client) => busy.delete(client))
  return () => {
    for (const client of busy) {
      // During a query, `end` cuts the connection. The type of a pool's client hides it.
      const { end } = client as unknown as { end: () => Promise<void> }
      end.call(client).catch(() => undefined)
    }
  }
}
