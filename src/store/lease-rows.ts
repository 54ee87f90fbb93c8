import { type Kysely, sql } from 'kysely'
import type { Tables } from './tables.ts'

type Db = Kysely<Tables>

export interface Held {
  readonly sync: string
  readonly owner: string
  readonly epoch: number
}

/** A lease without an owner has no `renewed_at`; one that never expires was renewed at the end of all times. */
const NOW = sql<Date>`clock_timestamp()`
const FOR_EVER = sql<Date>`'infinity'::timestamptz`

/**
 * Takes the row of a sync for an owner and resolves with its new epoch, or undefined when somebody else has it. `expiry`
 * is the age in milliseconds from which on it may be taken over; without one nobody takes it over.
 */
export async function takeRow(
  db: Db,
  { sync, owner, expiry }: { sync: string; owner: string; expiry: number | undefined },
): Promise<number | undefined> {
  const renewed_at = expiry === undefined ? FOR_EVER : NOW
  const row = await db
    .insertInto('dirsyncd.leases')
    .values({ sync, epoch: 1, owner, renewed_at })
    .onConflict((conflict) =>
      conflict
        .column('sync')
        .doUpdateSet({ epoch: sql<number>`dirsyncd.leases.epoch + 1`, owner, renewed_at })
        .where(expiry === undefined ? sql<boolean>`dirsyncd.leases.owner is null` : expired(expiry)),
    )
    .returning('epoch')
    .executeTakeFirst()
  return row === undefined ? undefined : Number(row.epoch)
}

function expired(ms: number) {
  return sql<boolean>`dirsyncd.leases.renewed_at is null
    or dirsyncd.leases.renewed_at < clock_timestamp() - ${ms}::float8 * interval '1 millisecond'`
}

export async function freeRow(db: Db, { sync, owner, epoch }: Held): Promise<void> {
  await db
    .updateTable('dirsyncd.leases')
    .set({ owner: null, renewed_at: null })
    .where('sync', '=', sync)
    .where('owner', '=', owner)
    .where('epoch', '=', String(epoch))
    .execute()
}

/** Frees what a process held that is known to be dead, so that nobody waits for its leases to grow old. */
export async function freeLeasesOf(db: Db, owner: string): Promise<void> {
  await db
    .updateTable('dirsyncd.leases')
    .set({ owner: null, renewed_at: null })
    .where('owner', '=', owner)
    .execute()
}

/** The names of all processes that hold leases, or of the one that holds this sync's. */
export async function leaseOwners(db: Db, sync?: string): Promise<readonly string[]> {
  let query = db.selectFrom('dirsyncd.leases').select('owner').distinct().where('owner', 'is not', null)
  if (sync !== undefined) query = query.where('sync', '=', sync)
  return (await query.execute()).flatMap(({ owner }) => owner ?? [])
}

/** Who holds the lease of a sync, and the run that it works on, if there is one. */
export async function leaseHolder(
  db: Db,
  sync: string,
): Promise<{ readonly owner: string; readonly run: number | undefined } | undefined> {
  const row = await db
    .selectFrom('dirsyncd.leases as l')
    .leftJoin('dirsyncd.runs as r', (join) =>
      join
        .onRef('r.sync', '=', 'l.sync')
        .onRef('r.epoch', '=', 'l.epoch')
        .on('r.finished_at', 'is', null)
        .on('r.state', '!=', 'waiting'),
    )
    .select(['l.owner', 'r.run'])
    .where('l.sync', '=', sync)
    .limit(1)
    .executeTakeFirst()
  return row?.owner == null ? undefined : { owner: row.owner, run: row.run ?? undefined }
}
