import { join } from 'node:path'
import { Pool } from 'pg'
import { openEmbeddedPool } from '../../src/store/embedded.ts'
import { createDatabase, SERVICE_TEMPLATE } from '../support/databases.ts'
import { putEmptyStore } from '../support/empty-store.ts'
import { inLong } from '../support/long.ts'
import { tempDir } from '../support/temp.ts'

/** A store that outlives the pools that are opened on it, as that of a service that is started again does. */
export interface Backend {
  open(): Promise<Pool>
  remove(): Promise<void>
}

const POSTGRES = { name: 'PostgreSQL', create: createPostgres }
const EMBEDDED = { name: 'embedded', create: createEmbedded }

/** Both have the same SQL, so only `npm run test:long` runs the suites on the embedded store as well. */
export const backends = inLong([POSTGRES], [POSTGRES, EMBEDDED])

async function createEmbedded(): Promise<Backend> {
  const dir = await tempDir()
  await putEmptyStore(dir.path)
  return {
    open: () => openEmbeddedPool(join(dir.path, 'store')),
    remove: async () => dir[Symbol.asyncDispose](),
  }
}

async function createPostgres(): Promise<Backend> {
  const connectionString = await createDatabase(SERVICE_TEMPLATE)
  return { open: async () => openPool(connectionString), remove: async () => {} }
}

/** A pool's end does not wait for its connections to be closed, so the end of the test run may still reach them. */
function openPool(connectionString: string): Pool {
  const pool = new Pool({ connectionString })
  pool.on('error', () => {})
  return pool
}
