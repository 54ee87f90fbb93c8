import type { Pool, PoolClient } from 'pg'
import { DirsyncdError } from '../base/errors.ts'

/** Those that refer to others come last. */
const TABLES = `SELECT relname AS table FROM pg_class WHERE relnamespace = 'dirsyncd'::regnamespace AND relkind = 'r'
  AND relname <> 'migrations'
  ORDER BY EXISTS (SELECT FROM pg_constraint WHERE conrelid = pg_class.oid AND contype = 'f'), relname`

/** PostgreSQL takes 256 MB of JSON at once, and a change of a large group has 600 kB. */
const ROWS_AT_ONCE = 100

export interface CopiedTable {
  readonly table: string
  readonly rows: number
}

/** Copies all rows, and the sequences, into tables without rows. Throws where the target has some, or lacks some then. */
export async function copyTables(from: Pool, target: PoolClient): Promise<readonly CopiedTable[]> {
  const { rows: tables } = await from.query<{ table: string }>(TABLES)
  for (const { table } of tables) await requireEmpty(target, table)
  const copied: { table: string; rows: number }[] = []
  for (const { table } of tables) copied.push({ table, rows: await copyRows(from, target, table) })
  const { rows: sequences } =
    await from.query(`SELECT 'dirsyncd.' || sequencename AS name, last_value AS value
    FROM pg_sequences WHERE schemaname = 'dirsyncd' AND last_value IS NOT NULL`)
  for (const { name, value } of sequences) await target.query('SELECT setval($1, $2)', [name, value])
  return copied.filter(({ rows }) => rows > 0)
}

async function requireEmpty(target: PoolClient, table: string): Promise<void> {
  const { rowCount } = await target.query(`SELECT FROM dirsyncd.${table} LIMIT 1`)
  if (rowCount === 0) return
  throw new DirsyncdError(
    'store-unavailable',
    `The store that \`store\` names has rows in its table ${table}, so nothing was moved into it: name an empty database.`,
  )
}

/** Through JSON as text, which keeps large numbers, bytes and times as they are. */
async function copyRows(from: Pool, target: PoolClient, table: string): Promise<number> {
  const source = await from.connect()
  try {
    await source.query(
      `BEGIN; DECLARE c CURSOR FOR SELECT to_jsonb(t)::text AS row FROM dirsyncd.${table} AS t`,
    )
    let rows = 0
    for (;;) {
      const some = (await source.query<{ row: string }>(`FETCH ${ROWS_AT_ONCE} FROM c`)).rows
      if (some.length === 0) break
      await target.query(
        `INSERT INTO dirsyncd.${table} OVERRIDING SYSTEM VALUE
         SELECT * FROM jsonb_populate_recordset(NULL::dirsyncd.${table}, $1::jsonb)`,
        [`[${some.map(({ row }) => row).join(',')}]`],
      )
      rows += some.length
    }
    const { rows: found } = await target.query(`SELECT count(*)::int AS there FROM dirsyncd.${table}`)
    if (found[0].there !== rows) throw new Error(`${found[0].there} of ${rows} rows of ${table} arrived`)
    return rows
  } finally {
    source.release()
  }
}
