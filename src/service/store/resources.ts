import { sql } from 'kysely'
import type { Steps } from '../../base/steps.ts'
import { inTurns } from '../../base/turns.ts'
import { MAX_ID } from '../../api/contract/values.ts'
import { type ResourceName, type ResourceValue, resources } from '../resources/resources.ts'
import { resolvePastTime } from '../resources/values.ts'
import { type Database, json, SCHEMA, type Trx } from './database.ts'
import { requireFreeEntityId } from './entity-ids.ts'
import { deleteEventsOf } from './events.ts'
import { type Columns, STORAGE, type Storage, type WriteContext } from './resource-tables.ts'

/** A resource as the store has it: its fields, with the secrets of a subscription left out, and its owner. */
export interface StoredResource {
  readonly id: number
  readonly ownerId: number | undefined
  readonly fields: Columns
  /** For what is not a field. */
  readonly row: Columns
}

/** Any number that no other lock of the database has. */
const LOCK = 5_121_913

/**
 * Lets commands of operators, imports and starting services take turns until the transaction ends. Requests to the API
 * go on meanwhile.
 */
export async function lockResources(trx: Trx): Promise<void> {
  await sql`select pg_advisory_xact_lock(${sql.lit(LOCK)})`.execute(trx)
}

/** The next free id; no id is given twice. Call `lockResources` first. `undefined` where the highest possible one is taken. */
export async function nextId(trx: Trx, resource: ResourceName): Promise<number | undefined> {
  const { rows } = await sql<{ id: string }>`select greatest(
      (select max(id) from ${sql.id(SCHEMA, STORAGE[resource].table)}),
      (select max(id) from ${sql.id(SCHEMA, 'removed_resources')} where resource = ${resource}),
      0
    )::bigint + 1 as id`.execute(trx)
  const id = Number(rows[0]!.id)
  return id > MAX_ID ? undefined : id
}

interface Selection {
  readonly ids?: readonly number[] | undefined
  readonly ownerId?: number | undefined
  /** Whether requests to the API wait with changing them until the transaction ends. */
  readonly locked?: boolean
}

/** Resources ordered by id: all, or those with the ids, or those of an owner. */
export async function selectResources(
  db: Database,
  resource: ResourceName,
  where: Selection = {},
): Promise<StoredResource[]> {
  const { table, owner, lists = {} }: Storage<never> = STORAGE[resource]
  const listed = Object.entries(lists).map(([field, list]) => {
    const ids = sql`select ${sql.id(list.column)} from ${sql.id(SCHEMA, list.table)} where group_id = t.id order by 1`
    return sql`, array(${ids}) as ${sql.id(field)}`
  })
  const conditions = [
    ...(where.ids === undefined ? [] : [sql`t.id = any(${where.ids}::integer[])`]),
    ...(where.ownerId === undefined || owner === undefined
      ? []
      : [sql`t.${sql.id(owner)} = ${where.ownerId}`]),
  ]
  const { rows } = await sql<Columns>`select t.* ${sql.join(listed, sql``)} from ${sql.id(SCHEMA, table)} t
    where ${sql.join([sql`true`, ...conditions], sql` and `)} order by t.id
    ${where.locked === true ? sql`for no key update of t` : sql``}`.execute(db)
  return rows.map((row) => ({
    id: Number(row['id']),
    ownerId: owner === undefined ? undefined : Number(row[owner]),
    fields: toFields(resource, row),
    row,
  }))
}

export async function insertResources<Name extends ResourceName>(
  trx: Trx,
  resource: Name,
  ownerId: number | undefined,
  values: readonly ResourceValue<Name>[],
  context: WriteContext,
): Promise<void> {
  const { table, owner } = STORAGE[resource]
  const own = owner === undefined ? {} : { [owner]: ownerId }
  for (const chunk of chunks(values)) {
    const rows = await inTurns(columnsOfAll(resource, chunk, own, context))
    await trx.insertInto(table).values(rows).execute()
    for (const value of chunk) {
      if (resource === 'organization') await requireFreeEntityId(trx, value)
      await writeLists(trx, resource, value)
    }
  }
}

export async function updateResource<Name extends ResourceName>(
  trx: Trx,
  resource: Name,
  value: ResourceValue<Name>,
  context: WriteContext,
  before: Columns,
): Promise<void> {
  // Organizations of an older store may share an entity id, and the rest of them may change.
  if (resource === 'organization' && (value as Columns)['entityId'] !== before['entity_id'])
    await requireFreeEntityId(trx, value)
  await trx
    .updateTable(STORAGE[resource].table)
    .set(toColumns(resource, value, context, before) as never)
    .where(sql.ref<number>('id'), '=', Number((value as Columns)['id']))
    .execute()
  await writeLists(trx, resource, value)
}

/** The subscriptions that are opened at the address of their installation are from now on opened at its new one. */
export async function moveSubscriptions(
  trx: Trx,
  installationId: number,
  from: string,
  to: string,
): Promise<void> {
  if (from === to) return
  await trx
    .updateTable('subscriptions')
    .set({ launch_url: to })
    .where('installation_id', '=', installationId)
    .where('launch_url', '=', from)
    .execute()
}

export async function deleteResource(trx: Trx, resource: ResourceName, id: number): Promise<void> {
  if (resource === 'organization') await deleteEventsOf(trx, id)
  await sql`delete from ${sql.id(SCHEMA, STORAGE[resource].table)} where id = ${id}`.execute(trx)
}

/** One value at a time: the estimate of a long password takes 10 ms. */
function* columnsOfAll<Name extends ResourceName>(
  resource: Name,
  values: readonly ResourceValue<Name>[],
  own: Columns,
  context: WriteContext,
): Steps<Columns[]> {
  const rows: Columns[] = []
  for (const value of values) {
    rows.push({ ...toColumns(resource, value, context), ...own })
    yield
  }
  return rows
}

/** The columns of a value. */
function toColumns<Name extends ResourceName>(
  resource: Name,
  value: ResourceValue<Name>,
  context: WriteContext,
  before?: Columns,
): Columns {
  const storage: Storage<Name> = STORAGE[resource]
  const { renamed = {}, lists = {}, without = [], times = [] } = storage
  const { shape } = resources[resource].schema
  const fields = Object.entries(value as Columns).filter(([field]) => {
    return field in shape && !(field in lists) && !without.includes(field)
  })
  const columns: Record<string, unknown> = Object.fromEntries(
    fields.map(([field, of]) => [renamed[field] ?? field, of]),
  )
  for (const time of times) {
    const written = columns[time]
    if (typeof written === 'string') columns[time] = resolvePastTime(written, context.now)
  }
  const all = { ...columns, ...storage.derived?.(value, context, before) }
  return Object.fromEntries(
    Object.entries(all).map(([column, of]) => {
      const isJson = storage.json?.includes(column) === true && of !== undefined
      return [column, isJson ? json(of) : (of ?? null)]
    }),
  )
}

/** The fields of a row that are not null. */
function toFields(resource: ResourceName, row: Columns): Columns {
  const { renamed = {}, shown = [], without = [] }: Storage<never> = STORAGE[resource]
  const names = [...Object.keys(resources[resource].schema.shape), ...shown].filter(
    (field) => !without.includes(field),
  )
  return Object.fromEntries(
    names.flatMap((field) => {
      const of = row[renamed[field] ?? field]
      if (of === null || of === undefined) return []
      return [[field, of instanceof Date ? of.toISOString() : of]]
    }),
  )
}

/** Sets the ids of each list of a value. */
async function writeLists(trx: Trx, resource: ResourceName, value: Columns): Promise<void> {
  const { lists = {} }: Storage<never> = STORAGE[resource]
  for (const [field, { table, column }] of Object.entries(lists)) {
    const ids = value[field] as readonly number[]
    const name = sql.id(SCHEMA, table)
    const id = sql.id(column)
    await sql`delete from ${name} where group_id = ${value['id']} and ${id} <> all(${ids}::integer[])`.execute(
      trx,
    )
    await sql`insert into ${name} (group_id, ${id}) select ${value['id']}::integer, unnest(${ids}::integer[])
      on conflict do nothing`.execute(trx)
  }
}

/** Rows of one insert; PostgreSQL takes 65,535 parameters. */
const CHUNK = 1000

function* chunks<Row>(rows: readonly Row[]): Generator<readonly Row[]> {
  for (let at = 0; at < rows.length; at += CHUNK) yield rows.slice(at, at + CHUNK)
}
