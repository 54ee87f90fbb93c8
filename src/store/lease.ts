import { type Kysely, sql } from 'kysely'
import type { Tables } from './tables.ts'

/** The right to run a sync. Disposing it frees the sync for the next taker; the epoch is never used again. */
export type Lease = AsyncDisposable & {
  readonly sync: string
  /** Higher than that of every lease on this sync before. */
  readonly epoch: number
  /** Aborted when somebody else has the sync, or when the lease could not be renewed before others may take it. */
  readonly signal: AbortSignal
}

/** Milliseconds. `expiry` is the age, by the database's clock, from which on a lease may be taken over. */
export type LeaseTimes = { readonly expiry: number; readonly renewal: number }

/**
 * Takes the lease of a sync for `owner`, which must name this process and nobody else, and renews it until it is
 * disposed or lost. Resolves with undefined when somebody else has it.
 */
export async function takeLease(
  db: Kysely<Tables>,
  sync: string,
  owner: string,
  times: LeaseTimes,
): Promise<Lease | undefined> {
  const asked = performance.now()
  const row = await db
    .insertInto('dirsyncd.leases')
    .values({ sync, epoch: 1, owner, renewed_at: sql<Date>`clock_timestamp()` })
    .onConflict((conflict) =>
      conflict
        .column('sync')
        .doUpdateSet({
          epoch: sql<number>`dirsyncd.leases.epoch + 1`,
          owner,
          renewed_at: sql<Date>`clock_timestamp()`,
        })
        .where(expired(times)),
    )
    .returning('epoch')
    .executeTakeFirst()
  if (row === undefined) return undefined
  return keep(db, { sync, owner, epoch: Number(row.epoch) }, times, asked)
}

function expired({ expiry }: LeaseTimes) {
  return sql<boolean>`dirsyncd.leases.renewed_at is null
    or dirsyncd.leases.renewed_at < clock_timestamp() - ${expiry}::float8 * interval '1 millisecond'`
}

type Held = { readonly sync: string; readonly owner: string; readonly epoch: number }

function keep(db: Kysely<Tables>, held: Held, times: LeaseTimes, asked: number): Lease {
  const lost = new AbortController()
  /** Counted from before the question was sent, with a reserve: ours must end before another one may begin. */
  const patience = times.expiry * 0.9
  const left = (since: number) => Math.max(0, since + patience - performance.now())
  let deadline = setTimeout(lose, left(asked))
  let next = setTimeout(renewAndGoOn, times.renewal)

  function lose(): void {
    stop()
    lost.abort(new Error('the lease is lost'))
  }

  function stop(): void {
    clearTimeout(deadline)
    clearTimeout(next)
  }

  function renewAndGoOn(): void {
    const sent = performance.now()
    renew(db, held).then(
      (ours) => (ours ? goOn(sent) : lose()),
      // The store is away: ask again soon, until the deadline says that it is too late.
      () => plan(times.renewal / 4),
    )
  }

  function goOn(sent: number): void {
    if (lost.signal.aborted) return
    clearTimeout(deadline)
    deadline = setTimeout(lose, left(sent))
    plan(times.renewal)
  }

  let disposed = false
  function plan(ms: number): void {
    if (!disposed && !lost.signal.aborted) next = setTimeout(renewAndGoOn, ms)
  }

  async function dispose(): Promise<void> {
    disposed = true
    stop()
    // Not worth an error: what is not freed now is taken over when it is old enough.
    await free(db, held).catch(() => undefined)
  }

  return { sync: held.sync, epoch: held.epoch, signal: lost.signal, [Symbol.asyncDispose]: dispose }
}

async function renew(db: Kysely<Tables>, { sync, owner, epoch }: Held): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('dirsyncd.leases')
    .set({ renewed_at: sql<Date>`clock_timestamp()` })
    .where('sync', '=', sync)
    .where('owner', '=', owner)
    .where('epoch', '=', String(epoch))
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

/** Frees what a process held that is known to be dead, so that nobody waits for its leases to grow old. */
export async function freeLeasesOf(db: Kysely<Tables>, owner: string): Promise<void> {
  await db
    .updateTable('dirsyncd.leases')
    .set({ owner: null, renewed_at: null })
    .where('owner', '=', owner)
    .execute()
}

async function free(db: Kysely<Tables>, { sync, owner, epoch }: Held): Promise<void> {
  await db
    .updateTable('dirsyncd.leases')
    .set({ owner: null, renewed_at: null })
    .where('sync', '=', sync)
    .where('owner', '=', owner)
    .where('epoch', '=', String(epoch))
    .execute()
}
