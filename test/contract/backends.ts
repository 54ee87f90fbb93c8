import { join } from 'node:path'
import { Pool } from 'pg'
import { openEmbeddedPool } from '../../src/store/embedded.ts'
import { startPostgres } from '../support/postgres.ts'
import { tempDir } from '../support/temp.ts'

/** A store that outlives the pools that are opened on it, as that of a service that is started again does. */
export interface Backend {
  open(): Promise<Pool>
  remove(): Promise<void>
}

/** Every suite here runs on all of them. */
export const backends: readonly { readonly name: string; readonly create: () => Promise<Backend> }[] = [
  { name: 'embedded', create: createEmbedded },
  { name: 'PostgreSQL', create: createPostgres },
]

async function createEmbedded(): Promise<Backend> {
  const dir = await tempDir()
  return {
    open: () => openEmbeddedPool(join(dir.path, 'db')),
    remove: async () => dir[Symbol.asyncDispose](),
  }
}

async function createPostgres(): Promise<Backend> {
  const server = await startPostgres()
  const connectionString = await server.createDatabase()
  return { open: async () => openPool(connectionString), remove: () => server.close() }
}

/** A pool's end does not wait for its connections to be closed, so the server's end may still reach them. */
function openPool(connectionString: string): Pool {
  const pool = new Pool({ connectionString })
  pool.on('error', () => {})
  return pool
}
