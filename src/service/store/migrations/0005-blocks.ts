import { type Kysely, sql } from 'kysely'

/**
 * The number of users and groups of a directory in each block of ids, so that a late page is found without walking over
 * all rows before it. Every write of entries updates it.
 */
export async function createBlocks(db: Kysely<unknown>): Promise<void> {
  await sql`create table access_management.entry_blocks (
    directory_id integer not null references access_management.directories on delete cascade,
    kind text not null,
    block integer not null,
    entries integer not null,
    primary key (directory_id, kind, block)
  )`.execute(db)
  for (const [kind, table] of [
    ['user', 'external_users'],
    ['group', 'external_groups'],
  ] as const) {
    await sql`insert into access_management.entry_blocks (directory_id, kind, block, entries)
      select directory_id, ${sql.lit(kind)}, id / 1024, count(*)
      from ${sql.table(`access_management.${table}`)} group by 1, 2, 3`.execute(db)
  }
}
