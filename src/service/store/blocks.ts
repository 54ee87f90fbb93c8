import { sql } from 'kysely'
import { offsetOf, type PageRequest } from '../http/paging.ts'
import { SCHEMA, type Trx } from './database.ts'

/**
 * Clients ask for a page by its number, and PostgreSQL walks over every row of an offset, which may be a million rows.
 * So the store counts the entries of a directory in each block of ids. A query adds up the blocks before the page, and
 * skips rows only within the block in which the page begins.
 */

/** Ids in a block. A larger one means longer walks, a smaller one more blocks to add up. */
const BLOCK = 1024

export type EntryKind = 'user' | 'group'

const COUNTERS = { user: 'user_count', group: 'group_count' } as const

/** Takes a deleted entry off the total and the block of a directory that `writeDirectory` locks. */
export async function uncountEntry(
  trx: Trx,
  directoryId: number,
  kind: EntryKind,
  id: number,
): Promise<void> {
  const counter = COUNTERS[kind]
  await trx
    .with('counted', (db) =>
      db
        .updateTable('directories')
        .set((eb) => ({ [counter]: eb(counter, '-', 1) }))
        .where('id', '=', directoryId),
    )
    .updateTable('entry_blocks')
    .set((eb) => ({ entries: eb('entries', '-', 1) }))
    .where('directory_id', '=', directoryId)
    .where('kind', '=', kind)
    .where('block', '=', Math.floor(id / BLOCK))
    .execute()
  await trx
    .deleteFrom('entry_blocks')
    .where('directory_id', '=', directoryId)
    .where('kind', '=', kind)
    .where('entries', '=', 0)
    .execute()
}

/**
 * The block of the directory `d` in which a page begins: the first id of the block, and how many entries to skip from
 * there. No row for a page past the end. The `limit` tells PostgreSQL that there is at most one row; without it
 * PostgreSQL expects hundreds, and compiling the query (JIT) takes longer than running it.
 */
export function startOfPage(kind: EntryKind, page: PageRequest) {
  const offset = offsetOf(page)
  return sql<{ first_id: number; skip: number }>`(
    select block * ${sql.lit(BLOCK)} as first_id, (${offset}::bigint - before)::bigint as skip
    from (
      select block, entries, sum(entries) over (order by block) - entries as before
      from ${sql.id(SCHEMA, 'entry_blocks')}
      where directory_id = d.id and kind = ${sql.lit(kind)}
    ) blocks
    where before <= ${offset}::bigint and before + entries > ${offset}::bigint
    limit 1
  )`
}
