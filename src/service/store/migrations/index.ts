import { type Migration, Migrator } from 'kysely/migration'
import type { Pool } from 'pg'
import { DirsyncdError, sentence } from '../../../base/errors.ts'
import { openDatabase, SCHEMA } from '../database.ts'
import { createOrganizations } from './0001-organizations.ts'
import { createEntries } from './0002-entries.ts'
import { createSubscriptions } from './0003-subscriptions.ts'
import { createEvents } from './0004-events.ts'
import { createBlocks } from './0005-blocks.ts'
import { createEntryFunctions } from './0006-create-entries.ts'
import { changeResources } from './0007-resources.ts'
import { allowSigningKeys } from './0008-signing-keys.ts'
import { rememberRemoved } from './0009-removed.ts'

/**
 * Run in the order of their names. Never edit a released migration: add the next one. The migrator's connection ignores
 * the default schema of the queries, so migrations write names in full.
 */
export const MIGRATIONS: Record<string, Migration> = {
  '0001-organizations': { up: createOrganizations },
  '0002-entries': { up: createEntries },
  '0003-subscriptions': { up: createSubscriptions },
  '0004-events': { up: createEvents },
  '0005-blocks': { up: createBlocks },
  '0006-create-entries': { up: createEntryFunctions },
  '0007-resources': { up: changeResources },
  '0008-signing-keys': { up: allowSigningKeys },
  '0009-removed': { up: rememberRemoved },
}

/**
 * Makes the service's tables in an empty store, and with `upgrade` brings older ones up to date. Several processes may do
 * so at once: Kysely takes a database lock, and the second process finds the work done. Throws
 * `DirsyncdError('store-unavailable')`, also for tables of a version that the process may not use.
 */
export async function migrateService(pool: Pool, rights: 'upgrade' | 'create' = 'create'): Promise<void> {
  await requireVersion(pool, rights)
  const migrator = new Migrator({
    db: openDatabase(pool),
    provider: { getMigrations: () => Promise.resolve(MIGRATIONS) },
    migrationTableSchema: SCHEMA,
    migrationTableName: 'migrations',
    migrationLockTableName: 'migrations_lock',
  })
  const { error } = await migrator.migrateToLatest()
  if (error === undefined) return
  const why = sentence(error)
  throw new DirsyncdError('store-unavailable', `The tables of the service could not be created: ${why}.`, {
    cause: error,
  })
}

async function requireVersion(pool: Pool, rights: 'upgrade' | 'create'): Promise<void> {
  const made = await stepsMade(pool)
  const unknown = made.filter((name) => !(name in MIGRATIONS))
  const missing = Object.keys(MIGRATIONS).filter((name) => !made.includes(name))
  if (unknown.length > 0)
    throw new DirsyncdError(
      'store-unavailable',
      `The store of the service was last used by a newer dirsyncd (its tables have step ${unknown.at(-1)}, which this ` +
        'version does not know). Install that version or a newer one.',
    )
  if (made.length === 0 || missing.length === 0 || rights === 'upgrade') return
  throw new DirsyncdError(
    'store-unavailable',
    `The store of the service was last used by an older dirsyncd: its tables end at step ${made.at(-1)}, and this version ` +
      `needs ${missing.at(-1)}. Start the service of this version with it, which upgrades it.`,
  )
}

/** The names of the migrations that the store has; none where it has no tables. */
export async function stepsMade(pool: Pool): Promise<readonly string[]> {
  const { rows: tables } = await pool.query(`select to_regclass('${SCHEMA}.migrations') as made`)
  if (tables[0].made === null) return []
  const { rows } = await pool.query<{ name: string }>(`select name from ${SCHEMA}.migrations`)
  return rows.map(({ name }) => name).toSorted()
}
