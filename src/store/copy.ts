import type { Pool, PoolClient } from 'pg'
import { DirsyncdError } from '../base/errors.ts'

/** Those that others refer to come first; what is in no other table needs no order. */
const FIRST = ['runs', 'notifications']

/** It has its rows already. */
const NOT_COPIED = /^migrations$/

const ROWS_AT_ONCE = 1000

const LOCK_RUNS = 'LOCK TABLE dirsyncd.runs IN EXCLUSIVE MODE'

export interface CopiedTable {
  readonly table: string
  readonly rows: number
}

/**
 * Copies all rows of schema `dirsyncd` from one migrated store to another one that nothing has run in yet, in one
 * transaction: all of it or nothing. `beforeCommit` is called when only the commit is left. Throws `store-unavailable`
 * where the other store is not empty.
 */
export async function copyStore(
  from: Pool,
  to: Pool,
  beforeCommit: () => Promise<void>,
): Promise<readonly CopiedTable[]> {
  const target = await to.connect()
  let broken = false
  try {
    await target.query('BEGIN')
    await requireEmpty(target)
    const copied: CopiedTable[] = []
    for (const table of await tablesOf(from))
      copied.push({ table, rows: await copyTable(from, target, table) })
    await continueNumbers(target)
    await target.query(`UPDATE dirsyncd.leases SET owner = NULL, renewed_at = NULL`)
    await beforeCommit()
    await target.query('COMMIT')
    return copied.filter(({ rows }) => rows > 0)
  } catch (error) {
    await target.query('ROLLBACK').catch(() => (broken = true))
    throw error
  } finally {
    target.release(broken)
  }
}

/** Whether a store has the settings of another one, and so all that it had; waits for a copy that is being committed. */
export async function hasCopyOf(device: string, to: Pool): Promise<boolean> {
  const target = await to.connect()
  try {
    await target.query('BEGIN')
    await target.query(LOCK_RUNS)
    const { rows } = await target.query('SELECT FROM dirsyncd.settings WHERE value = $1', [device])
    return rows.length > 0
  } finally {
    await target.query('ROLLBACK').catch(() => undefined)
    target.release()
  }
}

async function requireEmpty(target: PoolClient): Promise<void> {
  await target.query(LOCK_RUNS)
  const { rows } = await target.query('SELECT FROM dirsyncd.runs LIMIT 1')
  if (rows.length === 0) {
    // What a process makes that only looks into an empty store.
    await target.query('DELETE FROM dirsyncd.settings')
    await target.query('DELETE FROM dirsyncd.leases')
    return
  }
  throw storeHasRuns()
}

export function storeHasRuns(): DirsyncdError {
  return new DirsyncdError(
    'store-unavailable',
    'The store that `store` names has runs already, so nothing was moved into it: name an empty database, or go on with what it has.',
  )
}

async function tablesOf(pool: Pool): Promise<readonly string[]> {
  const { rows } = await pool.query<{ name: string }>(
    `SELECT table_name AS name FROM information_schema.tables
     WHERE table_schema = 'dirsyncd' AND table_type = 'BASE TABLE' ORDER BY table_name`,
  )
  const names = rows.map(({ name }) => name).filter((name) => !NOT_COPIED.test(name))
  return [...FIRST, ...names.filter((name) => !FIRST.includes(name))]
}

/** Through JSON as text, which keeps large numbers, bytes and times as they are. */
async function copyTable(from: Pool, target: PoolClient, table: string): Promise<number> {
  const source = await from.connect()
  let copied = 0
  try {
    await source.query('BEGIN')
    await source.query(
      `DECLARE all_rows CURSOR FOR SELECT to_jsonb(t)::text AS row FROM dirsyncd.${table} AS t`,
    )
    for (;;) {
      const { rows } = await source.query<{ row: string }>(`FETCH ${ROWS_AT_ONCE} FROM all_rows`)
      if (rows.length === 0) break
      await target.query(
        `INSERT INTO dirsyncd.${table} OVERRIDING SYSTEM VALUE
         SELECT * FROM jsonb_populate_recordset(NULL::dirsyncd.${table}, $1::jsonb)`,
        [`[${rows.map(({ row }) => row).join(',')}]`],
      )
      copied += rows.length
    }
    return copied
  } finally {
    await source.query('ROLLBACK').catch(() => undefined)
    source.release()
  }
}

/** Numbers go on where they were. */
async function continueNumbers(target: PoolClient): Promise<void> {
  const { rows } = await target.query<{ table: string; column: string }>(
    `SELECT table_name AS table, column_name AS column FROM information_schema.columns
     WHERE table_schema = 'dirsyncd' AND (is_identity = 'YES' OR column_default LIKE 'nextval(%')`,
  )
  for (const { table, column } of rows)
    await target.query(
      `SELECT setval(pg_get_serial_sequence('dirsyncd.${table}', '${column}'),
         (SELECT COALESCE(max(${column}), 0) + 1 FROM dirsyncd.${table}), false)`,
    )
}
