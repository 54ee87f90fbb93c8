import { sql } from 'kysely'
import { offsetOf, type Page, type PageRequest } from '../http/paging.ts'
import { type Database, SCHEMA, type Trx } from './database.ts'

const SUBSCRIPTIONS = sql.id(SCHEMA, 'subscriptions')

/** A subscription with the installation and the provider behind it. */
export type SubscriptionRow = NonNullable<Awaited<ReturnType<typeof findSubscription>>>

/** A subscription with its contact. */
export type SubscriberRow = NonNullable<Awaited<ReturnType<typeof findSubscriptionWithSubscriber>>>

/** The values of a subscription that its contact may change. */
export interface SubscriptionValues {
  readonly name: string
  readonly favorite: boolean
  readonly position: number
}

const SUBSCRIPTION_COLUMNS = [
  's.id',
  's.name',
  's.status',
  's.created_at',
  's.favorite',
  's.position',
  's.last_login',
  's.launch_url',
  's.requires_mfa_code',
  's.login',
  's.bookmarks',
  's.password_strength',
  's.can_view_password',
  's.can_reset_password',
] as const

const INSTALLATION_COLUMNS = [
  'i.id as installation_id',
  'i.name as installation_name',
  'i.slug as installation_slug',
  'i.status as installation_status',
  'i.created_at as installation_created_at',
  'i.labels as installation_labels',
  'i.requires_mfa_code as installation_requires_mfa_code',
  'i.icons as installation_icons',
  'i.configuration as installation_configuration',
] as const

const PROVIDER_COLUMNS = [
  'p.id as provider_id',
  'p.name as provider_name',
  'p.slug as provider_slug',
  'p.login_method as provider_login_method',
  'p.launch_timeout as provider_launch_timeout',
  'p.icons as provider_icons',
  'p.capabilities as provider_capabilities',
] as const

const averageScore = sql<number | null>`(
  select avg((a.password_strength ->> 'score')::double precision) from ${SUBSCRIPTIONS} a
  where a.contact_id = c.id and a.kind = 'app'
)`

function joined(db: Database) {
  return db
    .selectFrom('subscriptions as s')
    .innerJoin('installations as i', 'i.id', 's.installation_id')
    .innerJoin('providers as p', 'p.id', 'i.provider_id')
    .select(SUBSCRIPTION_COLUMNS)
    .select(INSTALLATION_COLUMNS)
    .select(PROVIDER_COLUMNS)
}

/** A page of the contact's subscriptions by id. */
export async function listSubscriptions(
  db: Database,
  contactId: number,
  page: PageRequest,
): Promise<Page<SubscriptionRow>> {
  // The ids come from the index alone, so that a page far into the list does not read the rows before it.
  const ids = db
    .selectFrom('subscriptions')
    .select('id')
    .where('contact_id', '=', contactId)
    .orderBy('id')
    .limit(page.perPage)
    .offset(offsetOf(page))
  const rows = await joined(db)
    .select(countOf(contactId).as('total'))
    .where('s.id', 'in', ids)
    .orderBy('s.id')
    .execute()
  // A page past the end has no row to carry the total.
  return { items: rows, total: rows[0]?.total ?? (await countSubscriptions(db, contactId)) }
}

function countOf(contactId: number) {
  return sql<number>`(select count(*)::integer from ${SUBSCRIPTIONS} c where c.contact_id = ${contactId})`
}

async function countSubscriptions(db: Database, contactId: number): Promise<number> {
  const { total } = await db.selectNoFrom(countOf(contactId).as('total')).executeTakeFirstOrThrow()
  return total
}

/** All of the contact's subscriptions by id. */
export async function listAllSubscriptions(db: Database, contactId: number): Promise<SubscriptionRow[]> {
  return joined(db).where('s.contact_id', '=', contactId).orderBy('s.id').execute()
}

/** `undefined` where the contact has no such subscription. */
export async function findSubscription(db: Database, contactId: number, id: number) {
  return joined(db).where('s.id', '=', id).where('s.contact_id', '=', contactId).executeTakeFirst()
}

/** Like `findSubscription`, and locks the row until the transaction ends. */
export async function lockSubscription(
  trx: Trx,
  contactId: number,
  id: number,
): Promise<SubscriptionRow | undefined> {
  return joined(trx)
    .where('s.id', '=', id)
    .where('s.contact_id', '=', contactId)
    .forUpdate('s')
    .executeTakeFirst()
}

/** A subscription with its contact; `average_score` is over the contact's apps, null without an app. */
export async function findSubscriptionWithSubscriber(db: Database, contactId: number, id: number) {
  return joined(db)
    .innerJoin('contacts as c', 'c.id', 's.contact_id')
    .select([
      'c.id as contact_id',
      'c.status as contact_status',
      'c.name as contact_name',
      'c.email as contact_email',
      'c.created_at as contact_created_at',
      'c.last_activity as contact_last_activity',
      averageScore.as('average_score'),
    ])
    .where('s.id', '=', id)
    .where('s.contact_id', '=', contactId)
    .executeTakeFirst()
}

/** Sets the given values; the others stay as they are. */
export async function updateSubscription(
  trx: Trx,
  id: number,
  values: Partial<SubscriptionValues>,
): Promise<void> {
  await trx.updateTable('subscriptions').set(values).where('id', '=', id).execute()
}
