import { type Selectable, sql } from 'kysely'
import { type installation, type provider, subscription } from '../../api/contract/subscription.ts'
import { offsetOf, type Page, type PageRequest } from '../http/paging.ts'
import { type Database, SCHEMA, type Tables, type Trx } from './database.ts'

const SUBSCRIPTIONS = sql.id(SCHEMA, 'subscriptions')

/** The columns of a table that the contract has as fields. */
type Columns<Table extends keyof Tables, Shape> = Extract<keyof Shape, keyof Selectable<Tables[Table]>>
type Shown<Table extends keyof Tables, Shape> = Pick<Selectable<Tables[Table]>, Columns<Table, Shape>>

/** A subscription with the installation and the provider behind it: what the API shows of them. */
export type SubscriptionRow = Shown<'subscriptions', typeof subscription.shape> & Behind

interface Behind {
  /** Its time is ISO text. */
  readonly installation: Shown<'installations', typeof installation.shape>
  readonly provider: Shown<'providers', typeof provider.shape>
}

/** A subscription with its contact. */
export type SubscriberRow = NonNullable<Awaited<ReturnType<typeof findSubscriptionWithSubscriber>>>

/** The values of a subscription that its contact may change. */
export interface SubscriptionValues {
  readonly name: string
  readonly favorite: boolean
  readonly position: number
}

const { installation: _, ...OWN } = subscription.shape
const OWN_COLUMNS = Object.keys(OWN) as Columns<'subscriptions', typeof OWN>[]

const averageScore = sql<number | null>`(
  select avg((a.password_strength ->> 'score')::double precision) from ${SUBSCRIPTIONS} a
  where a.contact_id = c.id and a.kind = 'app'
)`

function joined(db: Database) {
  return db
    .selectFrom('subscriptions as s')
    .innerJoin('installations as i', 'i.id', 's.installation_id')
    .innerJoin('providers as p', 'p.id', 'i.provider_id')
    .select(OWN_COLUMNS.map((column) => `s.${column}` as const))
    .select([
      sql<Behind['installation']>`to_jsonb(i)`.as('installation'),
      sql<Behind['provider']>`to_jsonb(p)`.as('provider'),
    ])
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
