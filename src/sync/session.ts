import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Queue } from 'bullmq'
import { sql } from 'kysely'
import { isAway } from '../base/database/outage.ts'
import type { Log } from '../base/log/log.ts'
import { forEachInSteps } from '../base/steps.ts'
import { inTurns } from '../base/turns.ts'
import type { States } from '../core/checks/check.ts'
import { withoutExpired, afterRecheck } from '../core/ledger.ts'
import type { Ledger } from '../core/decisions.ts'
import type { DiffRules, Membership } from '../core/diff/rules.ts'
import type { Kind } from '../core/entries/entry.ts'
import type { DirectorySnapshot } from '../core/entries/snapshot.ts'
import { UserTable } from '../core/entries/user-table.ts'
import type { ScopeIds } from '../core/within.ts'
import type { Notice } from '../core/notice.ts'
import { changeSince } from '../core/plan/configuration.ts'
import { incompleteDirectory, lookFirst } from '../core/plan/incomplete-read.ts'
import type { Times } from '../queue/times.ts'
import type { Source } from '../source/source.ts'
import { loadStates, packStates } from '../store/check-states.ts'
import {
  noteMissedCreates,
  openWritesOf,
  quarantineUnconverged,
  settleRun,
  settleWrites,
  unconverged,
} from '../store/convergence.ts'
import type { Fenced, FencedRun } from '../store/fenced-run.ts'
import { deletedIdsLastDay, deletedLastDay } from '../store/journal.ts'
import {
  countOpen,
  loadLedger,
  lockLedger,
  originOf,
  packLedger,
  packShown,
  saveLedger,
} from '../store/ledgers.ts'
import {
  batchNotices,
  countThereBefore,
  outcomesAtEnd,
  replaceChanges,
  storeAllNotices,
  storeBlocked,
  storeNotices,
  storePlan,
  unfinishedChanges,
  waitingChanges,
} from '../store/plans.ts'
import { forgetQuarantined, quarantined } from '../store/quarantine.ts'
import { blockedBefore, finishRun, type RunError, type RunRecord, setRunState } from '../store/runs.ts'
import type { RunCounts } from '../store/run-types.ts'
import type { Db } from '../store/tables.ts'
import { applyRun } from './apply/apply-loop.ts'
import { closeChunksOfEndedRuns, workersOfEndedRuns } from './apply/claim.ts'
import type { Ticket } from './apply/job.ts'
import type { VerificationDeps } from './apply/verification.ts'
import {
  approvedRows,
  countsAtEnd,
  madeKeys,
  replacedIn,
  reportOf,
  stillPlanned,
  stillWanted,
} from './report.ts'
import type { History, Job, Judged, Outcomes, RunStore } from './run-store.ts'

export interface SyncSetup extends Pick<Job, 'limits' | 'grace' | 'options'> {
  readonly rules: DiffRules
  readonly name: string
  readonly target: string
  readonly source: Source
  readonly readDirectory: (
    signal: AbortSignal,
    table: UserTable,
    membership: Membership,
  ) => Promise<DirectorySnapshot>
  /** When an approval ends that no run used. */
  readonly approvalsExpireAfterMs: number
  readonly queue: Queue<Ticket>
  readonly verification: Pick<VerificationDeps, 'lookBack' | 'inBatches'>
  /** Aborted when the sync is removed or gets another setup: its run is left. */
  readonly leaving?: AbortSignal
}

export interface SessionDeps {
  readonly db: Db
  readonly log: Log
  /** Whether the process with this name has certainly ended. */
  readonly isDead: (process: string) => boolean
  /** The same as the workers'. */
  readonly times: Times
  readonly onApply?: (sync: string) => void
  readonly onPhase?: (sync: string, phase: RunPhase, seconds: number) => void
}

/** `read`: source and directory. `plan`: until the guards have passed. `apply`: until the last outcome. */
type RunPhase = 'read' | 'plan' | 'apply'

type Loaded = Awaited<ReturnType<typeof loadLedger>>

/** One run of its owner: every write is in a transaction of the `FencedRun`. Disposing frees its reads. */
export class Session implements RunStore, Disposable {
  readonly table = new UserTable()
  readonly #deps: SessionDeps
  readonly #setup: SyncSetup
  readonly #run: RunRecord
  readonly #fenced: FencedRun
  #phase: { readonly name: RunPhase; readonly since: number } | undefined
  /** Notices of the write verification, each once, also where it is repeated. */
  readonly #verified = new Map<string, Notice>()
  #states: States = {}
  #loaded: Loaded | undefined
  #counts: RunCounts | undefined
  /** When the recheck began, or sooner. */
  #recheckedAt = 0
  /** Set while there is a plan that is applied. */
  judged: Judged | undefined

  constructor(deps: SessionDeps, setup: SyncSetup, run: RunRecord, fenced: FencedRun) {
    this.#deps = deps
    this.#setup = setup
    this.#run = run
    this.#fenced = fenced
  }

  /** Otherwise, hundreds of megabytes of a large run would wait for the next garbage collection. */
  [Symbol.dispose](): void {
    this.#enter(undefined)
    this.table.release()
  }

  #enter(phase: RunPhase | undefined): void {
    const now = performance.now()
    const ended = this.#phase
    this.#phase = phase && { name: phase, since: now }
    if (ended !== undefined) this.#deps.onPhase?.(this.#setup.name, ended.name, (now - ended.since) / 1000)
  }

  get #of() {
    return { sync: this.#setup.name, target: this.#setup.target, origin: originOf(this.#run) }
  }

  async quiesce(signal: AbortSignal): Promise<void> {
    const { db, isDead } = this.#deps
    const { name: sync } = this.#setup
    const workers = await workersOfEndedRuns(db, sync)
    if (workers.length > 0) {
      const { settle, settleDead } = this.#deps.times.fence
      await sleep(workers.every(isDead) ? settleDead : settle, undefined, { signal })
      await closeChunksOfEndedRuns(db, sync)
    }
    this.#enter('read')
  }

  async states(): Promise<States> {
    this.#states = await loadStates(this.#deps.db, this.#of)
    return this.#states
  }

  async history(): Promise<History> {
    const { db } = this.#deps
    this.#enter('plan')
    this.#recheckedAt = performance.now()
    await this.#fenced.write((trx) => setRunState(trx, this.#run.run, 'planning'))
    this.#loaded = await this.#loadLedger()
    const now = await this.#now()
    const journal = {
      unapproved: await deletedLastDay(db, this.#of),
      deleted: await deletedIdsLastDay(db, this.#of),
    }
    const kept = await quarantined(db, this.#of)
    const refusals = [...kept, ...(await unconverged(db, this.#of))]
    return { ledger: this.#loaded.ledger, now, journal, refusals }
  }

  async #now(): Promise<Date> {
    const { rows } = await sql<{ now: Date }>`SELECT now()`.execute(this.#deps.db)
    return rows[0]!.now
  }

  async #loadLedger(): Promise<Loaded> {
    const loaded = await loadLedger(this.#deps.db, this.#of)
    const { approvalsExpireAfterMs: ms } = this.#setup
    return { ...loaded, ledger: await inTurns(withoutExpired(loaded.ledger, await this.#now(), ms)) }
  }

  async begin(judged: Judged, ledger: Ledger, states: Partial<States>): Promise<void> {
    const { facts, plan, notices, end } = judged
    const { run, undo } = this.#run
    const isDry = end === 'planned'
    const report = await inTurns(reportOf(judged))
    const digest = await storePlan(this.#fenced, approvedRows(judged), plan.length)
    await storeAllNotices(this.#fenced, notices)
    const blockedIn = await this.#storeBlocked(judged, JSON.stringify(report.blocks))
    const saveShown = await packShown(judged.shown)
    const isAsking =
      Object.keys(judged.blocked.asking).length > 0 || facts.blocks.some(({ asks }) => asks !== undefined)
    const saveLedgerIn = isDry ? undefined : await this.#ledgerToSave(ledger, isAsking)
    const saveWrites = isDry ? undefined : await this.#earlierWrites(judged)
    const saveStates = await packStates(states)
    const change = undo === null ? changeSince(this.#states.configuration, facts.options) : undefined
    await this.#fenced.write(async (trx) => {
      await setRunState(trx, run, 'planning', {
        digest,
        ...report,
        ...blockedIn,
        configuration_change: change ?? null,
      })
      await saveShown(trx, run)
      if (isDry) return finishRun(trx, run, { state: 'planned', counts: report.counts })
      if (undo !== null && end === 'done') await settleRun(trx, undo.run)
      await saveWrites?.(trx)
      await setRunState(trx, run, 'planning', { look_first: await this.#lookFirst(trx, judged) })
      await saveLedgerIn?.(trx)
      return saveStates(trx, this.#of)
    })
    this.#counts = report.counts
    if (!isDry) this.judged = judged
  }

  /** Equal ones are stored once: a held plan is made again with each run. */
  async #storeBlocked(
    { blocked }: Judged,
    blocks: string,
  ): Promise<Pick<RunRecord, 'blocked_in' | 'blocked_digest'> | undefined> {
    if (blocked.length === 0) return undefined
    const digest = createHash('sha256').update(blocked.digest).update(blocks).digest('base64url')
    const before = await blockedBefore(this.#deps.db, this.#run, digest)
    if (before === undefined) await storeBlocked(this.#fenced, blocked, blocked.length)
    return { blocked_in: before ?? this.#run.run, blocked_digest: digest }
  }

  /** Encoded before the transaction that saves it; `undefined` where there is nothing new. */
  async #ledgerToSave(
    ledger: Ledger,
    isAsking: boolean,
    loaded = this.#loaded!,
  ): Promise<((trx: Fenced) => Promise<void>) | undefined> {
    const set = await packLedger(ledger)
    const { folded, stored } = loaded
    const isNew = set.digest !== stored.digest && (set.keys > 0 || stored.digest !== undefined)
    if (!isNew && !isAsking && folded === stored.folded) return undefined
    const open = await countOpen(ledger)
    const asker = isAsking ? this.#run.run : undefined
    return async (trx) => {
      await lockLedger(trx, this.#of)
      await saveLedger(trx, this.#of, { set: isNew ? set : undefined, folded, open, asker })
    }
  }

  /** What is known, once a plan is made, of the effect of earlier writes. */
  async #earlierWrites(judged: Judged): Promise<(trx: Fenced) => Promise<void>> {
    const { facts, isOfAll } = judged
    const of = this.#of
    const open = isOfAll ? await openWritesOf(this.#deps.db, of) : []
    const wanted = await inTurns(stillWanted(facts, open))
    const isBlocked = facts.blocks.some(({ code }) => code === 'not-persisted')
    const twice = isBlocked ? await unconverged(this.#deps.db, of) : []
    const unmade = await inTurns(stillWanted(facts, twice))
    return async (trx) => {
      if (open.length > 0) await settleWrites(trx, of, [...wanted])
      await quarantineUnconverged(trx, of, [...unmade])
    }
  }

  async #lookFirst(trx: Fenced, { facts, plan }: Judged): Promise<readonly Kind[]> {
    const { run, scope, undo } = this.#run
    if (plan.countOf('create-user') + plan.countOf('create-group') === 0) return []
    const isOfAll = scope === null && undo === null
    const lacksCreated = !isOfAll || (await noteMissedCreates(trx, { ...this.#of, run }))
    const { directory } = facts.wanted.snapshots
    return lookFirst({ directory, changes: plan }, this.#states.size, lacksCreated)
  }

  /** A store that is away for a moment interrupts no run: while the lease lasts, applying resumes where it was. */
  async apply(...[judged, again, signal]: Parameters<RunStore['apply']>): ReturnType<RunStore['apply']> {
    const { db, log, times, onApply, isDead } = this.#deps
    const { name: sync, queue, target, verification } = this.#setup
    if (judged.plan.length === 0) return { judged, outcomes: await this.outcomes(judged) }
    this.#enter('apply')
    await this.#fenced.write((trx) => setRunState(trx, this.#run.run, 'applying'))
    const onNotices: VerificationDeps['onNotices'] = (notices) => {
      for (const notice of notices) this.#verified.set(JSON.stringify(notice), notice)
    }
    const runLog = log.child({ sync, run: this.#run.run })
    // A write whose answer was lost may not have stored the last plan, so it is stored again.
    let [stored, last] = [judged, judged]
    const recheck = async (waiting: ScopeIds): Promise<void> => {
      this.judged = last = await again(last, waiting)
      if (last !== stored) await this.#replan(stored, last)
      stored = last
    }
    const parts = { ...verification, onNotices, recheck, recheckedAt: this.#recheckedAt, log: runLog }
    const deps = { db, queue, fenced: this.#fenced, target, isDead, times, ...parts }
    onApply?.(sync)
    for (;;) {
      try {
        await applyRun(deps, signal)
        return { judged: last, outcomes: await this.outcomes(last) }
      } catch (error) {
        if (signal.aborted || !isAway(error)) throw error
      }
      await sleep(times.daemon.storeAway, undefined, { signal })
    }
  }

  /** Takes out of the plan, while it is applied, what must not be sent any more; it is shown as blocked. */
  async #replan(before: Judged, now: Judged): Promise<void> {
    const { run } = this.#run
    const report = await inTurns(reportOf(now))
    const blockedIn = await this.#storeBlocked(now, JSON.stringify(report.blocks))
    const replaced = await inTurns(replacedIn(before, now, await waitingChanges(this.#deps.db, run)))
    const latest = await this.#loadLedger()
    const ledger = await inTurns(afterRecheck(latest.ledger, now.facts))
    const saveLedgerIn = await this.#ledgerToSave(ledger, false, latest)
    this.#counts = report.counts
    await this.#fenced.write(async (trx) => {
      await replaceChanges(trx, run, replaced)
      await saveLedgerIn?.(trx)
      await setRunState(trx, run, 'applying', { ...report, ...blockedIn })
    })
  }

  async outcomes(judged: Judged): Promise<Outcomes> {
    const unfinished = await unfinishedChanges(this.#deps.db, this.#run.run)
    const open = new Set<string>()
    await inTurns(forEachInSteps(unfinished, ({ op, id }) => open.add(`${op} ${id}`)))
    const made = await inTurns(madeKeys(judged, open))
    return { ...made, isWhole: (await this.#incomplete(judged)).length === 0 }
  }

  async #incomplete({ facts, plan: changes }: Judged): Promise<readonly Notice[]> {
    const { directory } = facts.wanted.snapshots
    return incompleteDirectory({ directory, changes }, await countThereBefore(this.#deps.db, this.#run.run))
  }

  async finish(
    judged: Judged,
    { ledger, states, isComplete, error }: Parameters<RunStore['finish']>[1],
  ): Promise<void> {
    this.#enter(undefined)
    const { run } = this.#run
    const incomplete = error === undefined ? await this.#incomplete(judged) : []
    const latest = await this.#loadLedger()
    const saveLedgerIn = await this.#ledgerToSave(await ledger(latest.ledger), false, latest)
    const unwanted = isComplete ? await this.#unwantedQuarantine(judged) : []
    const saveStates = await packStates(states)
    const state = error !== undefined ? 'failed' : judged.end
    await this.#fenced.write(async (trx) => {
      const applying = [...incomplete, ...this.#verified.values()]
      await storeNotices(trx, run, applying, -applying.length)
      const more = [...applying, ...(await batchNotices(trx, run))]
      const counts = countsAtEnd(this.#counts!, more, await outcomesAtEnd(trx, run))
      await saveLedgerIn?.(trx)
      await saveStates(trx, this.#of)
      if (unwanted.length > 0) await forgetQuarantined(trx, this.#of, unwanted)
      await finishRun(trx, run, { state, error, counts })
    })
  }

  /** The digests of quarantined changes that were made after all, or that nobody wants any more. */
  async #unwantedQuarantine({ facts }: Judged): Promise<readonly string[]> {
    const kept = await quarantined(this.#deps.db, this.#of, 'ever')
    if (kept.length === 0) return []
    const wanted = await inTurns(stillWanted(facts, kept))
    const planned = await inTurns(stillPlanned(facts.left, kept))
    const unfinished = await unfinishedChanges(this.#deps.db, this.#run.run)
    const open = new Set(unfinished.map(({ fingerprint }) => fingerprint))
    return kept
      .map(({ digest }) => digest)
      .filter((digest) => (planned.has(digest) ? !open.has(digest) : !wanted.has(digest)))
  }

  /** Ends a run that has no plan. */
  async fail(error: RunError): Promise<void> {
    await this.#fenced.write((trx) => finishRun(trx, this.#run.run, { state: 'failed', error }))
  }
}
