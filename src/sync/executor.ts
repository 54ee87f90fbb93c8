import { setTimeout as sleep } from 'node:timers/promises'
import type { Queue } from 'bullmq'
import type { Kysely } from 'kysely'
import { closeChunksOfEndedRuns, workersOfEndedRuns } from '../apply/claim.ts'
import { drainRun } from '../apply/drain.ts'
import type { ChunkJob } from '../apply/job.ts'
import type { DirectorySnapshot } from '../directory/snapshot.ts'
import { DirsyncdError, sentence } from '../errors.ts'
import type { Log } from '../log.ts'
import type { GuardLimits } from '../plan/guards.ts'
import type { Grace } from '../plan/grace.ts'
import { incompleteDirectory } from '../plan/incomplete-read.ts'
import type { PlanRules } from '../plan/inputs.ts'
import { type Times, TIMES } from '../queue/times.ts'
import type { Source } from '../source/source.ts'
import { forgetDeleted } from '../store/absences.ts'
import { findBaseline } from '../store/baselines.ts'
import { type Fenced, FencedRun, Overtaken } from '../store/fenced-run.ts'
import { deletedIdsLastDay } from '../store/journal.ts'
import type { Lease, Leases } from '../store/lease.ts'
import { isAway } from '../store/outage.ts'
import { prune, type Retention } from '../store/retention.ts'
import { countThereBefore, outcomesOf, storeNotices, storePlan } from '../store/plans.ts'
import { closeHold, holdRun, joinHold } from '../store/holds.ts'
import { followInterrupted, interruptRuns, leaveRun } from '../store/interruptions.ts'
import { lastGood } from '../store/last-good.ts'
import {
  addRun,
  beginRun,
  findRun,
  finishRun,
  nextWaitingRun,
  type RunRecord,
  setRunState,
  waitingWholeRun,
  withLease,
} from '../store/runs.ts'
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
import { type Planned, type RunDeps, runSync } from './run.ts'

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

export interface ExecutorDeps {
  readonly db: Kysely<Tables>
  readonly leases: Leases
  readonly syncs: ReadonlyMap<string, SyncSetup>
  /** Names this process in the lease. */
  readonly owner: string
  /** Whether the process with this name has certainly ended. */
  readonly isDead: (process: string) => boolean
  readonly log: Log
  /** Aborted when the process is to end: a run that is under way is left for the next process. */
  readonly signal: AbortSignal
  /** What is kept of the past; without it, everything. */
  readonly retention?: Retention
  /** The same as the workers'. */
  readonly times?: Times
  /** Called before the changes of a run are handed to the workers. */
  readonly onApply?: (sync: string) => void
  /** Told about every run that has ended. */
  readonly onRunEnd?: (run: number) => Promise<void>
}

export interface Executor {
  /**
   * Takes the sync's lease and makes its waiting runs, one after the other. Returns at once when somebody else has the lease:
   * whoever holds it sees the waiting runs.
   */
  work(sync: string, options: WorkOptions): Promise<void>
  /**
   * Takes the sync's lease and makes this waiting run alone: other waiting runs belong to other commands. Returns at
   * once when somebody else has the lease.
   */
  workOn(sync: string, run: number): Promise<void>
}

export interface WorkOptions {
  /** Makes a run also when none waits. */
  readonly scheduled: boolean
}

export function createExecutor(deps: ExecutorDeps): Executor {
  const { db, times = TIMES } = deps

  async function work(name: string, { scheduled }: WorkOptions): Promise<void> {
    const setup = deps.syncs.get(name)
    if (setup === undefined) return
    await using lease = await deps.leases.take(name, deps.owner, times.lease)
    if (lease === undefined) return
    await resume(setup, lease)
    if (scheduled && (await waitingWholeRun(db, name)) === undefined) {
      await addRun(db, { sync: name, target: setup.target, mode: 'sync', trigger: 'schedule' })
    }
    const signal = AbortSignal.any([deps.signal, lease.signal])
    while (!signal.aborted) {
      const run = await nextWaitingRun(db, name)
      if (run === undefined) return
      await execute(setup, run, lease, signal)
    }
  }

  async function workOn(name: string, number: number): Promise<void> {
    const setup = deps.syncs.get(name)
    if (setup === undefined) return
    await using lease = await deps.leases.take(name, deps.owner, times.lease)
    if (lease === undefined) return
    const run = await findRun(db, number)
    if (run?.state !== 'waiting') return
    // A plan changes nothing, so it leaves interrupted runs to those that go on with their work.
    if (run.mode === 'sync') {
      await withLease(db, lease, number, async (trx) => {
        for (const interrupted of await interruptRuns(trx, name))
          await followInterrupted(trx, number, interrupted)
      })
    }
    await execute(setup, run, lease, AbortSignal.any([deps.signal, lease.signal]))
  }

  /**
   * Runs whose process ended are ended, and one new run goes on: from the read, because that is the resume. A whole run
   * that waits already is that one.
   */
  async function resume({ name: sync, target }: SetupOf, lease: Lease): Promise<void> {
    await withLease(db, lease, 0, async (trx) => {
      for (const interrupted of await interruptRuns(trx, sync)) {
        const { mode, trigger, only_entries: only } = interrupted.run
        const waiting = mode === 'sync' ? await waitingWholeRun(trx, sync) : undefined
        const next = waiting ?? (await addRun(trx, { sync, target, mode, trigger, only: only ?? undefined }))
        await followInterrupted(trx, next, interrupted)
      }
    })
  }

  async function execute(setup: SyncSetup, run: RunRecord, lease: Lease, signal: AbortSignal): Promise<void> {
    const log = deps.log.child({ sync: setup.name, run: run.run })
    await beginRun(db, lease, run.run)
    const fenced = new FencedRun(db, { run: run.run, epoch: lease.epoch })
    const pass = new Pass(deps, setup, run, fenced)
    try {
      const end = await runSync(pass.deps(), signal)
      log.info({ end }, 'run ended')
    } catch (error) {
      // Nobody knows what the store has of this run: the next one goes on from the read.
      if (signal.aborted || isAway(error) || error instanceof Overtaken) {
        log.info('run interrupted')
        if (deps.signal.aborted) await fenced.write((trx) => leaveRun(trx, run.run)).catch(() => undefined)
        return
      }
      const code = error instanceof DirsyncdError ? error.code : 'internal'
      await pass.fail(sentence(error))
      log.error({ code, error: sentence(error) }, 'run failed')
      if (code === 'internal') log.debug({ err: error }, 'where it failed')
    }
    await deps.onRunEnd?.(run.run)
    await prune({ ...deps, lease: times.lease, syncs: [...deps.syncs.keys()] }, setup.name, signal)
  }

  return { work, workOn }
}

type SetupOf = Pick<SyncSetup, 'name' | 'target'>

/** One run as its owner writes it: everything in transactions of the `FencedRun`. */
class Pass {
  readonly #executor: ExecutorDeps
  readonly #times: Times
  readonly #setup: SyncSetup
  readonly #run: RunRecord
  readonly #fenced: FencedRun
  #planned: Planned | undefined

  constructor(executor: ExecutorDeps, setup: SyncSetup, run: RunRecord, fenced: FencedRun) {
    this.#executor = executor
    this.#times = executor.times ?? TIMES
    this.#setup = setup
    this.#run = run
    this.#fenced = fenced
  }

  deps(): RunDeps {
    const { db } = this.#executor
    const { name: sync, target, source, readDirectory, rules, limits, grace } = this.#setup
    const run = this.#run
    const fenced = this.#fenced
    return {
      mode: run.mode,
      only: run.only_entries ?? undefined,
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
    const { db, isDead } = this.#executor
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
    const { db, onApply, isDead } = this.#executor
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
      const counts = countRun({ ...planned, plan }, await outcomesOf(trx, run.run))
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
    // What is still pending when the run ends is dropped.
    const { pending = 0, ...outcomes } = await outcomesOf(trx, record.run)
    const more = pending === 0 ? {} : { dropped: pending }
    return { ...record.counts, outcomes: { ...outcomes, ...more } }
  }
}
