import { sql } from 'kysely'
import { offsetOf, type Page, type PageRequest } from '../http/paging.ts'
import { type Database, SCHEMA } from './database.ts'

export interface OrganizationGroupRow {
  readonly id: number
  readonly name: string
  readonly contacts_count: number
  readonly installations_count: number
  readonly created_at: Date
}

const countAll = sql<number>`count(*)::integer`.as('count')

const CONTACTS = sql.id(SCHEMA, 'organization_group_contacts')
const INSTALLATIONS = sql.id(SCHEMA, 'organization_group_installations')

const COLUMNS = [
  'g.id',
  'g.name',
  'g.created_at',
  sql<number>`(select count(*)::integer from ${CONTACTS} c where c.group_id = g.id)`.as('contacts_count'),
  sql<number>`(select count(*)::integer from ${INSTALLATIONS} i where i.group_id = g.id)`.as(
    'installations_count',
  ),
] as const

/**
 * The form of a text that a search compares: equal for texts that differ only in case, in every script and
 * independent of the locale of the database. Lower case alone leaves "ß" and "SS" different, so the text passes through
 * upper case; it is lower-cased before that because there is also a capital "ẞ". "ς" is a "σ" at the end of a word.
 */
export function foldName(name: string): string {
  const small = name.normalize('NFC').toLowerCase()
  return small.toUpperCase().toLowerCase().replaceAll('ς', 'σ').normalize('NFC')
}

/**
 * A page, by id, of the groups whose name contains `search`, ignoring case; an empty `search` matches every name. A
 * search reads every name of the organization, so one search gives both the page and the total.
 */
export async function listOrganizationGroups(
  db: Database,
  organizationId: number,
  search: string,
  page: PageRequest,
): Promise<Page<OrganizationGroupRow>> {
  // No name contains a NUL, and PostgreSQL takes none in a query.
  if (search.includes('\0')) return { items: [], total: 0 }
  const matching = matchingIds(db, organizationId, foldName(search))
  const rows = await db
    .with(
      (cte) => cte('matching').materialized(),
      () => matching,
    )
    .selectFrom('organization_groups as g')
    .select(COLUMNS)
    .select((eb) => eb.selectFrom('matching').select(countAll).as('total'))
    .where('g.id', 'in', (eb) =>
      eb.selectFrom('matching').select('id').orderBy('id').limit(page.perPage).offset(offsetOf(page)),
    )
    .orderBy('g.id')
    .execute()
  // A page past the end has no row to carry the total.
  return { items: rows, total: rows[0]?.total ?? (await countMatching(db, matching)) }
}

/** `undefined` where the organization has no such group. */
export async function findOrganizationGroup(
  db: Database,
  organizationId: number,
  id: number,
): Promise<OrganizationGroupRow | undefined> {
  return db
    .selectFrom('organization_groups as g')
    .select(COLUMNS)
    .where('g.id', '=', id)
    .where('g.organization_id', '=', organizationId)
    .executeTakeFirst()
}

/** Uses `position` because `like` would treat `%` and `_` as wildcards. */
function matchingIds(db: Database, organizationId: number, folded: string) {
  const ids = db.selectFrom('organization_groups').select('id').where('organization_id', '=', organizationId)
  return folded === '' ? ids : ids.where(sql<boolean>`position(${folded} in folded_name) > 0`)
}

async function countMatching(db: Database, matching: ReturnType<typeof matchingIds>): Promise<number> {
  const { count } = await db.selectFrom(matching.as('m')).select(countAll).executeTakeFirstOrThrow()
  return count
}
