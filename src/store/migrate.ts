import type { Kysely } from 'kysely'
import { Migrator } from 'kysely/migration'
import type { Pool } from 'pg'
import { migrations } from './migrations/index.ts'
import type { Tables } from './tables.ts'

/** Any number that nobody else locks; while one process migrates the others wait. */
const MIGRATION_LOCK = 7_347_731

/** Brings the schema `dirsyncd` up to date. Several processes may do so at once: one works, the others wait. */
export async function migrate(pool: Pool, db: Kysely<Tables>): Promise<void> {
  const client = await pool.connect()
  let failed: unknown
  try {
    await client.query('select pg_advisory_lock($1)', [MIGRATION_LOCK])
    await client.query('create schema if not exists dirsyncd')
    const migrator = new Migrator({
      db,
      provider: { getMigrations: async () => migrations },
      migrationTableSchema: 'dirsyncd',
    })
    const { error } = await migrator.migrateToLatest()
    if (error !== undefined) throw error
    await client.query('select pg_advisory_unlock($1)', [MIGRATION_LOCK])
  } catch (error) {
    failed = error
    throw error
  } finally {
    // A connection that still holds the lock is closed, which frees it.
    client.release(failed !== undefined)
  }
}
