import { Pool } from 'pg'
import type { TestProject } from 'vitest/node'
import { openStore } from '../../src/store/open.ts'
import { openQueueBackend } from '../../src/queue/backend.ts'
import { makeTemplateStore } from './empty-store.ts'
import { SERVICE_TEMPLATE, STORE_TEMPLATE } from './databases.ts'
import { startPostgres } from './postgres.ts'
import { makeServiceTables } from './service-tables.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The URL of the PostgreSQL server of the test run. */
    readonly postgres: string
  }
}

/** Starts one PostgreSQL server for the whole test run, with template databases that contain the tables. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  // Autovacuum would visit hundreds of databases in turn, and none of them lives long enough to need it.
  const server = await startPostgres(['autovacuum_naptime=1h'])
  await makeTemplateStore()
  const store = { kind: 'postgres', url: await server.createDatabase(STORE_TEMPLATE) } as const
  {
    await using opened = await openStore(store)
    await using _backend = await openQueueBackend({ kind: 'store', store: opened })
  }
  const pool = new Pool({ connectionString: await server.createDatabase(SERVICE_TEMPLATE) })
  await makeServiceTables(pool)
  await pool.end()
  project.provide('postgres', server.url)
  return () => server.close()
}
