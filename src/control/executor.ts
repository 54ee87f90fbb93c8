import { setTimeout as sleep } from 'node:timers/promises'
import type { Queue } from 'bullmq'
import type { Kysely } from 'kysely'
import type { DirectorySnapshot } from '../directory/snapshot.ts'
import { DirsyncdError, sentence } from '../errors.ts'
import type { Log } from '../log.ts'
import type { GuardLimits } from '../plan/guards.ts'
import type { Grace } from '../plan/grace.ts'
import { incompleteDirectory } from '../plan/incomplete-read.ts'
import type { PlanRules } from '../plan/inputs.ts'
import type { ChangeJob } from '../queue/changes.ts'
import { drainRun } from '../queue/drain.ts'
import { type Times, TIMES } from '../queue/times.ts'
import type { Source } from '../source/source.ts'
import { forgetDeleted } from '../store/absences.ts'
import { findBaseline } from '../store/baselines.ts'
import { closeIntents, deletedIdsLastDay, hasOpenIntents } from '../store/journal.ts'
import { type Lease, takeLease } from '../store/lease.ts'
import { isAway } from '../store/outage.ts'
import { prune, type Retention } from '../store/retention.ts'
import { countThereBefore, outcomesOf, storeNotices, storePlan } from '../store/plans.ts'
import {
  addRun,
  beginRun,
  closeHold,
  findRun,
  finishRun,
  holdRun,
  joinHold,
  interruptRuns,
  lastGood,
  hasWaitingSync,
  nextWaitingRun,
  type RunRecord,
  setRunState,
} from '../store/runs.ts'
import type { Tables } from '../store/tables.ts'
import { countRun } from '../sync/report.ts'
import { type Planned, type RunDeps, runSync } from '../sync/run.ts'
import {
  recall,
  rememberAbsences,
  rememberAdditions,
  rememberDoubts,
  rememberHeldRun,
  rememberRun,
  rememberWrites,
} from './memory.ts'

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
  readonly queue: Queue<ChangeJob>
}

export interface ExecutorDeps {
  readonly db: Kysely<Tables>
  readonly syncs: ReadonlyMap<string, SyncSetup>
  /** Names this process in the lease. */
  readonly owner: string
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
    await using lease = await takeLease(db, name, deps.owner, times.lease)
    if (lease === undefined) return
    const resumed = await resume(setup)
    const waiting = await nextWaitingRun(db, name)
    if (scheduled && !resumed && waiting === undefined) {
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
    await using lease = await takeLease(db, name, deps.owner, times.lease)
    if (lease === undefined) return
    const run = await findRun(db, number)
    if (run?.state !== 'waiting') return
    // A plan changes nothing, so it leaves interrupted runs to those that go on with their work.
    if (run.mode === 'sync') await interruptRuns(db, name)
    await execute(setup, run, lease, AbortSignal.any([deps.signal, lease.signal]))
  }

  /**
   * Runs whose process ended are ended, and one new run goes on: from the read, because that is the resume. A whole run
   * that waits already is that one.
   */
  async function resume(setup: SyncSetup): Promise<boolean> {
    return db.transaction().execute(async (trx) => {
      const interrupted = await interruptRuns(trx, setup.name)
      for (const { mode, trigger, only_entries: only } of interrupted) {
        if (mode === 'sync' && (await hasWaitingSync(trx, setup.name))) continue
        await addRun(trx, { sync: setup.name, target: setup.target, mode, trigger, only: only ?? undefined })
      }
      return interrupted.length > 0
    })
  }

  async function execute(setup: SyncSetup, run: RunRecord, lease: Lease, signal: AbortSignal): Promise<void> {
    const log = deps.log.child({ sync: setup.name, run: run.run })
    await beginRun(db, run.run, lease.epoch)
    let planned: Planned | undefined
    try {
      const end = await runSync(
        runDeps(setup, run, lease, (made) => (planned = made)),
        signal,
      )
      log.info({ end }, 'run ended')
    } catch (error) {
      // Nobody knows what the store has of this run: the next one goes on from the read.
      if (signal.aborted || isAway(error)) {
        log.info('run interrupted')
        return
      }
      const counts = await finalCounts(run)
      await finishRun(db, run.run, { state: 'failed', error: sentence(error), counts })
      const code = error instanceof DirsyncdError ? error.code : 'internal'
      log.error({ code, error: sentence(error) }, 'run failed')
      if (code === 'internal') log.debug({ err: error }, 'where it failed')
    }
    // A run that was killed made its reads for nothing: the one that goes on from it counts.
    if (planned !== undefined && run.mode === 'sync') await rememberAbsences(db, run, planned)
    await forgetDeleted(db, run.run)
    await deps.onRunEnd?.(run.run)
    await prune({ ...deps, lease: times.lease, syncs: [...deps.syncs.keys()] }, setup.name, signal)
  }

  function runDeps(
    setup: SyncSetup,
    run: RunRecord,
    lease: Lease,
    onPlanned: (planned: Planned) => void,
  ): RunDeps {
    const { name: sync, target } = setup
    return {
      mode: run.mode,
      only: run.only_entries ?? undefined,
      source: setup.source,
      readDirectory: setup.readDirectory,
      rules: setup.rules,
      limits: setup.limits,
      settle: async (signal) => {
        if (!(await hasOpenIntents(db, sync))) return
        await sleep(times.fence.settle, undefined, { signal })
        await closeIntents(db, sync)
      },
      grace: setup.grace,
      preferredServer: async () => (await lastGood(db, sync, target))?.server,
      recall: () => recall(db, { sync, target }),
      recallBaseline: (kind) => findBaseline(db, { sync, target }, kind),
      recallDeleted: () => deletedIdsLastDay(db, sync, target),
      enter: (state) => setRunState(db, run.run, state),
      keep: async (planned) => {
        await keep(run, planned)
        onPlanned(planned)
      },
      hold: async (planned) => {
        await hold(run, planned)
        await rememberHeldRun(db, run, planned)
      },
      apply: (signal) => apply(setup, { run: run.run, epoch: lease.epoch }, signal),
      complete: (planned) => complete(run, planned),
    }
  }

  /** A store that is away for a moment interrupts no run: as long as the lease lasts, draining goes on where it was. */
  async function apply(
    setup: SyncSetup,
    run: { run: number; epoch: number },
    signal: AbortSignal,
  ): Promise<void> {
    deps.onApply?.(setup.name)
    for (;;) {
      try {
        return await drainRun({ db, queue: setup.queue, times }, run, signal)
      } catch (error) {
        if (signal.aborted || !isAway(error)) throw error
      }
      await sleep(times.daemon.storeAway, undefined, { signal })
    }
  }

  async function keep(run: RunRecord, planned: Planned): Promise<void> {
    const counts = countRun(planned)
    // Where the plan is held, `hold` stores it, unless the open hold has it already.
    if (!planned.isHeld) await storePlan(db, run.run, planned.plan)
    await setRunState(db, run.run, 'planning', {
      directoryMoved: planned.directory.moved,
      approved: planned.isApproved,
      digest: planned.plan.digest,
      counts,
      breaches: planned.breaches,
    })
    if (run.mode === 'plan') return finishRun(db, run.run, { state: 'planned', counts })
    await rememberWrites(db, run, planned)
    await rememberDoubts(db, run, planned)
    await rememberAdditions(db, run, planned)
  }

  async function hold(run: RunRecord, planned: Planned): Promise<void> {
    const { plan, breaches } = planned
    const counts = countRun(planned)
    await storePlan(db, run.run, { ...plan, changes: [] })
    if (await joinHold(db, run, { breaches, counts, digest: plan.digest })) return
    await storePlan(db, run.run, { ...plan, notices: [] })
    await holdRun(db, run, 'held', { breaches, counts })
  }

  async function complete(run: RunRecord, planned: Planned): Promise<void> {
    const incomplete = incompleteDirectory(planned, await countThereBefore(db, run.run))
    await storeNotices(db, run.run, incomplete, -incomplete.length)
    const plan = { ...planned.plan, notices: [...incomplete, ...planned.plan.notices] }
    const counts = countRun({ ...planned, plan }, await outcomesOf(db, run.run))
    const { breaches, server } = planned
    const isWhole = incomplete.length === 0
    if (run.only_entries === null) await rememberRun(db, run, planned, { isWhole })
    if (breaches.some(({ waitsFor, changes }) => waitsFor !== undefined && changes.length > 0)) {
      await holdRun(db, run, 'done', { breaches, counts })
      return
    }
    if (run.only_entries === null && isWhole && server?.trouble === undefined) await closeHold(db, run.sync)
    await finishRun(db, run.run, { state: 'done', counts })
  }

  async function finalCounts(run: RunRecord) {
    const record = await db
      .selectFrom('dirsyncd.runs')
      .select('counts')
      .where('run', '=', run.run)
      .executeTakeFirst()
    if (!record?.counts) return undefined
    // The end of the run drops what is still pending.
    const { pending = 0, dropped = 0, ...outcomes } = await outcomesOf(db, run.run)
    const more = pending + dropped === 0 ? {} : { dropped: pending + dropped }
    return { ...record.counts, outcomes: { ...outcomes, ...more } }
  }

  return { work, workOn }
}
