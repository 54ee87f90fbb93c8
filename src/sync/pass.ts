import { setTimeout as sleep } from 'node:timers/promises'
import type { Queue } from 'bullmq'
import type { Kysely } from 'kysely'
import { closeChunksOfEndedRuns, workersOfEndedRuns } from './apply/claim.ts'
import type { CanaryParts } from './apply/canary.ts'
import { drainRun } from './apply/drain.ts'
import type { ChunkJob } from './apply/job.ts'
import type { DirectorySnapshot } from '../core/entries/snapshot.ts'
import { UserTable } from '../core/entries/user-table.ts'
import type { Log } from '../base/log/log.ts'
import type { CanaryVerdict } from '../core/plan/canary.ts'
import type { Options } from '../core/plan/configuration.ts'
import type { GuardLimits } from '../core/plan/guards.ts'
import type { Grace } from '../core/plan/grace.ts'
import { incompleteDirectory } from '../core/plan/incomplete-read.ts'
import type { PlanRules } from '../core/plan/inputs.ts'
import type { Membership } from '../core/plan/policy.ts'
import type { Plan } from '../core/plan/changes.ts'
import { type Times, TIMES } from '../queue/times.ts'
import type { Source } from '../source/source.ts'
import { forgetDeleted } from '../store/absences.ts'
import { findBaseline } from '../store/baselines.ts'
import type { Fenced, FencedRun } from '../store/fenced-run.ts'
import { deletedIdsLastDay } from '../store/journal.ts'
import { isAway } from '../base/database/outage.ts'
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
import { findRun, finishRun, type RunError, type RunRecord, setRunState } from '../store/runs.ts'
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

export interface SyncSetup {
  readonly name: string
  readonly target: string
  readonly source: Source
  readonly readDirectory: (
    signal: AbortSignal,
    table: UserTable,
    membership: Membership,
  ) => Promise<DirectorySnapshot>
  readonly rules: PlanRules
  readonly limits: GuardLimits
  /** How long a held plan can be approved, in milliseconds. */
  readonly holdMs: number
  readonly grace: Grace
  /** Hashes of the options that change scope or mapping. */
  readonly options: Options
  readonly queue: Queue<ChunkJob>
  readonly canary: Pick<CanaryParts, 'lookBack' | 'createsInLists'>
  /** Aborted when the sync is removed or gets another setup: its run is left. */
  readonly leaving?: AbortSignal
}

export interface PassDeps {
  readonly db: Kysely<Tables>
  readonly log: Log
  /** Whether the process with this name has certainly ended. */
  readonly isDead: (process: string) => boolean
  /** The same as the workers'. */
  readonly times?: Times
  readonly onApply?: (sync: string) => void
  readonly onPhase?: (sync: string, phase: RunPhase, seconds: number) => void
}

function hasApproved({ changes }: Plan, approved: ReadonlySet<string>): boolean {
  if (approved.size === 0) return false
  for (const { removes, fingerprint } of changes.of('delete-user', 'delete-group', 'set-members'))
    if (removes > 0 && approved.has(fingerprint)) return true
  return false
}

/** One run of its owner: every write is in a transaction of the `FencedRun`. Disposing frees its reads. */
export class Pass implements Disposable {
  readonly #deps: PassDeps
  readonly #times: Times
  readonly #setup: SyncSetup
  readonly #run: RunRecord
  readonly #fenced: FencedRun
  readonly #table = new UserTable()
  readonly #clock: PhaseClock
  #planned: Planned | undefined
  /** Notices of the write verification, each once, also where it is repeated. */
  readonly #readBack = new Map<string, CanaryVerdict['notices'][number]>()

  constructor(deps: PassDeps, setup: SyncSetup, run: RunRecord, fenced: FencedRun) {
    this.#deps = deps
    this.#times = deps.times ?? TIMES
    this.#setup = setup
    this.#run = run
    this.#fenced = fenced
    this.#clock = new PhaseClock((phase, seconds) => deps.onPhase?.(setup.name, phase, seconds))
  }

  /** Otherwise, hundreds of megabytes of a large run would wait for the next garbage collection. */
  [Symbol.dispose](): void {
    this.#clock.end()
    this.#table.release()
  }

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

  undoParts(undo: Undo): UndoDeps {
    const { db } = this.#deps
    const shared = this.#sharedParts()
    return {
      ...shared,
      // Members that other clients added are no part of the run, also where the sync reads no members.
      readDirectory: this.#readDirectory('write'),
      // The approval of a delete of the sync is not one of a delete of the undo.
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

  /** Ends the run with an error. Both reads may have been good all the same. */
  async fail(error: RunError): Promise<void> {
    await this.#fenced.write(async (trx) => {
      const counts = await this.#finalCounts(trx)
      await storeNotices(trx, this.#run.run, [...this.#readBack.values()], -this.#readBack.size)
      await spendApprovals(trx, this.#run)
      await finishRun(trx, this.#run.run, { state: 'failed', error, counts })
      if (this.#planned !== undefined) await this.#rememberAbsences(trx, this.#planned)
    })
  }

  /** Plans only when no request of an ended run can be in flight any more. */
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
    // A held plan is stored by `#hold`, unless the open hold has it already.
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

  /** A store that is away for a moment interrupts no run: while the lease lasts, draining resumes where it was. */
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

  /** The reads of a killed run are lost: the run that resumes it counts. */
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
