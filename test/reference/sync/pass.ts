// @ts-nocheck
import { setTimeout as sleep } from 'node:timers/promises'
import type { Queue } from 'bullmq'
import type { Kysely } from 'kysely'
import { closeChunksOfEndedRuns, workersOfEndedRuns } from '../store/outside.ts'
import type { CanaryParts } from '../apply/canary.ts'
import { drainRun } from '../store/outside.ts'
import type { ChunkJob } from '../apply/job.ts'
import type { DirectorySnapshot } from '../directory/snapshot.ts'
import { UserTable } from '../directory/user-table.ts'
import type { Log } from '../log.ts'
import type { CanaryVerdict } from '../plan/canary.ts'
import type { Options } from '../plan/configuration.ts'
import type { GuardLimits } from '../plan/guards.ts'
import type { Grace } from '../plan/grace.ts'
import { incompleteDirectory } from '../plan/incomplete-read.ts'
import type { PlanRules } from '../plan/inputs.ts'
import type { Membership } from '../plan/policy.ts'
import type { Plan } from '../plan/changes.ts'
import { type Times, TIMES } from '../store/outside.ts'
import type { Source } from '../source/source.ts'
import { forgetDeleted } from '../store/absences.ts'
import { findBaseline } from '../store/baselines.ts'
import type { Fenced, FencedRun } from '../store/fenced-run.ts'
import { deletedIdsLastDay } from '../store/journal.ts'
import { isAway } from '../store/outside.ts'
import {
  countThereBefore,
  doneChanges,
  laterAttempts,
  listNotices,
  outcomesAtEnd,
  storeNotices,
  storePlan,
} from '../store/plans.ts'
import { closeHold, holdRun, joinHold } from '../store/holds.ts'
import { lastGood } from '../store/last-good.ts'
import { findRun, finishRun, type RunRecord, setRunState } from '../store/runs.ts'
import type { Undo } from '../store/run-types.ts'
import { settleUndone } from '../store/convergence.ts'
import { approvedIn } from '../store/decisions.ts'
import { spendApprovals } from '../store/forget-decisions.ts'
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
import { PhaseClock, type RunPhase } from './phase-clock.ts'
import { countRun, evidenceIn } from './report.ts'
import type { Planned, RunDeps } from './run.ts'
import type { UndoDeps } from './undo.ts'

/** Everything that a run of one sync works with. */
export interface SyncSetup {
  readonly name: string
  /** The URL of the directory: what the sync writes to. */
  readonly target: string
  readonly source: Source
  readonly readDirectory: (
    signal: AbortSignal,
    table: UserTable,
    membership: Membership,
  ) => Promise<DirectorySnapshot>
  readonly rules: PlanRules
  readonly limits: GuardLimits
  /** For how long a person may decide about what the guards hold, in milliseconds. */
  readonly holdMs: number
  readonly grace: Grace
  /** Hashes of the options that decide who is in the directory and how values come about. */
  readonly options: Options
  readonly queue: Queue<ChunkJob>
  readonly canary: Pick<CanaryParts, 'lookBack' | 'createsInLists'>
  /** Aborted when the sync is removed or gets another setup: a run that is under way is left. */
  readonly leaving?: AbortSignal
}

export interface PassDeps {
  readonly db: Kysely<Tables>
  readonly log: Log
  /** Whether the process with this name has certainly ended. */
  readonly isDead: (process: string) => boolean
  /** The same as the workers'. */
  readonly times?: Times
  /** Called before the changes of a run are handed to the workers. */
  readonly onApply?: (sync: string) => void
  /** Told how long each phase of a run took. */
  readonly onPhase?: (sync: string, phase: RunPhase, seconds: number) => void
}

/** Whether a person approved something that the plan takes away. */
function hasApproved({ changes }: Plan, approved: ReadonlySet<string>): boolean {
  if (approved.size === 0) return false
  for (const { removes, fingerprint } of changes.of('delete-user', 'delete-group', 'set-members'))
    if (removes > 0 && approved.has(fingerprint)) return true
  return false
}

/**
 * One run as its owner writes it: everything in transactions of the `FencedRun`. What it read is there until it is
 * disposed of.
 */
export class Pass implements Disposable {
  readonly #deps: PassDeps
  readonly #times: Times
  readonly #setup: SyncSetup
  readonly #run: RunRecord
  readonly #fenced: FencedRun
  readonly #table = new UserTable()
  readonly #clock: PhaseClock
  #planned: Planned | undefined
  /** What was noticed while the first changes were read back; each once, also where this is done again. */
  readonly #readBack = new Map<string, CanaryVerdict['notices'][number]>()

  constructor(deps: PassDeps, setup: SyncSetup, run: RunRecord, fenced: FencedRun) {
    this.#deps = deps
    this.#times = deps.times ?? TIMES
    this.#setup = setup
    this.#run = run
    this.#fenced = fenced
    this.#clock = new PhaseClock((phase, seconds) => deps.onPhase?.(setup.name, phase, seconds))
  }

  /** Hundreds of megabytes of a large run would otherwise wait for the next collection of garbage. */
  [Symbol.dispose](): void {
    this.#clock.end()
    this.#table.release()
  }

  /** What the run works with. */
  parts(): RunDeps {
    const { db } = this.#deps
    const { name: sync, target, source, grace } = this.#setup
    const run = this.#run
    return {
      ...this.#sharedParts(),
      only: run.part === null ? (run.only_entries ?? undefined) : undefined,
      part: run.part ?? undefined,
      isAsked: run.trigger !== 'schedule',
      source,
      grace,
      preferredServer: async () => (await lastGood(db, sync, target))?.server,
      recallBaseline: (kind) => findBaseline(db, { sync, target }, kind),
      recallDeleted: () => deletedIdsLastDay(db, { sync, target }),
    }
  }

  /** What an undo works with. */
  undoParts(undo: Undo): UndoDeps {
    const { db } = this.#deps
    const shared = this.#sharedParts()
    return {
      ...shared,
      // Whoever others have put into a group is not as the run left him, also where the sync reads no members.
      readDirectory: this.#readDirectory('write'),
      // Whoever once approved a delete of the sync has not approved that of an undo.
      recall: async () => ({
        ...(await shared.recall()),
        approved: await approvedIn(db, this.#run.approval_of),
      }),
      undo,
      doneChanges: () => doneChanges(db, undo.run),
      laterAttempts: () => laterAttempts(db, undo.run),
    }
  }

  #readDirectory(membership: Membership): RunDeps['readDirectory'] {
    return (signal, table) => this.#setup.readDirectory(signal, table, membership)
  }

  #sharedParts() {
    const { db } = this.#deps
    const { name: sync, target, rules, limits, options } = this.#setup
    const run = this.#run
    return {
      mode: run.mode,
      table: this.#table,
      readDirectory: this.#readDirectory(rules.membership),
      rules,
      limits,
      options,
      settle: (signal: AbortSignal) => this.#settle(signal),
      recall: () => recall(db, { sync, target }),
      enter: (state: 'planning' | 'applying') => this.#enter(state),
      keep: (planned: Planned) => this.#keep(planned),
      hold: (planned: Planned) => this.#hold(planned),
      apply: (signal: AbortSignal) => this.#apply(signal),
      complete: (planned: Planned) => this.#complete(planned),
    }
  }

  async #enter(state: 'planning' | 'applying'): Promise<void> {
    this.#clock.enter(state === 'planning' ? 'plan' : 'apply')
    await this.#fenced.write((trx) => setRunState(trx, this.#run.run, state))
  }

  /** Ends the run with an error. Both sides may have been read well all the same. */
  async fail(error: string): Promise<void> {
    await this.#fenced.write(async (trx) => {
      const counts = await this.#finalCounts(trx)
      await storeNotices(trx, this.#run.run, [...this.#readBack.values()], -this.#readBack.size)
      await spendApprovals(trx, this.#run)
      await finishRun(trx, this.#run.run, { state: 'failed', error, counts })
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
    const { plan, directory, breaches, approved, configurationChange } = planned
    const run = this.#run
    const counts = countRun(planned)
    // Where the plan is held, `#hold` stores it, unless the open hold has it already.
    if (!planned.isHeld) await storePlan(this.#fenced, plan, approved)
    await this.#fenced.write(async (trx) => {
      await setRunState(trx, run.run, 'planning', {
        directoryMoved: directory.moved,
        approved: hasApproved(plan, approved),
        digest: plan.digest,
        counts,
        evidence: evidenceIn(planned),
        breaches,
        configurationChange,
      })
      if (run.mode === 'plan') return finishRun(trx, run.run, { state: 'planned', counts })
      if (run.undo !== null && !planned.isHeld) await settleUndone(trx, run.undo.run)
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
      await holdRun(trx, run, 'held', { breaches, counts, lastsMs: this.#setup.holdMs })
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
    const deps = {
      db,
      queue,
      fenced: this.#fenced,
      target,
      isDead,
      canary: this.#canary(),
      times: this.#times,
    }
    onApply?.(name)
    for (;;) {
      try {
        return await drainRun(deps, signal)
      } catch (error) {
        if (signal.aborted || !isAway(error)) throw error
      }
      await sleep(this.#times.daemon.storeAway, undefined, { signal })
    }
  }

  #canary(): CanaryParts {
    const { name: sync, canary } = this.#setup
    const log = this.#deps.log.child({ sync, run: this.#run.run })
    const onNotices: CanaryParts['onNotices'] = (notices) => {
      for (const notice of notices) this.#readBack.set(JSON.stringify(notice), notice)
    }
    return { ...canary, onNotices, log }
  }

  async #complete(planned: Planned): Promise<void> {
    const run = this.#run
    const { options } = this.#setup
    await this.#fenced.write(async (trx) => {
      const incomplete = incompleteDirectory(planned, await countThereBefore(trx, run.run))
      const applying = [...incomplete, ...this.#readBack.values()]
      await storeNotices(trx, run.run, applying, -applying.length)
      const lists = await listNotices(trx, run.run)
      const plan = { ...planned.plan, notices: [...lists, ...applying, ...planned.plan.notices] }
      const counts = countRun({ ...planned, plan }, await outcomesAtEnd(trx, run.run))
      const isWhole = incomplete.length === 0
      await spendApprovals(trx, run)
      if (run.only_entries === null) await rememberRun(trx, run, planned, { isWhole, options })
      await this.#rememberAbsences(trx, planned)
      const { breaches, server } = planned
      if (breaches.some(({ waitsFor, changes }) => waitsFor !== undefined && changes.length > 0)) {
        await holdRun(trx, run, 'done', { breaches, counts, lastsMs: this.#setup.holdMs })
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
    const notices = { ...record.counts.notices }
    for (const { code } of [...this.#readBack.values(), ...(await listNotices(trx, record.run))])
      notices[code] = (notices[code] ?? 0) + 1
    return { ...record.counts, notices, outcomes: await outcomesAtEnd(trx, record.run) }
  }
}
