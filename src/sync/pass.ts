import { setTimeout as sleep } from 'node:timers/promises'
import type { Queue } from 'bullmq'
import type { Kysely } from 'kysely'
import { closeChunksOfEndedRuns, workersOfEndedRuns } from './apply/claim.ts'
import type { VerificationParts } from './apply/verification.ts'
import { applyRun } from './apply/apply-loop.ts'
import type { Ticket } from './apply/job.ts'
import { everyInSteps, type Steps } from '../base/steps.ts'
import { inTurns } from '../base/turns.ts'
import type { Kind } from '../core/entries/entry.ts'
import type { DirectorySnapshot } from '../core/entries/snapshot.ts'
import type { Notice } from '../core/notice.ts'
import { UserTable } from '../core/entries/user-table.ts'
import type { Log } from '../base/log/log.ts'
import type { VerificationResult } from '../core/plan/verification.ts'
import type { Options } from '../core/plan/configuration.ts'
import type { GuardLimits } from '../core/plan/guards.ts'
import type { Grace } from '../core/plan/grace.ts'
import { incompleteDirectory, lookFirst } from '../core/plan/incomplete-read.ts'
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
  batchNotices,
  outcomesAtEnd,
  storeNotices,
  storePlan,
} from '../store/plans.ts'
import { heldRows } from '../store/held-changes.ts'
import { closeHold, compareHold, holdRun, joinHold, type NewHold } from '../store/holds.ts'
import { lastGood } from '../store/last-good.ts'
import { finishRun, type RunError, type RunRecord, setRunState } from '../store/runs.ts'
import type { RunCounts, Undo } from '../store/run-types.ts'
import { noteMissedCreates, settleUndone } from '../store/convergence.ts'
import { approvedIn } from '../store/decisions.ts'
import { spendApprovals } from '../store/forget-decisions.ts'
import type { Tables } from '../store/tables.ts'
import {
  memoryOfRun,
  memoryOfWrites,
  recall,
  rememberAdditions,
  rememberDoubts,
  rememberHeldRun,
  saveAbsences,
} from './memory.ts'
import { PhaseClock, type RunPhase } from './phase-clock.ts'
import { countRun, countsAtEnd, evidenceIn } from './report.ts'
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
  readonly queue: Queue<Ticket>
  readonly verification: Pick<VerificationParts, 'lookBack' | 'inBatches'>
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

/** Whether an operator approved a delete or a removal of the plan. */
function* hasApproved({ changes }: Plan, approved: ReadonlySet<string>): Steps<boolean> {
  if (approved.size === 0) return false
  const isOpen = ({ fingerprint }: { readonly fingerprint: string }) => !approved.has(fingerprint)
  if (!(yield* everyInSteps(changes.headsOf('delete-user', 'delete-group'), isOpen))) return true
  const removes = changes.of('set-members')
  return !(yield* everyInSteps(removes, (planned) => planned.removes === 0 || isOpen(planned)))
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
  #counts: RunCounts | undefined
  /** Notices of the write verification, each once, also where it is repeated. */
  readonly #readBack = new Map<string, VerificationResult['notices'][number]>()

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
    if (this.#planned !== undefined) await this.#saveAbsences(this.#planned)
    await this.#fenced.write(async (trx) => {
      const counts = this.#counts && (await this.#countsAtEnd(trx, this.#counts, []))
      await storeNotices(trx, this.#run.run, [...this.#readBack.values()], -this.#readBack.size)
      await spendApprovals(trx, this.#run)
      await finishRun(trx, this.#run.run, { state: 'failed', error, counts })
      if (this.#planned !== undefined) await forgetDeleted(trx, this.#run.run)
    })
  }

  /** Reads only when no request of an ended run can be in flight any more. */
  async #settle(signal: AbortSignal): Promise<void> {
    const { db, isDead } = this.#deps
    const { name: sync } = this.#setup
    const workers = await workersOfEndedRuns(db, sync)
    if (workers.length > 0) {
      const { settle, settleDead } = this.#times.fence
      await sleep(workers.every(isDead) ? settleDead : settle, undefined, { signal })
      await closeChunksOfEndedRuns(db, sync)
    }
    this.#clock.enter('read')
  }

  async #keep(planned: Planned): Promise<void> {
    const { plan, directory, breaches, approved, configurationChange } = planned
    const run = this.#run
    const counts = await inTurns(countRun(planned))
    const isApproved = await inTurns(hasApproved(plan, approved))
    // A held plan is stored by `#hold`, unless the open hold has it already.
    if (!planned.isHeld) await storePlan(this.#fenced, plan, approved)
    const saveWrites = run.mode === 'plan' ? undefined : await memoryOfWrites(this.#deps.db, run, planned)
    await this.#fenced.write(async (trx) => {
      await setRunState(trx, run.run, 'planning', {
        directoryMoved: directory.moved,
        approved: isApproved,
        digest: plan.digest,
        counts,
        evidence: evidenceIn(planned, counts),
        breaches,
        configurationChange,
      })
      if (run.mode === 'plan') return finishRun(trx, run.run, { state: 'planned', counts })
      if (run.undo !== null && !planned.isHeld) await settleUndone(trx, run.undo.run)
      await saveWrites?.(trx)
      await setRunState(trx, run.run, 'planning', { lookFirst: await this.#lookFirst(trx, planned) })
      await rememberDoubts(trx, run, planned)
      await rememberAdditions(trx, run, planned)
    })
    this.#counts = counts
    if (run.mode === 'sync') this.#planned = planned
  }

  async #lookFirst(trx: Fenced, planned: Planned): Promise<readonly Kind[]> {
    const { run, sync, target, mode, only_entries: only } = this.#run
    const { changes } = planned.plan
    const creates = changes.countOf('create-user') + changes.countOf('create-group')
    if (mode === 'plan' || planned.isHeld || creates === 0) return []
    const lacksCreated = only !== null || (await noteMissedCreates(trx, { run, sync, target }))
    return lookFirst(planned, await lastGood(trx, sync, target), lacksCreated)
  }

  async #hold(planned: Planned): Promise<void> {
    const { plan, approved } = planned
    const run = this.#run
    await storePlan(this.#fenced, { ...plan, changes: [] }, approved)
    const hold = await this.#newHold(planned, 'held')
    await this.#saveAbsences(planned)
    const isJoined = await this.#fenced.write(async (trx) => {
      const joined = await joinHold(trx, run, { ...hold, digest: plan.digest })
      if (joined) await this.#rememberHeld(trx, planned)
      return joined
    })
    if (isJoined) return
    await storePlan(this.#fenced, { ...plan, notices: [] }, approved)
    await this.#fenced.write(async (trx) => {
      await holdRun(trx, run, 'held', hold)
      await this.#rememberHeld(trx, planned)
    })
  }

  async #newHold({ breaches }: Planned, state: 'held' | 'done'): Promise<NewHold> {
    return {
      held: await inTurns(heldRows(breaches)),
      seen: await compareHold(this.#deps.db, this.#run, { state, breaches }),
      counts: this.#counts!,
      lastsMs: this.#setup.holdMs,
    }
  }

  async #rememberHeld(trx: Fenced, planned: Planned): Promise<void> {
    await rememberHeldRun(trx, this.#run, planned)
    await forgetDeleted(trx, this.#run.run)
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
      verification: this.#verification(),
      times: this.#times,
    }
    onApply?.(name)
    for (;;) {
      try {
        return await applyRun(deps, signal)
      } catch (error) {
        if (signal.aborted || !isAway(error)) throw error
      }
      await sleep(this.#times.daemon.storeAway, undefined, { signal })
    }
  }

  #verification(): VerificationParts {
    const { name: sync, verification } = this.#setup
    const log = this.#deps.log.child({ sync, run: this.#run.run })
    const onNotices: VerificationParts['onNotices'] = (notices) => {
      for (const notice of notices) this.#readBack.set(JSON.stringify(notice), notice)
    }
    return { ...verification, onNotices, log }
  }

  async #complete(planned: Planned): Promise<void> {
    this.#clock.end()
    const run = this.#run
    const { db } = this.#deps
    const { breaches, server } = planned
    const incomplete = incompleteDirectory(planned, await countThereBefore(db, run.run))
    const isWhole = incomplete.length === 0
    const isOfAll = run.only_entries === null
    const saveRun = isOfAll
      ? await memoryOfRun(db, run, planned, { isWhole, options: this.#setup.options })
      : undefined
    await this.#saveAbsences(planned)
    const isAsking = breaches.some(({ waitsFor, changes }) => waitsFor !== undefined && changes.length > 0)
    const hold = isAsking ? await this.#newHold(planned, 'done') : undefined
    await this.#fenced.write(async (trx) => {
      const applying = [...incomplete, ...this.#readBack.values()]
      await storeNotices(trx, run.run, applying, -applying.length)
      const counts = await this.#countsAtEnd(trx, this.#counts!, incomplete)
      await spendApprovals(trx, run)
      await saveRun?.(trx)
      await forgetDeleted(trx, run.run)
      if (hold !== undefined) return holdRun(trx, run, 'done', { ...hold, counts })
      if (isOfAll && isWhole && server?.trouble === undefined) await closeHold(trx, run.sync)
      await finishRun(trx, run.run, { state: 'done', counts })
    })
  }

  /** The reads of a killed run are lost: the run that resumes it counts. */
  #saveAbsences(planned: Planned): Promise<void> {
    return saveAbsences(this.#deps.db, this.#fenced, this.#run, planned)
  }

  async #countsAtEnd(trx: Fenced, counts: RunCounts, more: readonly Notice[]): Promise<RunCounts> {
    const { run } = this.#run
    const applying = [...more, ...this.#readBack.values(), ...(await batchNotices(trx, run))]
    return countsAtEnd(counts, applying, await outcomesAtEnd(trx, run))
  }
}
