import { setTimeout as sleep } from 'node:timers/promises'
import type { Queue } from 'bullmq'
import { DirsyncdError } from '../../base/errors.ts'
import { PHASES } from '../../core/plan/changes.ts'
import type { Times } from '../../queue/times.ts'
import { Verification, type VerificationDeps } from './verification.ts'
import { openChunks, reclaim } from './claim.ts'
import type { Ticket } from './job.ts'
import { pauseOf } from '../../store/pause.ts'
import { lastFailureOf } from '../../store/plans.ts'
import { quarantineRefused } from './refused-changes.ts'
import { recheckRemovals } from './removals.ts'
import { allowRemovals, countDue, countWaiting, enterStage, hasRemovals, type Stage } from './stage.ts'

interface ApplyDeps extends VerificationDeps {
  readonly queue: Queue<Ticket>
  readonly target: string
  readonly isDead: (worker: string) => boolean
  readonly recheck: Parameters<typeof recheckRemovals>[0]['recheck']
  /** When the source was asked last about what is to be removed, as `performance.now()`. */
  readonly recheckedAt: number
}

/**
 * Has the workers apply every change of a run, phase by phase, then the retry stage in the same order, because a group
 * needs its members first. Returns when each change is final in the store; an empty queue proves nothing. On a new
 * directory, the first changes are read back before the rest; those of users and groups before any delete.
 *
 * @throws DirsyncdError what a worker stopped the run with, `directory-unreachable` after an outage of
 *   `times.outage.giveUp`, or `directory-unexpected` where the first changes are not as sent
 */
export async function applyRun(deps: ApplyDeps, signal: AbortSignal): Promise<void> {
  const loop = new ApplyLoop(deps, signal)
  try {
    for (const phase of ['users', 'groups'] as const) await loop.verify({ phase, retry: false })
    for (const retry of [false, true]) {
      for (const phase of PHASES) await loop.stage({ phase, retry })
    }
  } catch (error) {
    // Requests in flight are journaled before the run ends.
    if (error instanceof DirsyncdError) await loop.settled()
    throw error
  }
}

class ApplyLoop {
  readonly #deps: ApplyDeps
  readonly #signal: AbortSignal
  readonly #watch: ChunkWatch
  readonly #verification: Verification

  constructor(deps: ApplyDeps, signal: AbortSignal) {
    this.#deps = deps
    this.#signal = signal
    this.#watch = new ChunkWatch(deps)
    this.#verification = new Verification(deps, (stage) => this.#send(stage), signal)
  }

  async verify(stage: Stage): Promise<void> {
    await this.#verification.verify(stage)
  }

  async stage(stage: Stage): Promise<void> {
    const { db, fenced } = this.#deps
    if ((await countWaiting(db, fenced.run, stage)) > 0) {
      // The retry stage begins with a recheck: its changes failed some time ago.
      if (stage.retry) await fenced.write((trx) => allowRemovals(trx, fenced.run, 0))
      await this.#verification.verify(stage)
      await this.#send(stage)
    }
    await this.#pending()
    if (stage.retry) await fenced.write((trx) => quarantineRefused(trx, fenced.run, stage))
  }

  async #send(stage: Stage): Promise<void> {
    const { times, fenced, target, db } = this.#deps
    const outageMs = times.outage.giveUp
    await this.#enter(stage)
    const isRemoving = await hasRemovals(db, fenced.run, stage)
    const dispatcher = new Dispatcher(this.#deps, stage)
    const pace = new Pace(times.jobs.count)
    let wasRechecked = false
    for (;;) {
      this.#signal.throwIfAborted()
      const pending = await this.#pending()
      if (pending <= 0 && (await this.#enter(stage)) === 0) break
      const pause = await pauseOf(db, target)
      // A service that asks for a pause is not in an outage, nor is a source that is slow to answer.
      const idleMs = pace.see(pending, pause?.why === 'limited' || wasRechecked)
      if (idleMs > outageMs) throw outage(outageMs, await lastFailureOf(db, fenced.run))
      if (pause === undefined) {
        wasRechecked = isRemoving && (await recheckRemovals(this.#deps, stage))
        if (wasRechecked) await this.#enter(stage)
        await dispatcher.topUp(pending, pace.changesPerMs)
      }
      await this.#watch.look()
      const leftMs = Math.min(pause?.leftMs ?? 0, 1000)
      await sleep(Math.max(pace.delayMs, leftMs), undefined, { signal: this.#signal })
    }
  }

  /** The run's counter tells when to look; this count is exact. */
  #enter(stage: Stage): Promise<number> {
    const { fenced, times, recheckedAt } = this.#deps
    const removesMs = Math.max(0, recheckedAt + times.fence.removals - performance.now())
    return fenced.write((trx) => enterStage(trx, fenced.run, stage, removesMs))
  }

  /** How many changes wait, as workers count them. Throws what a worker stopped the run with. */
  async #pending(): Promise<number> {
    const { db, fenced } = this.#deps
    const row = await db
      .selectFrom('dirsyncd.runs as r')
      .leftJoin('dirsyncd.applying as a', 'a.run', 'r.run')
      .select(['a.pending', 'r.stop_code', 'r.stop_reason'])
      .where('r.run', '=', fenced.run)
      .executeTakeFirstOrThrow()
    if (row.stop_code !== null) throw new DirsyncdError(row.stop_code, row.stop_reason ?? row.stop_code)
    return row.pending ?? 0
  }

  /** Waits until no worker has a request of the run in flight, but not for a worker that hangs. */
  async settled(): Promise<void> {
    const { db, fenced, times } = this.#deps
    const until = performance.now() + times.fence.settle
    while (!this.#signal.aborted && performance.now() < until) {
      if ((await openChunks(db, fenced.run)).length === 0) return
      await sleep(times.jobs.count.moving, undefined, { signal: this.#signal })
    }
  }
}

/** The most tickets that wait on the queue: enough for four workers until the next look. */
const MOST_TICKETS = 16
/** The largest chunk: an embedded store blocks the process while it claims one. */
const LARGEST = 500
/** The last changes of a stage are spread over this many chunks, so that every worker has one. */
const SPREAD = 8
/** How long a chunk should keep a worker busy, in milliseconds. */
const BUSY_MS = 1000

/** Keeps as many tickets on the queue as the changes of one stage need. Lost tickets are not counted, so replaced. */
export class Dispatcher {
  readonly #deps: Pick<ApplyDeps, 'db' | 'queue' | 'fenced'>
  readonly #stage: Stage

  constructor(deps: Pick<ApplyDeps, 'db' | 'queue' | 'fenced'>, stage: Stage) {
    this.#deps = deps
    this.#stage = stage
  }

  async topUp(pending: number, changesPerMs: number): Promise<void> {
    const { queue, fenced } = this.#deps
    const waiting = await queue.getJobCountByTypes('waiting')
    if (waiting >= MOST_TICKETS) return
    const most = this.#chunkSize(pending, changesPerMs)
    const due = await this.#countDue(MOST_TICKETS * most)
    const missing = Math.ceil(due / most) - waiting
    const ticket = { name: 'ticket', data: { run: fenced.run, epoch: fenced.epoch, most } }
    if (missing > 0) await queue.addBulk(Array.from({ length: missing }, () => ticket))
  }

  /** About a second of work for all workers. The first changes are one chunk, so their requests have the size of the rest. */
  #chunkSize(pending: number, changesPerMs: number): number {
    if (this.#stage.verifies !== undefined) return LARGEST
    const size = Math.min(LARGEST, Math.max(1, Math.round(changesPerMs * BUSY_MS)))
    return Math.min(size, Math.max(1, Math.ceil(pending / SPREAD)))
  }

  /** Before the cursor, changes wait that were given back or were not due. */
  async #countDue(limit: number): Promise<number> {
    const { db, fenced } = this.#deps
    const due = await countDue(db, fenced.run, this.#stage, limit)
    if (due > 0) return due
    await fenced.write((trx) => enterStage(trx, fenced.run, this.#stage))
    return countDue(db, fenced.run, this.#stage, limit)
  }
}

/** Finds chunks of dead workers and gives their changes to other workers. */
class ChunkWatch {
  readonly #deps: ApplyDeps
  #seen = new Map<string, { readonly heartbeats: number; readonly since: number }>()
  #lookedAt = 0

  constructor(deps: ApplyDeps) {
    this.#deps = deps
  }

  async look(): Promise<void> {
    const { db, fenced, times } = this.#deps
    const now = performance.now()
    if (now - this.#lookedAt < times.fence.look) return
    this.#lookedAt = now
    const open = await openChunks(db, fenced.run)
    const seen = new Map<string, { readonly heartbeats: number; readonly since: number }>()
    for (const chunk of open) {
      const before = this.#seen.get(chunk.chunk)
      const since = before?.heartbeats === chunk.heartbeats ? before.since : now
      seen.set(chunk.chunk, { heartbeats: chunk.heartbeats, since })
      if (this.#isOver(chunk.worker, now - since))
        await fenced.write((trx) => reclaim(trx, fenced.run, chunk.chunk))
    }
    this.#seen = seen
  }

  /** A live worker adds heartbeats, or stopped sending long before. Measured by this process's own clock. */
  #isOver(worker: string, silentMs: number): boolean {
    const { settle, settleDead } = this.#deps.times.fence
    return silentMs > settle || (silentMs > settleDead && this.#deps.isDead(worker))
  }
}

class Pace {
  readonly #longest: Times['jobs']['count']
  #pending = Number.POSITIVE_INFINITY
  #seenAt = performance.now()
  #progressAt = performance.now()
  delayMs = 10
  changesPerMs = Number.POSITIVE_INFINITY

  constructor(longest: Times['jobs']['count']) {
    this.#longest = longest
  }

  /** Returns for how long the number of waiting changes has not decreased, in milliseconds. */
  see(pending: number, isExcused: boolean): number {
    const now = performance.now()
    const isMoving = pending < this.#pending
    if (isMoving || isExcused) this.#progressAt = now
    if (isMoving && Number.isFinite(this.#pending))
      this.#measure((this.#pending - pending) / (now - this.#seenAt))
    this.delayMs = Math.min(this.delayMs * 2, isMoving ? this.#longest.moving : this.#longest.idle)
    if (isMoving) this.#seenAt = now
    this.#pending = pending
    return now - this.#progressAt
  }

  #measure(changesPerMs: number): void {
    const isFirst = !Number.isFinite(this.changesPerMs)
    this.changesPerMs = isFirst ? changesPerMs : (this.changesPerMs * 3 + changesPerMs) / 4
  }
}

function outage(ms: number, answer: string | undefined): DirsyncdError {
  const why =
    answer === undefined ? "the directory's service does not do them" : `the last answer was: ${answer}`
  return new DirsyncdError(
    'directory-unreachable',
    `No change could be applied for ${Math.round(ms / 60_000)} minutes; ${why.replace(/\.$/, '')}. The next run goes on with what is left.`,
  )
}
