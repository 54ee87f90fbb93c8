import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import type { PasswordStrength } from '../../contract/subscription.ts'
import { MAX_ID } from '../../contract/values.ts'
import type { Removed } from '../fixture/left-out.ts'
import type { Vault } from '../keys/vault.ts'
import { type Estimator, gradeOf } from '../password.ts'
import { type ResourceName, type ResourceValue, resources } from '../resources/resources.ts'
import { resolvePastTime } from '../resources/values.ts'
import { sealCredentials } from './credentials.ts'
import { type Database, json, SCHEMA, type Tables, type Trx } from './database.ts'
import { foldName } from './organization-groups.ts'

/** What writing a resource needs besides the transaction. */
export interface WriteContext {
  readonly vault: Vault
  readonly estimate: Estimator
  readonly now: Date
}

export type Columns = Readonly<Record<string, unknown>>

/** How a resource is stored. */
interface Storage<Name extends ResourceName> {
  readonly table: keyof Tables
  /** The column with the id of what it belongs to. */
  readonly owner?: string
  /** Fields of columns with another name. */
  readonly renamed?: Readonly<Record<string, string>>
  /** Columns of lists and objects, which are JSON. */
  readonly json?: readonly string[]
  /** Columns of times. */
  readonly times?: readonly string[]
  /** Fields that are lists of ids in a table of their own. */
  readonly lists?: Readonly<Record<string, IdList>>
  /** Columns made of the fields, and the fields that have no column. */
  readonly derived?: (value: ResourceValue<Name>, context: WriteContext, before?: Columns) => Columns
  readonly without?: readonly string[]
  /** Columns that a list shows besides the fields. */
  readonly shown?: readonly string[]
  /** What a later import leaves as it is: the contact may have changed it since. */
  readonly kept?: readonly string[]
  /** What goes with it when it is removed. */
  readonly contents: readonly Contents[]
}

interface IdList {
  readonly table: keyof Tables
  readonly column: string
}

interface Contents {
  readonly table: keyof Tables
  readonly column: string
  /** Such as `user`. */
  readonly what: string
}

const TIMES = ['created_at', 'last_activity', 'last_login']
const KEPT = [...TIMES]

const STORAGE: { readonly [Name in ResourceName]: Storage<Name> } = {
  organization: {
    table: 'organizations',
    renamed: { allowedDomains: 'allowed_domains', entityId: 'entity_id' },
    derived: ({ entityId }, { now }, before) => ({
      entity_id: entityId ?? before?.['entity_id'] ?? `urn:uuid:${randomUUID()}`,
      created_at: before?.['created_at'] ?? now,
    }),
    contents: [
      { table: 'contacts', column: 'organization_id', what: 'contact' },
      { table: 'directories', column: 'organization_id', what: 'directory' },
      { table: 'installations', column: 'organization_id', what: 'installation' },
      { table: 'organization_groups', column: 'organization_id', what: 'group' },
    ],
  },
  contact: {
    table: 'contacts',
    owner: 'organization_id',
    times: TIMES,
    kept: KEPT,
    contents: [
      { table: 'tokens', column: 'contact_id', what: 'token' },
      { table: 'subscriptions', column: 'contact_id', what: 'subscription' },
    ],
  },
  directory: {
    table: 'directories',
    owner: 'organization_id',
    renamed: { users: 'user_count', groups: 'group_count' },
    shown: ['users', 'groups'],
    contents: [
      { table: 'external_users', column: 'directory_id', what: 'directory user' },
      { table: 'external_groups', column: 'directory_id', what: 'directory group' },
    ],
  },
  provider: {
    table: 'providers',
    json: ['icons', 'capabilities'],
    contents: [{ table: 'installations', column: 'provider_id', what: 'installation' }],
  },
  installation: {
    table: 'installations',
    owner: 'organization_id',
    renamed: { provider: 'provider_id', serviceProvider: 'service_provider' },
    json: ['labels', 'icons', 'configuration', 'service_provider'],
    times: TIMES,
    kept: KEPT,
    contents: [{ table: 'subscriptions', column: 'installation_id', what: 'subscription' }],
  },
  subscription: {
    table: 'subscriptions',
    owner: 'contact_id',
    renamed: { installation: 'installation_id' },
    json: ['bookmarks', 'permissions', 'password_strength'],
    times: TIMES,
    derived: credentialColumns,
    without: ['credentials'],
    kept: [...KEPT, 'name', 'favorite', 'position', 'credentials'],
    contents: [],
  },
  group: {
    table: 'organization_groups',
    owner: 'organization_id',
    times: TIMES,
    kept: KEPT,
    lists: {
      contacts: { table: 'organization_group_contacts', column: 'contact_id' },
      installations: { table: 'organization_group_installations', column: 'installation_id' },
    },
    derived: ({ name }) => ({ folded_name: foldName(name) }),
    contents: [],
  },
}

/** A vault item has no estimate, because it may have no password. */
const NO_STRENGTH: PasswordStrength = { grade: gradeOf(0), score: 0, crack_time: null }

/** In a vault item every value is a secret, even one with the name "login". */
function credentialColumns(
  { id, kind, name, credentials }: ResourceValue<'subscription'>,
  { vault, estimate }: WriteContext,
): Columns {
  const { login = '', password = '' } = kind === 'app' ? credentials : {}
  return {
    login,
    password_strength: kind === 'app' ? estimate(password, [login, name]) : NO_STRENGTH,
    ...sealCredentials(vault, id, credentials),
  }
}

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

/** What an operator has removed or revoked so far. */
export async function readRemoved(trx: Trx): Promise<Removed> {
  const { rows: gone } = await sql<{ key: string }>`
    select resource || ' ' || id as key from ${sql.id(SCHEMA, 'removed_resources')}`.execute(trx)
  const { rows: tokens } = await sql<{ hash: string }>`
    select hash from ${sql.id(SCHEMA, 'revoked_tokens')}`.execute(trx)
  const keys = new Set(gone.map(({ key }) => key))
  const revoked = new Set(tokens.map(({ hash }) => hash))
  return { has: (resource, id) => keys.has(`${resource} ${id}`), isRevoked: (hash) => revoked.has(hash) }
}

/** A new id for a resource that is locked; no id is given twice. `undefined` where the highest possible one is taken. */
export async function nextId(trx: Trx, resource: ResourceName): Promise<number | undefined> {
  const { rows } = await sql<{ id: string }>`select greatest(
      (select max(id) from ${sql.id(SCHEMA, STORAGE[resource].table)}),
      (select max(id) from ${sql.id(SCHEMA, 'removed_resources')} where resource = ${resource}),
      0
    )::bigint + 1 as id`.execute(trx)
  const id = Number(rows[0]!.id)
  return id > MAX_ID ? undefined : id
}

/** The fields that a later import may change. */
export function importedFields(resource: ResourceName): readonly string[] {
  const { kept = [] }: Storage<never> = STORAGE[resource]
  return Object.keys(resources[resource].schema.shape).filter((field) => !kept.includes(field))
}

interface Selection {
  readonly ids?: readonly number[] | undefined
  readonly ownerId?: number | undefined
  /** Whether requests to the API wait with changing them until the transaction ends. */
  readonly locked?: boolean
}

/** Those with the ids, or all of an owner, or all; by id. */
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
  for (const chunk of chunks(values)) {
    const rows = chunk.map((value) => ({
      ...toColumns(resource, value, context),
      ...(owner !== undefined && { [owner]: ownerId }),
    }))
    await trx.insertInto(table).values(rows).execute()
    for (const value of chunk) await writeLists(trx, resource, value)
  }
}

export async function updateResource<Name extends ResourceName>(
  trx: Trx,
  resource: Name,
  value: ResourceValue<Name>,
  context: WriteContext,
  before: Columns,
): Promise<void> {
  await trx
    .updateTable(STORAGE[resource].table)
    .set(toColumns(resource, value, context, before) as never)
    .where(sql.ref<number>('id'), '=', Number((value as Columns)['id']))
    .execute()
  await writeLists(trx, resource, value)
}

export async function deleteResource(trx: Trx, resource: ResourceName, id: number): Promise<void> {
  await sql`delete from ${sql.id(SCHEMA, STORAGE[resource].table)} where id = ${id}`.execute(trx)
}

/** How many of each go with a resource when it is removed, by what they are; locks those that are resources. */
export async function countContents(
  trx: Trx,
  resource: ResourceName,
  ids: readonly number[],
): Promise<ReadonlyMap<string, number>> {
  const found = new Map<string, Set<number | string>>()
  await collectContents(trx, resource, ids, found)
  const counts = [...found].map(([what, all]) => [what, all.size] as const)
  return new Map(counts.filter(([, count]) => count > 0))
}

async function collectContents(
  trx: Trx,
  resource: ResourceName,
  ids: readonly number[],
  found: Map<string, Set<number | string>>,
): Promise<void> {
  for (const { table, column, what } of STORAGE[resource].contents) {
    const key = sql.id(table === 'tokens' ? 'hash' : 'id')
    const { rows } = await sql<{ id: number | string }>`select ${key} as id from ${sql.id(SCHEMA, table)}
      where ${sql.id(column)} = any(${ids}::integer[]) order by 1
      ${what in STORAGE ? sql`for update` : sql``}`.execute(trx)
    const all = found.get(what) ?? new Set()
    for (const { id } of rows) all.add(id)
    found.set(what, all)
    if (what in STORAGE && rows.length > 0)
      await collectContents(
        trx,
        what as ResourceName,
        rows.map(({ id }) => Number(id)),
        found,
      )
  }
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
