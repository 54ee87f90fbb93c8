import { type Expression, type ExpressionBuilder, type Selectable, sql, type SqlBool } from 'kysely'
import type { NewEvent, Origin } from '../events/event.ts'
import type { EventSearch } from '../events/event-filters.ts'
import { offsetOf, type Page, type PageRequest } from '../http/paging.ts'
import { type Database, json, SCHEMA, type Tables, type Trx } from './database.ts'

export type EventRow = Omit<Selectable<Tables['events']>, 'organization_id' | 'actor_id' | 'ip'>

const COLUMNS = [
  'e.id',
  'e.created_at',
  'e.type',
  'e.operation',
  'e.description',
  'e.actor',
  'e.subject',
] as const

const EVENTS = sql.id(SCHEMA, 'events')
const ORGANIZATIONS = sql.id(SCHEMA, 'organizations')

/**
 * Writes events in the transaction of the change that they report, so that both are committed or neither, and counts
 * them. Locks the organization's row until the transaction ends: call this last, after all other locks.
 */
export async function recordEvents(trx: Trx, origin: Origin, events: readonly NewEvent[]): Promise<void> {
  if (events.length === 0) return
  const { organizationId, actor, at } = origin
  const rows = events.map(({ description, subject, ...event }) => ({
    ...event,
    description: { en: description },
    subject,
    group_id: subject?.type === 'group' ? subject.id : null,
  }))
  const counted = await sql`with written as (
    insert into ${EVENTS}
      (organization_id, created_at, type, operation, description, actor, subject, actor_id, subject_group_id, ip)
    select ${organizationId}::integer, ${at}::timestamptz, e.type, e.operation, e.description,
      ${json(actor)}, e.subject, ${actor.id}::integer, e.group_id,
      ${origin.ip}::inet
    from jsonb_to_recordset(${json(rows)})
      as e(type text, operation text, description jsonb, subject jsonb, group_id integer)
  )
  update ${ORGANIZATIONS} set event_count = event_count + ${events.length}
  where id = ${organizationId}`.execute(trx)
  if (counted.numAffectedRows !== 1n) throw new Error('an event of an organization that does not exist')
}

/**
 * A page, the newest first, and the total from the same snapshot. Indexes find the ids of the page, so that only its
 * own events are read; without a filter the total is the stored count.
 */
export async function listEvents(
  db: Database,
  organizationId: number,
  search: EventSearch,
  page: PageRequest,
): Promise<Page<EventRow>> {
  const members = search.groupId === undefined ? [] : await contactsOf(db, organizationId, search.groupId)
  const rows = await db
    .with(
      (cte) => (isInOrder(search) ? cte('found').notMaterialized() : cte('found').materialized()),
      (found) =>
        found
          .selectFrom('events')
          .select(['id', 'created_at'])
          .where('organization_id', '=', organizationId)
          .where((eb) => eb.and(conditions(eb, search, members))),
    )
    .with('shown', (shown) =>
      shown
        .selectFrom('found')
        .select('id')
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc')
        .limit(page.perPage)
        .offset(offsetOf(page)),
    )
    .selectFrom('organizations as o')
    .leftJoin('shown', (join) => join.onTrue())
    .leftJoin('events as e', 'e.id', 'shown.id')
    .select(COLUMNS)
    .select((eb) => {
      const counted = eb.selectFrom('found').select(({ fn }) => fn.countAll<string>().as('count'))
      return (isEmpty(search) ? eb.ref('o.event_count') : counted).as('total')
    })
    .where('o.id', '=', organizationId)
    .orderBy('e.created_at', 'desc')
    .orderBy('e.id', 'desc')
    .execute()
  // Without an event the organization is a row with nulls.
  const items = rows.filter((row): row is typeof row & EventRow => row.id !== null)
  return { items, total: Number(rows[0]?.total ?? 0) }
}

/**
 * Whether an index has the matching events in the order of the list. Otherwise the query collects them first: all of
 * them may be at the end of the order, and walking there takes longer than finding and sorting them.
 */
function isInOrder({ ips, groupId }: EventSearch): boolean {
  return ips === undefined && groupId === undefined
}

function isEmpty(search: EventSearch): boolean {
  return Object.keys(search).length === 0
}

/**
 * Deletes events of an organization from before that time, at most `limit`, and resolves with their number. One
 * organization at a time: two processes that change several would wait for each other.
 */
export async function deleteEventsBefore(
  db: Database,
  organizationId: number,
  before: Date,
  limit: number,
): Promise<number> {
  const deleted = await sql<{ count: number }>`with gone as (
    delete from ${EVENTS} where id in (
      select id from ${EVENTS}
      where organization_id = ${organizationId} and created_at < ${before}
      order by created_at, id limit ${limit}
    ) returning id
  ), counted as (
    select count(*)::integer as count from gone
  )
  update ${ORGANIZATIONS} o set event_count = event_count - counted.count
  from counted where o.id = ${organizationId} and counted.count > 0
  returning counted.count`.execute(db)
  return deleted.rows[0]?.count ?? 0
}

export async function deleteEventsOf(trx: Trx, organizationId: number): Promise<void> {
  await trx.deleteFrom('events').where('organization_id', '=', organizationId).execute()
}

/** Runs before the query of the events: with the ids PostgreSQL can estimate whether their events are many or few. */
async function contactsOf(db: Database, organizationId: number, groupId: number): Promise<number[]> {
  const rows = await db
    .selectFrom('organization_group_contacts as c')
    .innerJoin('organization_groups as g', 'g.id', 'c.group_id')
    .select('c.contact_id')
    .where('g.id', '=', groupId)
    .where('g.organization_id', '=', organizationId)
    .execute()
  return rows.map((row) => row.contact_id)
}

function conditions(
  eb: ExpressionBuilder<Tables, 'events'>,
  { types, from, to, ips, groupId, contactId }: EventSearch,
  members: readonly number[],
): Expression<SqlBool>[] {
  const all: Expression<SqlBool>[] = []
  if (types !== undefined) all.push(types.length === 1 ? eb('type', '=', types[0]!) : eb('type', 'in', types))
  if (from !== undefined) all.push(eb('created_at', '>=', from))
  if (to !== undefined) all.push(eb('created_at', '<=', to))
  if (ips !== undefined) all.push(sql`ip between ${ips.from}::inet and ${ips.to}::inet`)
  if (contactId !== undefined) all.push(eb('actor_id', '=', contactId))
  if (groupId !== undefined) {
    const isActors = sql<SqlBool>`actor_id = any(${members}::integer[])`
    all.push(eb.or([isActors, eb('subject_group_id', '=', groupId)]))
  }
  return all
}
