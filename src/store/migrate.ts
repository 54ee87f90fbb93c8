import type { Kysely } from 'kysely'
import { Migrator } from 'kysely/migration'
import type { Pool, PoolClient } from 'pg'
import { DirsyncdError } from '../base/errors.ts'
import { migrations } from './migrations/index.ts'
import { requireWrites, versionOf, withRights } from '../base/database/rights.ts'
import type { Tables } from './tables.ts'

/** Any number that nobody else locks; while one process migrates the others wait. */
const MIGRATION_LOCK = 7_347_731

/**
 * What a process may do to the tables of a store: `upgrade` makes them and brings older ones up to date, `create` makes
 * them in an empty store, `queue` makes only those of a queue, and `keep` makes none.
 */
export type TableRights = 'upgrade' | 'create' | 'queue' | 'keep'

/** Whether a process may make the tables of an empty store. */
export function mayBegin(rights: TableRights): boolean {
  return rights === 'upgrade' || rights === 'create'
}

interface Store {
  /** Names the store, as the beginning of a sentence. */
  readonly where: string
  readonly rights: TableRights
}

/**
 * Brings the schema `dirsyncd` up to date, as far as the process may. Several processes may do so at once: one works, the
 * others wait. Throws `store-empty`, and `store-unavailable` for a store of another version, and where the user of the
 * database may not.
 */
export function migrate(pool: Pool, db: Kysely<Tables>, store: Store): Promise<void> {
  const version = async () => versionOf(await stepsMade(pool), migrations)
  return withRights(pool, { where: () => store.where, version }, async () => {
    await makeTables(pool, db, store)
    await requireWrites(pool, 'dirsyncd')
  })
}

async function makeTables(pool: Pool, db: Kysely<Tables>, store: Store): Promise<void> {
  if (await isUpToDate(pool, store)) return
  await withMigrationLock(pool, async (client) => {
    await client.query('create schema if not exists dirsyncd')
    // Another process may have migrated meanwhile.
    if (await isUpToDate(client, store)) return
    const migrator = new Migrator({
      db,
      provider: { getMigrations: async () => migrations },
      migrationTableSchema: 'dirsyncd',
    })
    const { error } = await migrator.migrateToLatest()
    if (error !== undefined) throw error
  })
}

/** False where the tables are to be made or changed, and the process may do that. Throws where it may not. */
async function isUpToDate(db: Pool | PoolClient, { where, rights }: Store): Promise<boolean> {
  const made = await stepsMade(db)
  const missing = Object.keys(migrations).filter((name) => !made.includes(name))
  requireKnown(made, where)
  if (missing.length === 0) return true
  if (made.length === 0 && !mayBegin(rights)) throw emptyStore(where)
  if (made.length === 0 || rights === 'upgrade') return false
  throw new DirsyncdError(
    'store-unavailable',
    `${where} was last used by an older dirsyncd: its tables end at step ${made.at(-1)}, and this version needs ` +
      `${missing.at(-1)}. Start the daemon of this version with it (dirsyncd start), which upgrades it.`,
  )
}

/** This version cannot know what the tables of a newer one mean. */
function requireKnown(made: readonly string[], where: string): void {
  const unknown = made.filter((name) => !(name in migrations))
  if (unknown.length === 0) return
  throw new DirsyncdError(
    'store-unavailable',
    `${where} was last used by a newer dirsyncd (its tables have step ${unknown.at(-1)}, which this version does not know). ` +
      'Install that version or a newer one.',
  )
}

/** Asks for the steps that were made, because the migrator reads the columns of all tables first. */
async function stepsMade(db: Pool | PoolClient): Promise<readonly string[]> {
  const { rows: tables } = await db.query(`select to_regclass('dirsyncd.kysely_migration') as made`)
  if (tables[0].made === null) return []
  const { rows } = await db.query<{ name: string }>('select name from dirsyncd.kysely_migration')
  return rows.map(({ name }) => name).toSorted()
}

export function emptyStore(where: string): DirsyncdError {
  return new DirsyncdError(
    'store-empty',
    `${where} is empty; the first dirsyncd start, sync or plan makes its tables.`,
  )
}

/** Makes a table in each schema and takes it back. Throws what the server says where this user may not. */
export async function tryMigration(pool: Pool, schemas: readonly string[]): Promise<void> {
  await withMigrationLock(pool, async (client) => {
    await client.query('begin')
    for (const schema of schemas) {
      await client.query(`create schema if not exists ${schema}`)
      await client.query(`create table ${schema}.tried ()`)
    }
    await client.query('rollback')
  })
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
