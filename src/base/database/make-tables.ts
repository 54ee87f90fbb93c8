import { createHash } from 'node:crypto'
import type { Pool, PoolClient } from 'pg'
import { DirsyncdError } from '../errors.ts'
import { type MadeTables, requireWrites, withRights } from './rights.ts'

/** An arbitrary number that no other program locks. While one process makes tables, the others wait. */
const MIGRATION_LOCK = 7_347_731

/**
 * - `upgrade` (a daemon): makes the tables of an empty store, and upgrades an older queue in the store
 * - `create`: makes the tables of an empty store
 * - `queue`: makes only the tables of a queue
 * - `keep`: makes none
 */
export type TableRights = 'upgrade' | 'create' | 'queue' | 'keep'

export function mayMakeStore(rights: TableRights): boolean {
  return rights === 'upgrade' || rights === 'create'
}

/**
 * The tables of a program, in a schema of their own: SQL texts by name, in their order. Before 1.0.0 the first one is
 * edited in place; from then on a change of the tables is a new text at the end, and `missingMigrations` must decide which
 * process may run it on a store that is not empty.
 */
interface Tables {
  readonly schema: string
  readonly migrations: Readonly<Record<string, string>>
}

interface Opening {
  readonly program: 'dirsyncd' | 'access-service'
  /** Names the store, as the beginning of a sentence. */
  readonly where: MadeTables['where']
  readonly rights: TableRights
  /** What an operator loses with the store, or does to have it again, as the end of a sentence. */
  readonly withoutIt: string
}

/**
 * Makes the tables of an empty store, where the process may. Several processes may do so at once: one works, the others
 * wait. Throws `store-empty`, `store-other-form`, and `store-unavailable` for a newer store and where the user of the
 * database may not.
 */
export function makeTables(pool: Pool, tables: Tables, opening: Opening): Promise<void> {
  const isEmpty = async () => (await readState(pool, tables.schema)).isEmpty
  return withRights(pool, { where: opening.where, isEmpty }, async () => {
    if ((await missingMigrations(pool, tables, opening)).length > 0)
      await withMigrationLock(pool, async (client) => {
        await client.query('begin')
        // Another process may have made them meanwhile, or another part of this one: an embedded store has one session.
        await runMigrations(client, tables, await missingMigrations(client, tables, opening))
        await client.query('commit')
      })
    await requireWrites(pool, tables.schema)
  })
}

async function runMigrations(
  client: PoolClient,
  { schema, migrations }: Tables,
  names: readonly string[],
): Promise<void> {
  await client.query(`create schema if not exists ${schema}`)
  await client.query(
    `create table if not exists ${schema}.migrations (name text primary key, hash text not null)`,
  )
  for (const name of names) {
    const text = migrations[name] ?? ''
    await client.query(text)
    await client.query(`insert into ${schema}.migrations values ($1, $2)`, [name, hashOf(text)])
  }
}

function hashOf(migration: string): string {
  return createHash('sha256').update(migration).digest('hex')
}

/** Throws where the process may not make them, or not use what is there. */
async function missingMigrations(
  db: Pool | PoolClient,
  { schema, migrations }: Tables,
  { program, where, rights, withoutIt }: Opening,
): Promise<readonly string[]> {
  const { database, isEmpty, made } = await readState(db, schema)
  const texts = Object.entries(migrations)
  if (isEmpty && !mayMakeStore(rights)) throw emptyStore(where(database))
  if (isEmpty) return texts.map(([name]) => name)
  if (texts.some(([name, text]) => made.get(name) !== hashOf(text)))
    throw otherForm(where(database), program, withoutIt)
  const newer = [...made.keys()].find((name) => !(name in migrations))
  if (newer !== undefined) throw newerStore(where(database), program, newer)
  return []
}

interface State {
  readonly database: string
  readonly isEmpty: boolean
  /** The hash of each migration by its name. */
  readonly made: ReadonlyMap<string, unknown>
}

async function readState(db: Pool | PoolClient, schema: string): Promise<State> {
  const { rows } = await db.query<{ database: string; isEmpty: boolean; isListed: boolean }>(
    `select current_database() as database, to_regclass($1 || '.migrations') is not null as "isListed",
      not exists (select from pg_tables where schemaname = $1) as "isEmpty"`,
    [schema],
  )
  const { database, isEmpty, isListed } = rows[0]!
  const made = isListed ? await db.query(`select * from ${schema}.migrations`) : { rows: [] }
  return { database, isEmpty, made: new Map(made.rows.map(({ name, hash }) => [name, hash])) }
}

/** This version cannot know what the tables of a newer one mean. */
function newerStore(where: string, program: string, name: string): DirsyncdError {
  return new DirsyncdError(
    'store-unavailable',
    `${where} was last used by a newer ${program} (its tables have step ${name}, which this version does not know). ` +
      'Install that version or a newer one.',
  )
}

function otherForm(where: string, program: string, withoutIt: string): DirsyncdError {
  return new DirsyncdError(
    'store-other-form',
    `${where} has the tables of another build of ${program}, and no store is upgraded before 1.0.0: name a new dataDir or ` +
      `database in the configuration, or remove this store; ${withoutIt}.`,
  )
}

export function emptyStore(where: string): DirsyncdError {
  return new DirsyncdError(
    'store-empty',
    `${where} is empty; the first dirsyncd start, sync or plan makes its tables.`,
  )
}

/** Makes a table in each schema and takes it back. Throws what the server says where this user may not. */
export async function tryMigration(pool: Pool, schemas: readonly string[]): Promise<void> {
  await withMigrationLock(pool, async (client) => {
    await client.query('begin')
    for (const schema of schemas) {
      await client.query(`create schema if not exists ${schema}`)
      await client.query(`create table ${schema}.tried ()`)
    }
    await client.query('rollback')
  })
}

/**
 * Changes schemas on a client of its own, one process after the other. The lock is taken outside of any transaction: a
 * transaction that began before the wait would not see the schema that another process made meanwhile.
 */
export async function withMigrationLock(
  pool: Pool,
  work: (client: PoolClient) => Promise<unknown>,
): Promise<void> {
  const client = await pool.connect()
  let failed: unknown
  try {
    await client.query('select pg_advisory_lock($1)', [MIGRATION_LOCK])
    await work(client)
    await client.query('select pg_advisory_unlock($1)', [MIGRATION_LOCK])
  } catch (error) {
    failed = error
    throw error
  } finally {
    // A connection that still holds the lock is closed, which frees it.
    client.release(failed !== undefined)
  }
}
