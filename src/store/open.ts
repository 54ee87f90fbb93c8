import { randomUUID } from 'node:crypto'
import { Kysely, PostgresDialect, sql } from 'kysely'
import type { Pool } from 'pg'
import { mayHaveStore } from '../base/database/aside.ts'
import {
  createStoreOutage,
  type DatabaseOptions,
  describeDatabase,
  openPool,
  refuseSecond,
} from '../base/database/open.ts'
import type { Outage } from '../base/database/outage.ts'
import { ownerOf, requireUsable } from '../base/database/owner.ts'
import { createEmbeddedLeases, createServerLeases, type Leases } from './lease.ts'
import { LeaseRenewer } from './lease-renewer.ts'
import {
  emptyStore,
  makeTables,
  mayMakeStore,
  type TableRights,
  tryMigration,
} from '../base/database/make-tables.ts'
import { STORE_TABLES } from './migrations/index.ts'
import type { Db, Tables } from './tables.ts'
import { startVacuum } from './vacuum.ts'

/** A database with its tables. `pool` and `db` reach the same place; disposing the store closes both. */
export type Store = AsyncDisposable & {
  readonly kind: 'embedded' | 'postgres'
  readonly pool: Pool
  readonly db: Db
  readonly leases: Leases
  readonly outage: Outage
}

type StoreOptions = DatabaseOptions & {
  /** `create` if left out. */
  tables?: TableRights
}

/**
 * Opens the store, and makes its tables where it is empty and the process may.
 *
 * @throws DirsyncdError `store-owned` when another process has the data directory, `store-empty`, `store-other-form`, and
 *   `store-unavailable` when the server or the directory cannot be used, or the tables are of a newer version
 */
export async function openStore(options: StoreOptions): Promise<Store> {
  await using stack = new AsyncDisposableStack()
  const outage = createStoreOutage(options.log)
  const rights = options.tables ?? 'create'
  const where = describeDatabase(options)
  if (options.kind === 'embedded' && !mayMakeStore(rights) && (await isWithoutStore(options.dataDir)))
    throw emptyStore(where)
  const pool = await openPool(stack, options, outage)
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
  const withoutIt = 'a new store begins without its history, decisions and grace clocks'
  await makeTables(pool, STORE_TABLES, {
    program: 'dirsyncd',
    where: () => where,
    rights,
    withoutIt,
  })
  if (options.kind === 'embedded') {
    await freeLeases(db)
    stack.use(startVacuum(db, options.log))
  }
  const leases =
    options.kind === 'embedded'
      ? createEmbeddedLeases(db)
      : createServerLeases(db, stack.use(new LeaseRenewer(options, options.log)))
  const owned = stack.move()
  return { kind: options.kind, pool, db, leases, outage, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

/**
 * Tests whether this process may make the tables of an empty store, and those of a queue in it, and leaves nothing behind.
 * Throws the reason why it may not.
 */
export async function tryEmptyStore(
  options: StoreOptions,
  { withQueue }: { readonly withQueue: boolean },
): Promise<void> {
  if (options.kind === 'embedded') return requireUsable(options.dataDir)
  await using stack = new AsyncDisposableStack()
  const pool = await openPool(stack, options)
  await tryMigration(pool, withQueue ? ['dirsyncd', 'bullmq'] : ['dirsyncd'])
}

/** Not while a process has the directory, which may be making the store. */
async function isWithoutStore(dataDir: string): Promise<boolean> {
  refuseSecond(dataDir)
  return !(await mayHaveStore(dataDir)) && (await ownerOf(dataDir)) === undefined
}

/** The only owner has just started, so the holder of a lease is dead. The epochs stay. */
async function freeLeases(db: Db): Promise<void> {
  await db.updateTable('dirsyncd.leases').set({ owner: null, renewed_at: null }).execute()
}

/** The device id that every request carries: made once, kept in the store, the same in every process. */
export async function deviceId(db: Db): Promise<string> {
  await sql`INSERT INTO dirsyncd.settings (name, value) VALUES ('device-id', ${`dirsyncd-${randomUUID()}`})
    ON CONFLICT DO NOTHING`.execute(db)
  const query = db.selectFrom('dirsyncd.settings').select('value').where('name', '=', 'device-id')
  return (await query.executeTakeFirstOrThrow()).value
}
