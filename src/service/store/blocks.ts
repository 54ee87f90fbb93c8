import { sql } from 'kysely'
import { offsetOf, type PageRequest } from '../http/paging.ts'
import { SCHEMA, type Trx } from './database.ts'

/**
 * Pages of a directory's entries are asked for by number, and an offset of a million rows is a million rows to walk
 * over. So it is counted how many entries of a directory have an id in each block of ids; a page is found by adding up
 * the blocks before it, and the walk begins in its own block.
 */

/** Ids in a block. A larger one means longer walks, a smaller one more blocks to add up. */
const BLOCK = 1024

export type EntryKind = 'user' | 'group'

const COUNTERS = { user: 'user_count', group: 'group_count' } as const

/** Counts entries of a directory that `writeDirectory` holds, in its blocks and in its total. */
export async function countEntries(
  trx: Trx,
  directoryId: number,
  kind: EntryKind,
  ids: readonly number[],
  sign: 1 | -1,
): Promise<void> {
  const blocks = new Map<number, number>()
  for (const id of ids) {
    const block = Math.floor(id / BLOCK)
    blocks.set(block, (blocks.get(block) ?? 0) + sign)
  }
  const rows = [...blocks].map(([block, entries]) => ({ directory_id: directoryId, kind, block, entries }))
  const counter = COUNTERS[kind]
  await trx
    .with('counted', (db) =>
      db
        .updateTable('directories')
        .set((eb) => ({ [counter]: eb(counter, '+', sign * ids.length) }))
        .where('id', '=', directoryId),
    )
    .insertInto('entry_blocks')
    .values(rows)
    .onConflict((conflict) =>
      conflict
        .columns(['directory_id', 'kind', 'block'])
        .doUpdateSet((eb) => ({ entries: eb('entry_blocks.entries', '+', eb.ref('excluded.entries')) })),
    )
    .execute()
}

/**
 * The block of a directory `d` in which a page begins: the first id of the block, and how many entries to pass over from
 * there. No row where the page lies behind the end. There is one at most; said aloud (`limit`), or PostgreSQL expects
 * hundreds, and compiles the query (JIT) for longer than it takes.
 */
export function startOfPage(kind: EntryKind, page: PageRequest) {
  const offset = offsetOf(page)
  return sql<{ first_id: number; pass: number }>`(
    select block * ${sql.lit(BLOCK)} as first_id, (${offset}::bigint - before)::bigint as pass
    from (
      select block, entries, sum(entries) over (order by block) - entries as before
      from ${sql.id(SCHEMA, 'entry_blocks')}
      where directory_id = d.id and kind = ${sql.lit(kind)}
    ) blocks
    where before <= ${offset}::bigint and before + entries > ${offset}::bigint
    limit 1
  )`
}
