import { sql } from 'kysely'
import { LeaseClock, now } from './lease-clock.ts'
import type { LeaseRenewer } from './lease-renewer.ts'
import type { Held } from './lease-thread.ts'
import { isCertainlyDead } from '../base/database/process-name.ts'
import type { Db } from './tables.ts'

/** The right to run a sync. Disposing it frees the sync for the next taker; the epoch is never used again. */
export type Lease = AsyncDisposable & {
  readonly sync: string
  /** Higher than that of every lease on this sync before. */
  readonly epoch: number
  /** Aborted when somebody else has the sync, or when the lease could not be renewed before others may take it. */
  readonly signal: AbortSignal
}

/** Milliseconds. */
export type LeaseTimes = {
  /** A lease that was not renewed for so long, while somebody looked, may be taken over. */
  readonly expiry: number
  readonly renewal: number
  /** A process whose event loop has not turned for so long loses its leases. */
  readonly blocked: number
}

export interface Leases {
  /**
   * Takes the lease of a sync for `owner`, which must name this process and nobody else, and keeps it until it is
   * disposed or lost. Resolves with undefined when somebody else has it; a taker that waits for a lease that is not
   * renewed any more asks again and again.
   */
  take(sync: string, owner: string, times: LeaseTimes): Promise<Lease | undefined>
}

/**
 * The leases of an embedded store: the process that opened it owns them all, so they neither expire nor need to be
 * renewed. Opening the store frees what the last owner held.
 */
export function createEmbeddedLeases(db: Db): Leases {
  const unfreed = new Set<Held>()

  async function free(held: Held): Promise<void> {
    await freeRow(db, held)
    unfreed.delete(held)
  }

  async function take(sync: string, owner: string): Promise<Lease | undefined> {
    for (const held of unfreed) await free(held)
    const epoch = await takeRow(db, { sync, owner, isForEver: true })
    if (epoch === undefined) return undefined
    const held = { sync, owner, epoch }
    return {
      sync,
      epoch,
      signal: new AbortController().signal,
      async [Symbol.asyncDispose]() {
        unfreed.add(held)
        // A full disk, say: the next taker frees it first.
        await free(held).catch(() => undefined)
      },
    }
  }
  return { take }
}

/** The leases of a PostgreSQL server, which processes of several machines want. A thread renews them. */
export function createServerLeases(db: Db, renewer: LeaseRenewer): Leases {
  const watch = new RenewalWatch()

  async function take(sync: string, owner: string, times: LeaseTimes): Promise<Lease | undefined> {
    await renewer.start()
    const held = await findHeld(db, sync)
    if (held !== undefined && !isCertainlyDead(held.owner) && watch.sinceRenewal(held) < times.expiry)
      return undefined
    const asked = now()
    const epoch = await takeRow(db, { sync, owner, from: held })
    return epoch === undefined ? undefined : keep(db, renewer, { sync, owner, epoch }, times, asked)
  }
  return { take }
}

/**
 * Frees what processes of this machine held that are certainly dead, and what one held that is known to have `died`, so
 * that nobody waits for their leases to grow old.
 */
export async function freeDeadLeases(db: Db, died?: string): Promise<void> {
  const owners = await db.selectFrom('dirsyncd.leases').select('owner').distinct().execute()
  const dead = owners.filter(({ owner }) => owner !== null && (owner === died || isCertainlyDead(owner)))
  for (const { owner } of dead)
    await sql`UPDATE dirsyncd.leases SET owner = NULL, renewed_at = NULL WHERE owner = ${owner}`.execute(db)
}

/**
 * How long leases of others were not renewed, by the clock of this process that nobody sets. The database's own clock
 * may be set: back, and a dead process would keep its lease; ahead, and a living one would lose it.
 */
class RenewalWatch {
  readonly #seen = new Map<string, { readonly held: Renewed; readonly since: number }>()

  /** Milliseconds, from the first look that saw this renewal. */
  sinceRenewal(held: Renewed): number {
    const before = this.#seen.get(held.sync)
    const isRenewed = before?.held.epoch !== held.epoch || before.held.renewedAt !== held.renewedAt
    const since = isRenewed ? now() : before.since
    if (isRenewed) this.#seen.set(held.sync, { held, since })
    return now() - since
  }
}

function keep(db: Db, renewer: LeaseRenewer, held: Held, times: LeaseTimes, asked: number): Lease {
  const lost = new AbortController()
  /** Counted from before the question was sent, with a reserve: ours must end before another one may begin. */
  const patience = times.expiry * 0.9
  const clock = new LeaseClock()
  clock.renewed(asked)
  clock.turn()
  const beat = setInterval(() => clock.turn(), times.renewal / 4)
  let deadline = setTimeout(checkAge, patience - clock.age())
  const forget = renewer.renew({ held, times, memory: clock.memory }, lose)

  /** The thread may have renewed the lease while this loop was blocked. */
  function checkAge(): void {
    const left = patience - clock.age()
    if (left <= 0) lose()
    else deadline = setTimeout(checkAge, left)
  }

  function lose(): void {
    stop()
    lost.abort(new Error('the lease is lost'))
  }

  function stop(): void {
    clearInterval(beat)
    clearTimeout(deadline)
    forget()
  }

  async function dispose(): Promise<void> {
    stop()
    // Not worth an error: what is not freed now is taken over when it is old enough.
    await freeRow(db, held).catch(() => undefined)
  }

  return { sync: held.sync, epoch: held.epoch, signal: lost.signal, [Symbol.asyncDispose]: dispose }
}

/** A lease that somebody has, as it was renewed last. */
interface Renewed extends Held {
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

async function freeRow(db: Db, { sync, owner, epoch }: Held): Promise<void> {
  await db
    .updateTable('dirsyncd.leases')
    .set({ owner: null, renewed_at: null })
    .where('sync', '=', sync)
    .where('owner', '=', owner)
    .where('epoch', '=', String(epoch))
    .execute()
}

/** The process that holds the lease of a sync, with the run that it works on, if any. */
export async function leaseHolder(
  db: Db,
  sync: string,
): Promise<{ readonly owner: string; readonly run: number | undefined } | undefined> {
  const { rows } = await sql<{ owner: string; run: number | null }>`SELECT l.owner, r.run
    FROM dirsyncd.leases AS l LEFT JOIN dirsyncd.runs AS r ON r.sync = l.sync AND r.epoch = l.epoch
      AND r.finished_at IS NULL AND r.state <> 'waiting'
    WHERE l.sync = ${sync} AND l.owner IS NOT NULL LIMIT 1`.execute(db)
  const [holder] = rows
  return holder && { owner: holder.owner, run: holder.run ?? undefined }
}
