import { sql } from 'kysely'
import { type Database, SCHEMA, type Trx } from './database.ts'

/** A column whose values the vault seals, each for its `purposeOf`; `key_id` beside it names the key. */
export interface SealedColumn {
  readonly table: 'subscriptions' | 'signing_keys'
  readonly value: 'credentials' | 'private_key'
}

/** Everything in the store that is sealed. */
export const SEALED_COLUMNS: readonly SealedColumn[] = [
  { table: 'subscriptions', value: 'credentials' },
  { table: 'signing_keys', value: 'private_key' },
]

const PURPOSES = { subscriptions: 'subscription', signing_keys: 'identity-provider' } as const

/** What the sealed value of a row is bound to, such as `subscription:7`. */
export function purposeOf(table: SealedColumn['table'], id: number): string {
  return `${PURPOSES[table]}:${id}`
}

export interface SealedValue {
  readonly id: number
  readonly keyId: string
  readonly sealed: string
}

/** For each key in use, the first and the last value by id. */
export async function sampleSealed(db: Database, column: SealedColumn): Promise<SealedValue[]> {
  const { table, id } = partsOf(column)
  const samples = sql`select min(${id}) from ${table} group by key_id union select max(${id}) from ${table} group by key_id`
  const { rows } = await selectSealed(column, sql`${id} in (${samples})`).execute(db)
  return rows
}

/** The first ids above `after` whose values are sealed with another key than `keyId`, at most `limit`. */
export async function findSealedWithOtherKey(
  db: Database,
  column: SealedColumn,
  keyId: string,
  { after, limit }: { readonly after: number; readonly limit: number },
): Promise<number[]> {
  const { table, id } = partsOf(column)
  const { rows } = await sql<{ id: number }>`select ${id} as id from ${table}
    where ${id} > ${after} and key_id <> ${keyId} order by ${id} limit ${limit}`.execute(db)
  return rows.map((row) => row.id)
}

/** Those values that are still sealed with another key than `keyId`, locked until the transaction ends. */
export async function lockSealedWithOtherKey(
  trx: Trx,
  column: SealedColumn,
  keyId: string,
  ids: readonly number[],
): Promise<SealedValue[]> {
  const { id } = partsOf(column)
  const condition = sql`${id} = any(${ids}::integer[]) and key_id <> ${keyId}`
  const { rows } = await sql<SealedValue>`${selectSealed(column, condition)} for update`.execute(trx)
  return rows
}

/** Writes values that were sealed with the key `keyId`. */
export async function updateSealed(
  trx: Trx,
  column: SealedColumn,
  keyId: string,
  values: readonly { readonly id: number; readonly sealed: string }[],
): Promise<void> {
  const { table, id, value } = partsOf(column)
  const ids = values.map((each) => each.id)
  const texts = values.map((each) => each.sealed)
  await sql`update ${table} as t set ${value} = n.sealed, key_id = ${keyId}
    from unnest(${ids}::integer[], ${texts}::text[]) as n (id, sealed)
    where t.${id} = n.id`.execute(trx)
}

/** The ids of all keys in use. */
export async function usedKeyIds(db: Database): Promise<string[]> {
  const ids = new Set<string>()
  for (const column of SEALED_COLUMNS) {
    const { table } = partsOf(column)
    const { rows } = await sql<{ keyId: string }>`select distinct key_id as "keyId" from ${table}`.execute(db)
    for (const { keyId } of rows) ids.add(keyId)
  }
  return [...ids]
}

function selectSealed(column: SealedColumn, condition: ReturnType<typeof sql>) {
  const { table, id, value } = partsOf(column)
  return sql<SealedValue>`select ${id} as id, key_id as "keyId", ${value} as sealed
    from ${table} where ${condition} order by ${id}`
}

function partsOf(column: SealedColumn) {
  return { table: sql.id(SCHEMA, column.table), id: sql.id('id'), value: sql.id(column.value) }
}
