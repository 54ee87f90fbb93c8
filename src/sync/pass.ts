import { setTimeout as sleep } from 'node:timers/promises'
import type { Queue } from 'bullmq'
import type { Kysely } from 'kysely'
import { closeChunksOfEndedRuns, workersOfEndedRuns } from '../apply/claim.ts'
import { drainRun } from '../apply/drain.ts'
import type { ChunkJob } from '../apply/job.ts'
import type { DirectorySnapshot } from '../directory/snapshot.ts'
import type { GuardLimits } from '../plan/guards.ts'
import type { Grace } from '../plan/grace.ts'
import { incompleteDirectory } from '../plan/incomplete-read.ts'
import type { PlanRules } from '../plan/inputs.ts'
import { type Times, TIMES } from '../queue/times.ts'
import type { Source } from '../source/source.ts'
import { forgetDeleted } from '../store/absences.ts'
import { findBaseline } from '../store/baselines.ts'
import type { Fenced, FencedRun } from '../store/fenced-run.ts'
import { deletedIdsLastDay } from '../store/journal.ts'
import { isAway } from '../store/outage.ts'
import { countThereBefore, outcomesAtEnd, storeNotices, storePlan } from '../store/plans.ts'
import { closeHold, holdRun, joinHold } from '../store/holds.ts'
import { lastGood } from '../store/last-good.ts'
import { findRun, finishRun, type RunRecord, setRunState } from '../store/runs.ts'
import type { Tables } from '../store/tables.ts'
import {
  recall,
  rememberAbsences,
  rememberAdditions,
  rememberDoubts,
  rememberHeldRun,
  rememberRun,
  rememberWrites,
} from './memory.ts'
import { countRun } from './report.ts'
import { type Planned, type RunDeps } from './run.ts'

/** Everything that a run of one sync works with. */
export interface SyncSetup {
  readonly name: string
  /** The URL of the directory: what the sync writes to. */
  readonly target: string
  readonly source: Source
  readonly readDirectory: (signal: AbortSignal) => Promise<DirectorySnapshot>
  readonly rules: PlanRules
  readonly limits: GuardLimits
  readonly grace: Grace
  readonly queue: Queue<ChunkJob>
}

export interface PassDeps {
  readonly db: Kysely<Tables>
  /** Whether the process with this name has certainly ended. */
  readonly isDead: (process: string) => boolean
  /** The same as the workers'. */
  readonly times?: Times
  /** Called before the changes of a run are handed to the workers. */
  readonly onApply?: (sync: string) => void
}

/** One run as its owner writes it: everything in transactions of the `FencedRun`. */
export class Pass {
  readonly #deps: PassDeps
  readonly #times: Times
  readonly #setup: SyncSetup
  readonly #run: RunRecord
  readonly #fenced: FencedRun
  #planned: Planned | undefined

  constructor(deps: PassDeps, setup: SyncSetup, run: RunRecord, fenced: FencedRun) {
    this.#deps = deps
    this.#times = deps.times ?? TIMES
    this.#setup = setup
    this.#run = run
    this.#fenced = fenced
  }

  /** What the run works with. */
  parts(): RunDeps {
    const { db } = this.#deps
    const { name: sync, target, source, readDirectory, rules, limits, grace } = this.#setup
    const run = this.#run
    const fenced = this.#fenced
    return {
      mode: run.mode,
      only: run.only_entries ?? undefined,
      isAsked: run.trigger !== 'schedule',
      source,
      readDirectory,
      rules,
      limits,
      grace,
      settle: (signal) => this.#settle(signal),
      preferredServer: async () => (await lastGood(db, sync, target))?.server,
      recall: () => recall(db, { sync, target }),
      recallBaseline: (kind) => findBaseline(db, { sync, target }, kind),
      recallDeleted: () => deletedIdsLastDay(db, { sync, target }),
      enter: (state) => fenced.write((trx) => setRunState(trx, run.run, state)),
      keep: (planned) => this.#keep(planned),
      hold: (planned) => this.#hold(planned),
      apply: (signal) => this.#apply(signal),
      complete: (planned) => this.#complete(planned),
    }
  }

  /** Ends the run with an error. Both sides may have been read well all the same. */
  async fail(error: string): Promise<void> {
    await this.#fenced.write(async (trx) => {
      await finishRun(trx, this.#run.run, { state: 'failed', error, counts: await this.#finalCounts(trx) })
      if (this.#planned !== undefined) await this.#rememberAbsences(trx, this.#planned)
    })
  }

  /** A plan is made when no request of an ended run can be under way any more. */
  async #settle(signal: AbortSignal): Promise<void> {
    const { db, isDead } = this.#deps
    const { name: sync } = this.#setup
    const workers = await workersOfEndedRuns(db, sync)
    if (workers.length === 0) return
    const { settle, settleDead } = this.#times.fence
    await sleep(workers.every(isDead) ? settleDead : settle, undefined, { signal })
    await closeChunksOfEndedRuns(db, sync)
  }

  async #keep(planned: Planned): Promise<void> {
    const { plan, directory, breaches, approved } = planned
    const run = this.#run
    const counts = countRun(planned)
    // Where the plan is held, `#hold` stores it, unless the open hold has it already.
    if (!planned.isHeld) await storePlan(this.#fenced, plan, approved)
    await this.#fenced.write(async (trx) => {
      await setRunState(trx, run.run, 'planning', {
        directoryMoved: directory.moved,
        approved: plan.changes.some(({ removes, fingerprint }) => removes > 0 && approved.has(fingerprint)),
        digest: plan.digest,
        counts,
        breaches,
      })
      if (run.mode === 'plan') return finishRun(trx, run.run, { state: 'planned', counts })
      await rememberWrites(trx, run, planned)
      await rememberDoubts(trx, run, planned)
      await rememberAdditions(trx, run, planned)
    })
    if (run.mode === 'sync') this.#planned = planned
  }

  async #hold(planned: Planned): Promise<void> {
    const { plan, breaches, approved } = planned
    const run = this.#run
    const counts = countRun(planned)
    await storePlan(this.#fenced, { ...plan, changes: [] }, approved)
    const isJoined = await this.#fenced.write(async (trx) => {
      const joined = await joinHold(trx, run, { breaches, counts, digest: plan.digest })
      if (joined) await this.#rememberHeld(trx, planned)
      return joined
    })
    if (isJoined) return
    await storePlan(this.#fenced, { ...plan, notices: [] }, approved)
    await this.#fenced.write(async (trx) => {
      await holdRun(trx, run, 'held', { breaches, counts })
      await this.#rememberHeld(trx, planned)
    })
  }

  async #rememberHeld(trx: Fenced, planned: Planned): Promise<void> {
    await rememberHeldRun(trx, this.#run, planned)
    await this.#rememberAbsences(trx, planned)
  }

  /** A store that is away for a moment interrupts no run: as long as the lease lasts, draining goes on where it was. */
  async #apply(signal: AbortSignal): Promise<void> {
    const { db, onApply, isDead } = this.#deps
    const { name, queue, target } = this.#setup
    onApply?.(name)
    for (;;) {
      try {
        return await drainRun({ db, queue, fenced: this.#fenced, target, isDead, times: this.#times }, signal)
      } catch (error) {
        if (signal.aborted || !isAway(error)) throw error
      }
      await sleep(this.#times.daemon.storeAway, undefined, { signal })
    }
  }

  async #complete(planned: Planned): Promise<void> {
    const run = this.#run
    await this.#fenced.write(async (trx) => {
      const incomplete = incompleteDirectory(planned, await countThereBefore(trx, run.run))
      await storeNotices(trx, run.run, incomplete, -incomplete.length)
      const plan = { ...planned.plan, notices: [...incomplete, ...planned.plan.notices] }
      const counts = countRun({ ...planned, plan }, await outcomesAtEnd(trx, run.run))
      const isWhole = incomplete.length === 0
      if (run.only_entries === null) await rememberRun(trx, run, planned, { isWhole })
      await this.#rememberAbsences(trx, planned)
      const { breaches, server } = planned
      if (breaches.some(({ waitsFor, changes }) => waitsFor !== undefined && changes.length > 0)) {
        await holdRun(trx, run, 'done', { breaches, counts })
        return
      }
      if (run.only_entries === null && isWhole && server?.trouble === undefined)
        await closeHold(trx, run.sync)
      await finishRun(trx, run.run, { state: 'done', counts })
    })
  }

  /** A run that was killed made its reads for nothing: the one that goes on from it counts. */
  async #rememberAbsences(trx: Fenced, planned: Planned): Promise<void> {
    await rememberAbsences(trx, this.#run, planned)
    await forgetDeleted(trx, this.#run.run)
  }

  async #finalCounts(trx: Fenced) {
    const record = await findRun(trx, this.#run.run)
    if (!record?.counts) return undefined
    return { ...record.counts, outcomes: await outcomesAtEnd(trx, record.run) }
  }
}
