import type { Kysely } from 'kysely'
import { LeaseClock, now } from './lease-clock.ts'
import type { LeaseRenewer } from './lease-renewer.ts'
import {
  findHeld,
  freeLeasesOf,
  freeRow,
  type Held,
  leaseOwners,
  type Renewed,
  takeRow,
} from './lease-rows.ts'
import { isCertainlyDead } from '../base/database/process-name.ts'
import type { Tables } from './tables.ts'

type Db = Kysely<Tables>

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
   * disposed or lost. Resolves with undefined when somebody else has it; whoever waits for a lease that is not renewed
   * any more asks again and again.
   */
  take(sync: string, owner: string, times: LeaseTimes): Promise<Lease | undefined>
}

/**
 * The leases of an embedded store: whoever has opened the store owns them all, so they neither expire nor need to be
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

/** Frees what processes of this machine held that are certainly dead. */
export async function freeDeadLeases(db: Db): Promise<void> {
  const dead = (await leaseOwners(db)).filter(isCertainlyDead)
  for (const owner of dead) await freeLeasesOf(db, owner)
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
