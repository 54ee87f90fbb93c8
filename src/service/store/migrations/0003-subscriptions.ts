import { type Kysely, sql } from 'kysely'

/** Subscriptions of contacts, the catalogue of providers, and the groups of the organization. */
export async function createSubscriptions(db: Kysely<unknown>): Promise<void> {
  await sql`alter table access_management.contacts
    add column status text not null default 'active',
    add column created_at timestamptz(3) not null default now(),
    add column last_activity timestamptz(3)`.execute(db)
  await sql`create table access_management.providers (
    id integer primary key,
    name text not null,
    slug text not null,
    login_method text not null,
    launch_timeout integer not null,
    icons jsonb not null,
    capabilities jsonb not null
  )`.execute(db)
  await sql`create table access_management.installations (
    id integer primary key,
    organization_id integer not null references access_management.organizations,
    provider_id integer not null references access_management.providers,
    name text not null,
    slug text not null,
    status text not null,
    created_at timestamptz(3) not null,
    labels jsonb not null,
    requires_mfa_code boolean not null,
    icons jsonb,
    configuration jsonb not null,
    service_provider jsonb
  )`.execute(db)
  await sql`create table access_management.subscriptions (
    id integer primary key,
    contact_id integer not null references access_management.contacts,
    installation_id integer not null references access_management.installations,
    kind text not null,
    name text not null,
    status text not null,
    created_at timestamptz(3) not null,
    favorite boolean not null,
    position integer not null,
    last_login timestamptz(3),
    launch_url text not null,
    requires_mfa_code boolean not null,
    login text not null,
    bookmarks jsonb not null,
    password_strength jsonb not null,
    can_view_password boolean not null,
    can_reset_password boolean not null,
    credentials text not null,
    key_id text not null
  )`.execute(db)
  await sql`create index subscriptions_of_contact on access_management.subscriptions (contact_id, id)`.execute(
    db,
  )
  await createOrganizationGroups(db)
  await sql`create table access_management.identity_providers (
    organization_id integer primary key references access_management.organizations,
    certificate text not null,
    private_key text not null,
    key_id text not null,
    created_at timestamptz(3) not null
  )`.execute(db)
}

/** A search compares `folded_name`: the name in one case, independent of the locale of the database. */
async function createOrganizationGroups(db: Kysely<unknown>): Promise<void> {
  await sql`create table access_management.organization_groups (
    id integer primary key,
    organization_id integer not null references access_management.organizations,
    name text not null,
    folded_name text not null,
    created_at timestamptz(3) not null
  )`.execute(db)
  await sql`create index organization_groups_in_order
    on access_management.organization_groups (organization_id, id)`.execute(db)
  await sql`create table access_management.organization_group_contacts (
    group_id integer not null references access_management.organization_groups on delete cascade,
    contact_id integer not null references access_management.contacts on delete cascade,
    primary key (group_id, contact_id)
  )`.execute(db)
  await sql`create table access_management.organization_group_installations (
    group_id integer not null references access_management.organization_groups on delete cascade,
    installation_id integer not null references access_management.installations on delete cascade,
    primary key (group_id, installation_id)
  )`.execute(db)
}
