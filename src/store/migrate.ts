import type { Kysely } from 'kysely'
import { Migrator } from 'kysely/migration'
import type { Pool, PoolClient } from 'pg'
import { DirsyncdError } from '../errors.ts'
import { migrations } from './migrations/index.ts'
import type { Tables } from './tables.ts'

/** Any number that nobody else locks; while one process migrates the others wait. */
const MIGRATION_LOCK = 7_347_731

/**
 * Brings the schema `dirsyncd` up to date. Several processes may do so at once: one works, the others wait. `where`
 * names the store in errors.
 */
export async function migrate(pool: Pool, db: Kysely<Tables>, where: string): Promise<void> {
  if (await isUpToDate(pool, where)) return
  await withMigrationLock(pool, async (client) => {
    await client.query('create schema if not exists dirsyncd')
    // Another process may have migrated meanwhile.
    if (await isUpToDate(client, where)) return
    const migrator = new Migrator({
      db,
      provider: { getMigrations: async () => migrations },
      migrationTableSchema: 'dirsyncd',
    })
    const { error } = await migrator.migrateToLatest()
    if (error !== undefined) throw error
  })
}

/**
 * Asks for the steps that were made, because the migrator reads the columns of all tables first. Throws for a store of a
 * newer version: this one cannot know what its tables mean.
 */
async function isUpToDate(db: Pool | PoolClient, where: string): Promise<boolean> {
  const { rows: tables } = await db.query(`select to_regclass('dirsyncd.kysely_migration') as made`)
  if (tables[0].made === null) return false
  const { rows } = await db.query<{ name: string }>('select name from dirsyncd.kysely_migration')
  const made = new Set(rows.map(({ name }) => name))
  const unknown = [...made].filter((name) => !(name in migrations)).toSorted()
  if (unknown.length === 0) return Object.keys(migrations).every((name) => made.has(name))
  throw new DirsyncdError(
    'store-unavailable',
    `${where} was last used by a newer dirsyncd (its tables have step ${unknown.at(-1)}, which this version does not know). ` +
      'Install that version or a newer one.',
  )
}

/**
 * Changes schemas on a client of its own, one process after the other. The lock is taken outside of any transaction: a
 * transaction that began before the wait would not see the schema that another process made meanwhile.
 */
export async function withMigrationLock(
  pool: Pool,
  work: (client: PoolClient) => Promise<unknown>,
): Promise<void> {
  const client = await pool.connect()
  let failed: unknown
  try {
    await client.query('select pg_advisory_lock($1)', [MIGRATION_LOCK])
    await work(client)
    await client.query('select pg_advisory_unlock($1)', [MIGRATION_LOCK])
  } catch (error) {
    failed = error
    throw error
  } finally {
    // A connection that still holds the lock is closed, which frees it.
    client.release(failed !== undefined)
  }
}
