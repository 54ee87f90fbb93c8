import type { Queue } from 'bullmq'
import type { Kysely } from 'kysely'
import type { Op } from '../plan/change.ts'
import { hasSucceeded } from '../store/journal.ts'
import { countPending, type Part, pendingChanges } from '../store/plans.ts'
import {
  isProbed,
  lastRefusal,
  nextProbe,
  type Probe,
  quarantineUndecided,
  type Refusals,
  refusalsOf,
  refusedOp,
  undecidedOps,
} from '../store/refusals.ts'
import { stopRun } from '../store/runs.ts'
import type { Tables } from '../store/tables.ts'
import { type ChangeJob, enqueueChanges, enqueueProbe } from './changes.ts'
import { howToGoOn, neverAccepted, refusedInRow } from './refusals.ts'
import type { Times } from './times.ts'

export interface FeedDeps {
  readonly db: Kysely<Tables>
  readonly queue: Queue<ChangeJob>
  /** How many changes are enqueued at most. */
  readonly window: number
  readonly times: Times
}

/** Enqueues the changes of one part of a run: a window of them, or one alone after too many refusals in a row. */
export class Feed {
  readonly #deps: FeedDeps
  readonly #run: { run: number; epoch: number }
  readonly #part: Part
  #last = 0
  #probe: Probe | undefined
  #addedAt = Date.now()

  constructor(deps: FeedDeps, run: { run: number; epoch: number }, part: Part) {
    this.#deps = deps
    this.#run = run
    this.#part = part
  }

  /** Takes the number of pending changes, and for how long it has not gone down, in milliseconds. */
  async fill(pending: number, idleMs: number): Promise<void> {
    if (await this.#isProbing()) return
    const refusals = await refusalsOf(this.#deps.db, this.#run.run)
    switch (howToGoOn(refusals)) {
      case 'together':
        return this.#fillWindow(pending, idleMs)
      case 'one-by-one':
        return this.#addProbe()
      case 'stop':
        return this.#stop(refusals)
    }
  }

  /**
   * Decides what it means that the service refused changes of the part twice: where it accepted others with the same
   * operation, it refuses these for their own content.
   */
  async decide(): Promise<void> {
    const { db } = this.#deps
    const { run } = this.#run
    for (const op of await undecidedOps(db, run, this.#part)) {
      if (await hasSucceeded(db, run, op)) await quarantineUndecided(db, run, this.#part, op)
      else await this.#stopForOne(op)
    }
  }

  async #stopForOne(op: Op): Promise<void> {
    const { db } = this.#deps
    const { run } = this.#run
    const acceptedOthers = await hasSucceeded(db, run)
    const why = neverAccepted(await refusedOp(db, run, op), { acceptedOthers })
    await stopRun(db, run, 'scope-missing', why)
  }

  async #fillWindow(pending: number, idleMs: number): Promise<void> {
    const { db, window } = this.#deps
    const { run } = this.#run
    if (this.#probe !== undefined) this.#last = 0
    this.#probe = undefined
    const enqueued = this.#last === 0 ? 0 : await countPending(db, run, this.#part, this.#last)
    if (enqueued <= window / 2 && enqueued < pending) {
      const range = { after: this.#last, limit: window - enqueued }
      const next = await pendingChanges(db, run, this.#part, range)
      await this.#add(next)
      this.#last = next.at(-1)?.number ?? this.#last
    }
    if (this.#isToSweep(idleMs)) {
      await this.#add(await pendingChanges(db, run, this.#part, { upTo: this.#last, limit: window }))
      this.#addedAt = Date.now()
    }
  }

  /** Jobs that wait would find out, one by one, that only a probe is tried. */
  async #addProbe(): Promise<void> {
    const { db, queue } = this.#deps
    if (this.#probe === undefined) await queue.drain(true)
    const next = await nextProbe(db, this.#run.run, this.#part)
    if (next === undefined) return
    await this.#sendProbe(next)
  }

  /** While a probe is under way, no other job may try the same change. A job that vanished is added again. */
  async #isProbing(): Promise<boolean> {
    const { db } = this.#deps
    if (this.#probe === undefined || (await isProbed(db, this.#run.run, this.#probe))) return false
    if (this.#isToSweep(Infinity)) await this.#sendProbe(this.#probe)
    return true
  }

  async #sendProbe(probe: Probe): Promise<void> {
    await enqueueProbe(this.#deps.queue, this.#run, probe)
    this.#probe = probe
    this.#addedAt = Date.now()
  }

  #isToSweep(idleMs: number): boolean {
    const { sweep } = this.#deps.times.jobs
    return idleMs > sweep && Date.now() - this.#addedAt > sweep
  }

  async #add(changes: Parameters<typeof enqueueChanges>[2]): Promise<void> {
    const { queue, times } = this.#deps
    await enqueueChanges(queue, this.#run, changes, this.#part.tail ? 'tail' : 'phase', times.retry)
  }

  async #stop({ inRow }: Refusals): Promise<void> {
    const { db } = this.#deps
    const { run } = this.#run
    await stopRun(db, run, 'scope-missing', refusedInRow(inRow, await lastRefusal(db, run)))
  }
}
