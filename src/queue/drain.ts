import { setTimeout as sleep } from 'node:timers/promises'
import type { Queue } from 'bullmq'
import type { Kysely } from 'kysely'
import { DirsyncdError } from '../errors.ts'
import { PHASES } from '../plan/plan.ts'
import { lastFailure } from '../store/journal.ts'
import { countPending, type Part, prepareMembers, prepareTakers } from '../store/plans.ts'
import { throwIfStopped } from '../store/runs.ts'
import type { Tables } from '../store/tables.ts'
import type { ChangeJob } from './changes.ts'
import { Feed } from './feed.ts'
import { type JobTimes, type Times, TIMES } from './times.ts'

export interface DrainDeps {
  readonly db: Kysely<Tables>
  readonly queue: Queue<ChangeJob>
  /** How many changes are enqueued at most. */
  readonly window?: number
  readonly times?: Times
}

const WINDOW = 10_000

/**
 * Has the workers apply every change of a run, phase by phase, and what failed twice or was refused at the end, again
 * phase by phase: there too a group needs its members to be there before. Returns when each change
 * has its final state in the store; an empty queue proves nothing.
 *
 * @throws DirsyncdError what a worker stopped the run with, or `directory-unreachable` after an outage of `times.outage.giveUp`
 */
export async function drainRun(
  deps: DrainDeps,
  run: { run: number; epoch: number },
  signal: AbortSignal,
): Promise<void> {
  // Jobs of older runs would only find out, one by one, that they are fenced.
  await deps.queue.drain(true)
  for (const tail of [false, true]) {
    for (const phase of PHASES) {
      if (phase === 'take-emails') await prepareTakers(deps.db, run.run, { atEnd: tail })
      if (phase === 'members') await prepareMembers(deps.db, run.run)
      await drainPart(deps, run, { phase, tail }, signal)
    }
  }
}

async function drainPart(
  deps: DrainDeps,
  run: { run: number; epoch: number },
  part: Part,
  signal: AbortSignal,
): Promise<void> {
  const { db, queue, window = WINDOW, times = TIMES } = deps
  const outageMs = times.outage.giveUp
  const feed = new Feed({ db, queue, window, times }, run, part)
  const pace = new Pace(times.jobs.count)
  for (;;) {
    signal.throwIfAborted()
    await throwIfStopped(db, run.run)
    const pending = await countPending(db, run.run, part)
    if (pending === 0) break
    const idleMs = pace.see(pending)
    if (idleMs > outageMs) throw outage(outageMs, await lastFailure(db, run.run))
    await feed.fill(pending, idleMs)
    await sleep(pace.delayMs, undefined, { signal })
  }
  await feed.decide()
  await throwIfStopped(db, run.run)
}

/** Looks often while changes are being applied, and seldom while nothing moves. */
class Pace {
  readonly #longest: JobTimes['count']
  #pending = Number.POSITIVE_INFINITY
  #progressAt = Date.now()
  delayMs = 10

  constructor(longest: JobTimes['count']) {
    this.#longest = longest
  }

  /** Takes the number of changes still pending and tells for how long it has not gone down, in milliseconds. */
  see(pending: number): number {
    if (pending < this.#pending) {
      this.#progressAt = Date.now()
      this.delayMs = Math.min(this.delayMs * 2, this.#longest.moving)
    } else {
      this.delayMs = Math.min(this.delayMs * 2, this.#longest.idle)
    }
    this.#pending = pending
    return Date.now() - this.#progressAt
  }
}

function outage(ms: number, answer: string | undefined): DirsyncdError {
  const why =
    answer === undefined ? "the directory's service does not do them." : `the last answer was: ${answer}`
  return new DirsyncdError(
    'directory-unreachable',
    `No change could be applied for ${Math.round(ms / 60_000)} minutes; ${why} The next run goes on with what is left.`,
  )
}
