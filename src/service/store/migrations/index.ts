import { type Migration, Migrator } from 'kysely/migration'
import type { Pool } from 'pg'
import { DirsyncdError, sentence } from '../../../errors.ts'
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
const MIGRATIONS: Record<string, Migration> = {
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
 * Brings the service's tables up to date. Several processes may do so at once: Kysely takes a database lock, and the
 * second process finds the work done. Throws `DirsyncdError('store-unavailable')`.
 */
export async function migrateService(pool: Pool): Promise<void> {
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
