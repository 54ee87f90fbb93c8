import { type Expression, type ExpressionBuilder, type Selectable, sql, type SqlBool } from 'kysely'
import type { NewEvent, Origin } from '../event.ts'
import type { EventSearch } from '../event-filters.ts'
import { parseIp } from '../ip-address.ts'
import { offsetOf, type Page, type PageRequest } from '../paging.ts'
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
 * Writes events in the transaction of what they tell of, so that neither is there without the other, and counts them.
 * The organization's row stays locked until the transaction ends: call this last, after every other row was locked.
 */
export async function recordEvents(trx: Trx, origin: Origin, events: readonly NewEvent[]): Promise<void> {
  if (events.length === 0) return
  const { organizationId, actor, at } = origin
  const rows = events.map((event) => ({ ...event, description: { en: event.description } }))
  await sql`with written as (
    insert into ${EVENTS}
      (organization_id, created_at, type, operation, description, actor, subject, actor_id, ip)
    select ${organizationId}::integer, ${at}::timestamptz, e.type, e.operation, e.description,
      ${json(actor)}, e.subject, ${actor.id}::integer, ${parseIp(origin.ip)?.text ?? null}::inet
    from jsonb_to_recordset(${json(rows)})
      as e(type text, operation text, description jsonb, subject jsonb)
  )
  update ${ORGANIZATIONS} set event_count = event_count + ${events.length}
  where id = ${organizationId}`.execute(trx)
}

/**
 * A page, the newest first, and the total from the same snapshot. An index finds the ids of the page, and only its own
 * events are read; without a filter nothing is counted.
 */
export async function listEvents(
  db: Database,
  organizationId: number,
  search: EventSearch,
  page: PageRequest,
): Promise<Page<EventRow>> {
  const members = search.groupId === undefined ? [] : await contactsOf(db, organizationId, search.groupId)
  const found = db
    .selectFrom('events')
    .where('organization_id', '=', organizationId)
    .where((eb) => eb.and(conditions(eb, search, members)))
  const shown = found
    .select('id')
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(page.perPage)
    .offset(offsetOf(page))
  const counted = found.select(({ fn }) => fn.countAll<string>().as('total'))
  const rows = await db
    .selectFrom('organizations as o')
    .leftJoinLateral(shown.as('shown'), (join) => join.onTrue())
    .leftJoin('events as e', 'e.id', 'shown.id')
    .select(COLUMNS)
    .select(({ ref }) => (isEmpty(search) ? ref('o.event_count') : counted).as('total'))
    .where('o.id', '=', organizationId)
    .orderBy('e.created_at', 'desc')
    .orderBy('e.id', 'desc')
    .execute()
  // The organization comes also without an event.
  const items = rows.filter((row) => row.id !== null) as EventRow[]
  return { items, total: Number(rows[0]?.total ?? 0) }
}

function isEmpty(search: EventSearch): boolean {
  return Object.keys(search).length === 0
}

/** The contacts are resolved beforehand, because only then the database knows whether their events are many or few. */
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
    const isSubject = sql<SqlBool>`subject->>'type' = 'group' and (subject->>'id')::integer = ${groupId}`
    all.push(sql`(actor_id = any(${members}::integer[]) or (${isSubject}))`)
  }
  return all
}
