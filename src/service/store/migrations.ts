import { type Kysely, sql } from 'kysely'
import { type Migration, Migrator } from 'kysely/migration'
import type { Pool } from 'pg'
import { DirsyncdError, sentence } from '../../errors.ts'
import { openDatabase, SCHEMA } from './database.ts'

/** In the order of their names. A migration that was released is never edited: write the next one. */
const MIGRATIONS: Record<string, Migration> = {
  '0001-organizations': { up: createOrganizations },
  '0002-entries': { up: createEntries },
}

/**
 * Brings the service's tables up to date. Safe when several processes start at once: Kysely takes a lock of the
 * database, and who comes second finds the work done. Throws `DirsyncdError('store-unavailable')`.
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
  throw new DirsyncdError('store-unavailable', `The tables of the service could not be made: ${why}.`, {
    cause: error,
  })
}

// The migrator's connection ignores the schema that queries get, so names are written in full.
async function createOrganizations(db: Kysely<unknown>): Promise<void> {
  await sql`create table access_management.organizations (
    id integer primary key,
    name text not null,
    allowed_domains text[] not null,
    created_at timestamptz not null
  )`.execute(db)
  await sql`create table access_management.contacts (
    id integer primary key,
    organization_id integer not null references access_management.organizations,
    name text not null,
    email text not null
  )`.execute(db)
  await sql`create table access_management.tokens (
    hash text primary key,
    contact_id integer not null references access_management.contacts,
    scopes text[] not null,
    expires_at timestamptz not null,
    created_at timestamptz not null
  )`.execute(db)
  await sql`create table access_management.directories (
    id integer primary key,
    organization_id integer not null references access_management.organizations,
    name text not null,
    doppler boolean not null,
    target_type text not null,
    user_count integer not null default 0,
    group_count integer not null default 0
  )`.execute(db)
  await sql`create index directories_by_organization
    on access_management.directories (organization_id, id)`.execute(db)
}

// No unique index on the external ids: writers of a directory take turns anyway (see writeDirectory) and look for
// themselves, so that the uniqueness can be switched off for trials without touching the tables.
async function createEntries(db: Kysely<unknown>): Promise<void> {
  await sql`create table access_management.external_users (
    id integer generated always as identity primary key,
    directory_id integer not null references access_management.directories,
    external_id text collate "C",
    email text,
    name text,
    employee_id text
  )`.execute(db)
  await sql`create index external_users_in_order on access_management.external_users (directory_id, id)`.execute(
    db,
  )
  await sql`create index external_users_by_external_id
    on access_management.external_users (directory_id, external_id, id)`.execute(db)
  await sql`create table access_management.external_groups (
    id integer generated always as identity primary key,
    directory_id integer not null references access_management.directories,
    external_id text collate "C" not null,
    name text not null
  )`.execute(db)
  await sql`create index external_groups_in_order on access_management.external_groups (directory_id, id)`.execute(
    db,
  )
  await sql`create index external_groups_by_external_id
    on access_management.external_groups (directory_id, external_id, id)`.execute(db)
  await sql`create table access_management.group_members (
    group_id integer not null references access_management.external_groups on delete cascade,
    directory_id integer not null,
    external_id text collate "C" not null,
    primary key (group_id, external_id)
  )`.execute(db)
  await sql`create index group_members_by_member
    on access_management.group_members (directory_id, external_id)`.execute(db)
}
