import type { Queue } from 'bullmq'
import type { Kysely } from 'kysely'
import type { FencedRun } from '../../store/fenced-run.ts'
import type { Tables } from '../../store/tables.ts'
import { enqueueTickets, type Ticket } from './job.ts'
import { prepareTakers } from './prepare.ts'
import { countDue, enterStage, type Stage } from './stage.ts'

interface DispatcherDeps {
  readonly db: Kysely<Tables>
  readonly queue: Queue<Ticket>
  readonly fenced: FencedRun
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
  readonly #deps: DispatcherDeps
  readonly #stage: Stage

  constructor(deps: DispatcherDeps, stage: Stage) {
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
    if (missing > 0) await enqueueTickets(queue, { run: fenced.run, epoch: fenced.epoch, most }, missing)
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
    await fenced.write(async (trx) => {
      if (this.#stage.phase === 'take-emails')
        await prepareTakers(trx, fenced.run, { atEnd: this.#stage.retry })
      await enterStage(trx, fenced.run, this.#stage)
    })
    return countDue(db, fenced.run, this.#stage, limit)
  }
}
