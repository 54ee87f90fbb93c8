import { type Kysely, sql } from 'kysely'

const RESOURCES = {
  organization: 'organizations',
  contact: 'contacts',
  directory: 'directories',
  provider: 'providers',
  installation: 'installations',
  subscription: 'subscriptions',
  group: 'organization_groups',
} as const

/**
 * Remembers the ids of removed resources and the hashes of revoked tokens, also of those that went with something else:
 * no id is given twice, and no import brings back what an operator took away.
 */
export async function rememberRemoved(db: Kysely<unknown>): Promise<void> {
  await sql`create table access_management.removed_resources (
    resource text not null, id integer not null, primary key (resource, id)
  )`.execute(db)
  await sql`create table access_management.revoked_tokens (hash text primary key)`.execute(db)
  await sql`create function access_management.remember_removed() returns trigger language plpgsql as $$
  begin
    insert into access_management.removed_resources values (tg_argv[0], old.id) on conflict do nothing;
    return null;
  end $$`.execute(db)
  await sql`create function access_management.remember_revoked() returns trigger language plpgsql as $$
  begin
    insert into access_management.revoked_tokens values (old.hash) on conflict do nothing;
    return null;
  end $$`.execute(db)
  for (const [resource, table] of Object.entries(RESOURCES)) {
    await sql`create trigger remember_removed after delete on ${sql.id('access_management', table)}
      for each row execute function access_management.remember_removed(${sql.lit(resource)})`.execute(db)
  }
  await sql`create trigger remember_revoked after delete on access_management.tokens
    for each row execute function access_management.remember_revoked()`.execute(db)
}
