import { type Kysely, sql } from 'kysely'

export async function createOrganizations(db: Kysely<unknown>): Promise<void> {
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
