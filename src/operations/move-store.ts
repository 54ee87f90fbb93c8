import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import type { Pool, PoolClient } from 'pg'
import { DirsyncdError } from '../base/errors.ts'
import type { Log } from '../base/log/log.ts'
import { hasEmbeddedStore, lastAside, movingPlace, newAside } from '../base/database/aside.ts'
import { openEmbeddedPool } from '../base/database/embedded.ts'
import { deviceId, openStore } from '../store/open.ts'

interface MovedStore {
  /** Empty where all was moved before, or the answer to the commit was lost. */
  readonly tables: readonly CopiedTable[]
  /** Where the files of the embedded store are now. */
  readonly kept: string
}

/**
 * Copies the embedded store of `dataDir`, which the caller owns, into an empty one in one transaction, and puts its files
 * aside: before the commit, so that at no moment both could be opened. A move that was killed is made good by the next one.
 */
export async function moveInto(to: Pool, dataDir: string, log: Log): Promise<MovedStore> {
  const tables = (await wasMoved(to, dataDir)) ? [] : await copyAll(to, dataDir, log)
  const aside = lastAside(dataDir) ?? ''
  if (aside !== movingPlace(dataDir)) return { tables, kept: aside }
  const kept = newAside(dataDir)
  await rename(aside, kept)
  return { tables, kept }
}

/** Whether a move before this one was committed. If not, its files are put back. */
async function wasMoved(to: Pool, dataDir: string): Promise<boolean> {
  const aside = lastAside(dataDir)
  if (hasEmbeddedStore(dataDir) || aside === undefined) return false
  const device = await deviceOf(aside)
  if (await alone(to, (target) => hasCopyOf(device, target))) return true
  if (aside !== movingPlace(dataDir)) throw movedElsewhere(aside, join(dataDir, 'store'))
  await rename(aside, join(dataDir, 'store'))
  return false
}

async function deviceOf(aside: string): Promise<string | undefined> {
  await using pool = await openEmbeddedPool(aside)
  return (await pool.query(`SELECT value FROM dirsyncd.settings WHERE name = 'device-id'`)).rows[0]?.value
}

/** Works in a transaction that begins no sooner than one that is being committed has ended. */
async function alone<T>(to: Pool, work: (target: PoolClient) => Promise<T>): Promise<T> {
  const target = await to.connect()
  try {
    await target.query('BEGIN; LOCK TABLE dirsyncd.runs IN EXCLUSIVE MODE')
    return await work(target)
  } finally {
    // Closes the connection, and so takes back what is not committed.
    target.release(true)
  }
}

/** By the device id of the store. Throws where the other one has runs, and is no copy. */
async function hasCopyOf(device: string | undefined, target: PoolClient): Promise<boolean> {
  const { rowCount: copies } = await target.query('SELECT FROM dirsyncd.settings WHERE value = $1', [device])
  const { rowCount: runs } = await target.query('SELECT FROM dirsyncd.runs LIMIT 1')
  if (copies === 1 || runs === 0) return copies === 1
  throw storeHasRuns()
}

function movedElsewhere(aside: string, store: string): DirsyncdError {
  return new DirsyncdError(
    'store-unavailable',
    `The embedded store was moved already, and not into the database that \`store\` names: name the one that it was moved ` +
      `into, or, to move the old files in ${aside} once more, rename them to ${store}.`,
  )
}

function storeHasRuns(): DirsyncdError {
  return new DirsyncdError(
    'store-unavailable',
    'The store that `store` names has runs already, so nothing was moved into it: name an empty database, or go on with what it has.',
  )
}

async function copyAll(to: Pool, dataDir: string, log: Log): Promise<readonly CopiedTable[]> {
  await using stack = new AsyncDisposableStack()
  const from = stack.use(await openStore({ kind: 'embedded', dataDir, isOwned: true, log }))
  const device = await deviceId(from.db)
  try {
    return await alone(to, async (target) => {
      if (await hasCopyOf(device, target)) throw storeHasRuns()
      // What a process makes that only looks into an empty store.
      await target.query('DELETE FROM dirsyncd.settings; DELETE FROM dirsyncd.leases')
      const tables = await copyTables(from.pool, target)
      await stack.disposeAsync()
      await rename(join(dataDir, 'store'), movingPlace(dataDir))
      await target.query('COMMIT')
      return tables
    })
  } catch (error) {
    // Nobody knows what became of a commit whose connection broke; the server does.
    if (hasEmbeddedStore(dataDir) || !(await wasMoved(to, dataDir))) throw error
    return []
  }
}

/** Those that refer to others come last. */
const TABLES = `SELECT relname AS table FROM pg_class WHERE relnamespace = 'dirsyncd'::regnamespace AND relkind = 'r'
  AND relname <> 'migrations'
  ORDER BY EXISTS (SELECT FROM pg_constraint WHERE conrelid = pg_class.oid AND contype = 'f'), relname`

/** PostgreSQL takes 256 MB of JSON at once, and a change of a large group has 600 kB. */
const ROWS_AT_ONCE = 100

interface CopiedTable {
  readonly table: string
  readonly rows: number
}

/** Copies all rows, and the sequences, into tables without rows. Throws where the target has some, or lacks some then. */
async function copyTables(from: Pool, target: PoolClient): Promise<readonly CopiedTable[]> {
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
