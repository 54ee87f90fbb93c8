import { type Kysely, sql } from 'kysely'

/**
 * What operators change and remove: what belongs to a removed resource goes with it, permissions are one value as in the
 * API, and each organization has the SAML entity id that it chose.
 */
export async function changeResources(db: Kysely<unknown>): Promise<void> {
  for (const [table, column, owner] of OWNERS) {
    const key = sql.id(`${table}_${column}_fkey`)
    await sql`alter table ${sql.id('access_management', table)}
      drop constraint ${key},
      add constraint ${key} foreign key (${sql.id(column)})
        references ${sql.id('access_management', owner)} on delete cascade`.execute(db)
  }
  await sql`alter table access_management.subscriptions add column permissions jsonb`.execute(db)
  await sql`update access_management.subscriptions set permissions = jsonb_build_object(
    'can_view_password', can_view_password, 'can_reset_password', can_reset_password)`.execute(db)
  await sql`alter table access_management.subscriptions
    alter column permissions set not null, drop column can_view_password, drop column can_reset_password`.execute(
    db,
  )
  await sql`alter table access_management.organizations add column entity_id text`.execute(db)
  await sql`update access_management.organizations
    set entity_id = 'urn:access-management:organization:' || id`.execute(db)
  await sql`alter table access_management.organizations alter column entity_id set not null`.execute(db)
}

const OWNERS = [
  ['contacts', 'organization_id', 'organizations'],
  ['tokens', 'contact_id', 'contacts'],
  ['directories', 'organization_id', 'organizations'],
  ['external_users', 'directory_id', 'directories'],
  ['external_groups', 'directory_id', 'directories'],
  ['installations', 'organization_id', 'organizations'],
  ['installations', 'provider_id', 'providers'],
  ['subscriptions', 'contact_id', 'contacts'],
  ['subscriptions', 'installation_id', 'installations'],
  ['organization_groups', 'organization_id', 'organizations'],
  ['identity_providers', 'organization_id', 'organizations'],
] as const
