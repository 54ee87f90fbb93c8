import { type Kysely, sql } from 'kysely'

// No unique index on the external ids: writers of a directory take turns anyway (see writeDirectory) and look for
// themselves, so that the uniqueness can be switched off for trials without touching the tables.
export async function createEntries(db: Kysely<unknown>): Promise<void> {
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
