import type { Queue } from 'bullmq'
import type { Kysely } from 'kysely'
import type { Op } from '../../core/plan/change.ts'
import type { Times } from '../../queue/times.ts'
import type { FencedRun } from '../../store/fenced-run.ts'
import { stopRun } from '../../store/runs.ts'
import type { Tables } from '../../store/tables.ts'
import { type ChunkJob, enqueueChunks } from './job.ts'
import { prepareTakers } from './prepare.ts'
import { howToGoOn, neverAccepted, type Refusals, refusedInRow } from './refusals.ts'
import {
  hasSucceeded,
  isProbed,
  lastRefusal,
  nextProbe,
  type Probe,
  quarantineUndecided,
  refusedOp,
  undecidedOps,
} from './refused-changes.ts'
import { claimable, countWaiting, type Part } from './waiting.ts'

export interface FeedDeps {
  readonly db: Kysely<Tables>
  readonly queue: Queue<ChunkJob>
  readonly fenced: FencedRun
  readonly times: Times
}

export interface Progress {
  readonly pending: number
  /** How often a chunk left a change waiting, over the whole run. */
  readonly returned: number
  readonly refusals: Refusals
}

/** The most changes that are hinted at and neither claimed nor settled. */
const WINDOW = 10_000
const LARGEST = 500
/** The last changes of a part are spread over this many chunks, so that every worker has one. */
const SPREAD = 8
/** How long a chunk should keep a worker busy, in milliseconds. */
const BUSY_MS = 1000

/** Adds the hints for one part of a run: chunks, or single changes after too many refusals in a row. */
export class Feed {
  readonly #deps: FeedDeps
  readonly #part: Part
  /** The last change that was hinted at since the beginning or the last sweep. */
  #last = 0
  /** Changes that were hinted at, and that no worker has settled or given back yet. */
  #ahead = 0
  #seen: { readonly pending: number; readonly returned: number } | undefined
  #probe: Probe | undefined
  #addedAt = performance.now()
  #size = LARGEST

  constructor(deps: FeedDeps, part: Part) {
    this.#deps = deps
    this.#part = part
  }

  /** `idleMs`: for how long the number of waiting changes has not decreased. */
  async fill(progress: Progress, idleMs: number): Promise<void> {
    this.#follow(progress)
    switch (howToGoOn(progress.refusals)) {
      case 'together':
        return this.#fillWindow(progress.pending, idleMs)
      case 'one-by-one':
        return this.#addProbe()
      case 'stop':
        return this.#stop(progress.refusals)
    }
  }

  /** Sets the chunk size to what the workers do in about a second. */
  setPace(changesPerMs: number): void {
    this.#size = Math.min(LARGEST, Math.max(1, Math.round(changesPerMs * BUSY_MS)))
  }

  /** Where the service accepted other changes with the same operation, a second refusal is about the content. */
  async decide(): Promise<void> {
    const { db, fenced } = this.#deps
    for (const op of await undecidedOps(db, fenced.run, this.#part)) {
      if (await hasSucceeded(db, fenced.run, op))
        await fenced.write((trx) => quarantineUndecided(trx, fenced.run, this.#part, op))
      else await this.#stopForOne(op)
    }
  }

  #follow({ pending, returned }: Progress): void {
    const before = this.#seen ?? { pending, returned }
    const done = before.pending - pending + (returned - before.returned)
    this.#ahead = Math.max(0, this.#ahead - done)
    this.#seen = { pending, returned }
  }

  async #stopForOne(op: Op): Promise<void> {
    const { db, fenced } = this.#deps
    const acceptedOthers = await hasSucceeded(db, fenced.run)
    const why = neverAccepted(await refusedOp(db, fenced.run, op), { acceptedOthers })
    await fenced.write((trx) => stopRun(trx, fenced.run, 'scope-missing', why))
  }

  async #fillWindow(pending: number, idleMs: number): Promise<void> {
    this.#probe = undefined
    const isLost = idleMs > this.#deps.times.jobs.sweep && this.#sinceAdded() > this.#deps.times.jobs.sweep
    // Nothing is in flight: the waiting changes were given back, are not due yet, or their hints are lost.
    if (isLost || (this.#ahead === 0 && this.#last > 0)) await this.#startOver()
    if (this.#ahead > WINDOW / 2) return
    const { db, fenced } = this.#deps
    const next = await claimable(db, fenced.run, this.#part, {
      after: this.#last,
      limit: WINDOW - this.#ahead,
    })
    if (next.length === 0) return
    await this.#add(next, pending)
    this.#last = next.at(-1)?.number ?? this.#last
  }

  async #startOver(): Promise<void> {
    const { fenced } = this.#deps
    this.#last = 0
    this.#ahead = 0
    if (this.#part.phase !== 'take-emails') return
    await fenced.write(async (trx) => {
      await prepareTakers(trx, fenced.run, { atEnd: this.#part.tail })
      await countWaiting(trx, fenced.run, this.#part)
    })
  }

  async #add(changes: readonly { number: number; op: Op }[], pending: number): Promise<void> {
    const { run, epoch } = this.#deps.fenced
    const size = this.#chunkSize(pending)
    const chunks = chunksOf(changes, size).map(({ op, ...range }) => ({
      op,
      job: { run, epoch, ...range, tail: this.#part.tail },
    }))
    await enqueueChunks(this.#deps.queue, chunks)
    this.#ahead += changes.length
    this.#addedAt = performance.now()
  }

  /** The first changes are one chunk, so they are sent in requests of the same size as the rest. */
  #chunkSize(pending: number): number {
    if (this.#part.canary !== undefined) return LARGEST
    return Math.min(this.#size, Math.max(1, Math.ceil(pending / SPREAD)))
  }

  async #addProbe(): Promise<void> {
    const { db, fenced } = this.#deps
    const next = await nextProbe(db, fenced.run, this.#part)
    // Depends on a failed change: retried in the retry stage.
    await (next === undefined ? this.#startOver() : this.#sendProbe(next))
  }

  /**
   * Whether a probe is in flight; meanwhile no other is sent. A lost job is added again. Call this before the progress
   * is read, so that the progress includes the outcome of the probe.
   */
  async isProbing(): Promise<boolean> {
    const { db, fenced, times } = this.#deps
    if (this.#probe === undefined || (await isProbed(db, fenced.run, this.#probe))) return false
    if (this.#sinceAdded() > times.jobs.sweep) await this.#sendProbe(this.#probe)
    return true
  }

  async #sendProbe(probe: Probe): Promise<void> {
    const { queue, fenced } = this.#deps
    const { number } = probe
    const job = {
      run: fenced.run,
      epoch: fenced.epoch,
      first: number,
      last: number,
      count: 1,
      tail: this.#part.tail,
      probe: true as const,
    }
    await enqueueChunks(queue, [{ op: probe.op, job }])
    this.#probe = probe
    this.#addedAt = performance.now()
  }

  #sinceAdded(): number {
    return performance.now() - this.#addedAt
  }

  async #stop({ inRow }: Refusals): Promise<void> {
    const { db, fenced } = this.#deps
    const why = refusedInRow(inRow, await lastRefusal(db, fenced.run))
    await fenced.write((trx) => stopRun(trx, fenced.run, 'scope-missing', why))
  }
}

interface Range {
  readonly op: Op
  readonly first: number
  readonly last: number
  readonly count: number
}

function chunksOf(changes: readonly { number: number; op: Op }[], size: number): readonly Range[] {
  const chunks: Range[] = []
  for (const { number, op } of changes) {
    const open = chunks.at(-1)
    if (open === undefined || open.op !== op || open.count >= size)
      chunks.push({ op, first: number, last: number, count: 1 })
    else chunks[chunks.length - 1] = { ...open, last: number, count: open.count + 1 }
  }
  return chunks
}
