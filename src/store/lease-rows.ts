import { type Kysely, sql } from 'kysely'
import type { Tables } from './tables.ts'

type Db = Kysely<Tables>

export interface Held {
  readonly sync: string
  readonly owner: string
  readonly epoch: number
}

/** A lease that somebody has, as it was renewed last. */
export interface Renewed extends Held {
  /** By the database's clock, to the microsecond. */
  readonly renewedAt: string
}

/** A lease without an owner has no `renewed_at`; one that never expires was renewed at the end of all times. */
const NOW = sql<Date>`clock_timestamp()`
const FOR_EVER = sql<Date>`'infinity'::timestamptz`

/** The lease of a sync, if somebody has it. */
export async function findHeld(db: Db, sync: string): Promise<Renewed | undefined> {
  const { rows } = await sql<Renewed>`SELECT sync, owner, epoch::integer, renewed_at::text AS "renewedAt"
    FROM dirsyncd.leases WHERE sync = ${sync} AND owner IS NOT NULL`.execute(db)
  return rows[0]
}

interface Taking {
  readonly sync: string
  readonly owner: string
  /** Nobody ever takes it over. */
  readonly isForEver?: boolean
  /** Taken over, if it was not renewed since. */
  readonly from?: Renewed | undefined
}

/** Takes the row of a sync and resolves with its new epoch, or undefined when somebody else has it. */
export async function takeRow(db: Db, { sync, owner, isForEver, from }: Taking): Promise<number | undefined> {
  const renewed_at = isForEver === true ? FOR_EVER : NOW
  const row = await db
    .insertInto('dirsyncd.leases')
    .values({ sync, epoch: 1, owner, renewed_at })
    .onConflict((conflict) =>
      conflict
        .column('sync')
        .doUpdateSet({ epoch: sql<number>`dirsyncd.leases.epoch + 1`, owner, renewed_at })
        .where(isFree(from)),
    )
    .returning('epoch')
    .executeTakeFirst()
  return row === undefined ? undefined : Number(row.epoch)
}

function isFree(from: Renewed | undefined) {
  if (from === undefined) return sql<boolean>`dirsyncd.leases.owner IS NULL`
  return sql<boolean>`dirsyncd.leases.owner IS NULL OR dirsyncd.leases.epoch = ${from.epoch}
    AND dirsyncd.leases.renewed_at = ${from.renewedAt}::timestamptz`
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

/** The names of all processes that hold leases. */
export async function leaseOwners(db: Db): Promise<readonly string[]> {
  const query = db.selectFrom('dirsyncd.leases').select('owner').distinct().where('owner', 'is not', null)
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
