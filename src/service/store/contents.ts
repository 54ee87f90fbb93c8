import { sql } from 'kysely'
import type { ResourceName } from '../resources/resources.ts'
import { SCHEMA, type Trx } from './database.ts'
import { MEMBERSHIP, STORAGE } from './resource-tables.ts'

type Found = Map<string, Set<number | string>>

/** What removing a resource does besides. */
export interface Removal {
  /** How many of each kind are removed with it, such as `directory user`. */
  readonly contents: ReadonlyMap<string, number>
  /** How many other groups lose a member. */
  readonly groups: number
}

/** Locks those contents that are resources. */
export async function countContents(
  trx: Trx,
  resource: ResourceName,
  ids: readonly number[],
): Promise<Removal> {
  const found: Found = new Map()
  await collectContents(trx, resource, ids, found)
  const { [MEMBERSHIP]: places = new Set(), ...contents } = Object.fromEntries(found)
  const counts = Object.entries(contents).map(([what, all]) => [what, all.size] as const)
  return {
    contents: new Map(counts.filter(([, count]) => count > 0)),
    groups: places.difference(contents['group'] ?? new Set()).size,
  }
}

async function collectContents(
  trx: Trx,
  resource: ResourceName,
  ids: readonly number[],
  found: Found,
): Promise<void> {
  for (const { table, column, key = 'id', what } of STORAGE[resource].contents) {
    const name = sql.id(key)
    const { rows } = await sql<{ id: number | string }>`select ${name} as id from ${sql.id(SCHEMA, table)}
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
