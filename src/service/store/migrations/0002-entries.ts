import { type Kysely, sql } from 'kysely'

// External ids have no unique index, so that trials can allow duplicates without a change of the tables. Writers of one
// directory take turns (see writeDirectory) and check the uniqueness themselves.
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
