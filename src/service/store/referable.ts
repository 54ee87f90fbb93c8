import { sql } from 'kysely'
import { SCHEMA, type Trx } from './database.ts'

/**
 * What other resources of these organizations may refer to, such as `contact 12 of organization 1`; every provider once
 * for each organization.
 */
export async function readReferable(
  trx: Trx,
  organizationIds: readonly number[],
): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ name: string }>`
    with o as (select id from unnest(${organizationIds}::integer[]) as ids(id)), r as (
      select 'provider' as what, p.id, o.id as organization from ${sql.id(SCHEMA, 'providers')} p cross join o
      union all select 'contact', c.id, c.organization_id from ${sql.id(SCHEMA, 'contacts')} c
      union all select 'installation', i.id, i.organization_id from ${sql.id(SCHEMA, 'installations')} i
    )
    select r.what || ' ' || r.id || ' of organization ' || o.id as name from r join o on o.id = r.organization`.execute(
    trx,
  )
  return new Set(rows.map(({ name }) => name))
}
