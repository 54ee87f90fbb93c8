import type { Kysely } from 'kysely'
import { LeaseClock, type Moment, now } from './lease-clock.ts'
import type { LeaseRenewer } from './lease-renewer.ts'
import { freeLeasesOf, freeRow, type Held, leaseOwners, takeRow } from './lease-rows.ts'
import { isCertainlyDead } from './process-name.ts'
import type { Tables } from './tables.ts'

type Db = Kysely<Tables>

/** The right to run a sync. Disposing it frees the sync for the next taker; the epoch is never used again. */
export type Lease = AsyncDisposable & {
  readonly sync: string
  /** Higher than that of every lease on this sync before. */
  readonly epoch: number
  /** Aborted when somebody else has the sync, or when the lease could not be renewed before others may take it. */
  readonly signal: AbortSignal
  /** Whether nobody else can have the sync yet. A process that was frozen sees it here before any of its timers. */
  isHeld(): boolean
}

/** Milliseconds. */
export type LeaseTimes = {
  /** The age, by the database's clock, from which on a lease may be taken over. */
  readonly expiry: number
  readonly renewal: number
  /** A process whose event loop has not turned for so long loses its leases. */
  readonly blocked: number
}

export interface Leases {
  /**
   * Takes the lease of a sync for `owner`, which must name this process and nobody else, and keeps it until it is
   * disposed or lost. Resolves with undefined when somebody else has it.
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
    const epoch = await takeRow(db, { sync, owner, expiry: undefined })
    if (epoch === undefined) return undefined
    const held = { sync, owner, epoch }
    let isHeld = true
    return {
      sync,
      epoch,
      signal: new AbortController().signal,
      isHeld: () => isHeld,
      async [Symbol.asyncDispose]() {
        isHeld = false
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
  async function take(sync: string, owner: string, times: LeaseTimes): Promise<Lease | undefined> {
    await renewer.start()
    const asked = now()
    const wanted = { sync, owner, expiry: times.expiry }
    let epoch = await takeRow(db, wanted)
    if (epoch === undefined && (await freeDeadLeases(db, sync))) epoch = await takeRow(db, wanted)
    return epoch === undefined ? undefined : keep(db, renewer, { sync, owner, epoch }, times, asked)
  }
  return { take }
}

/** Frees what processes of this machine held that are certainly dead, and tells whether there were any. */
export async function freeDeadLeases(db: Db, sync?: string): Promise<boolean> {
  const dead = (await leaseOwners(db, sync)).filter(isCertainlyDead)
  for (const owner of dead) await freeLeasesOf(db, owner)
  return dead.length > 0
}

function keep(db: Db, renewer: LeaseRenewer, held: Held, times: LeaseTimes, asked: Moment): Lease {
  const lost = new AbortController()
  /** Counted from before the question was sent, with a reserve: ours must end before another one may begin. */
  const patience = times.expiry * 0.9
  const clock = new LeaseClock()
  clock.renewed(asked)
  clock.turn()
  let isOver = false
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
    isOver = true
    clearInterval(beat)
    clearTimeout(deadline)
    forget()
  }

  async function dispose(): Promise<void> {
    stop()
    // Not worth an error: what is not freed now is taken over when it is old enough.
    await freeRow(db, held).catch(() => undefined)
  }

  const isHeld = () => !isOver && clock.greatestAge() < patience
  return { sync: held.sync, epoch: held.epoch, signal: lost.signal, isHeld, [Symbol.asyncDispose]: dispose }
}
