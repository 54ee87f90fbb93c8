import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { forEachInSteps, type Steps } from '../../../src/base/steps.ts'
import { isAway } from '../../../src/base/database/outage.ts'
import { inTurns } from '../../../src/base/turns.ts'
import type { Refusal } from '../core/checks/refusals.ts'
import type { States } from '../core/checks/states.ts'
import type { Ledger } from '../core/decisions.ts'
import { shownBy } from '../core/decide.ts'
import { noticesOf } from '../core/diff/notices.ts'
import type { Kind } from '../../../src/core/entries/entry.ts'
import { keysOfChange } from '../core/blocked.ts'
import { type Key, wholeOf } from '../core/keys.ts'
import { createChanges } from '../core/order.ts'
import { type Change, kindOf, type Op } from '../../../src/core/plan/change.ts'
import { incompleteDirectory } from '../../../src/core/plan/incomplete-read.ts'
import { type Times, TIMES } from '../../../src/queue/times.ts'
import type { Fenced, FencedRun } from '../../../src/store/fenced-run.ts'
import { quarantineUnconverged, settleUndone, unconverged } from '../../../src/store/convergence.ts'
import { deletedIdsLastDay, deletedLastDay } from '../../../src/store/journal.ts'
import { encodeStates, loadStates, saveStates } from '../store/check-states.ts'
import { loadLedger, packLedger, packShown, saveLedger, saveShown } from '../store/ledgers.ts'
import { countThereBefore, outcomesAtEnd, storePlan, unfinishedChanges } from '../../../src/store/plans.ts'
import { quarantined } from '../../../src/store/quarantine.ts'
import { finishRun, type RunRecord, setRunState } from '../../../src/store/runs.ts'
import { closeChunksOfEndedRuns, workersOfEndedRuns } from '../../../src/sync/apply/claim.ts'
import { applyRun } from '../../../src/sync/apply/apply-loop.ts'
import type { PassDeps, SyncSetup } from '../../../src/sync/pass.ts'
import type { Judged } from './run.ts'
import type { History, Outcomes, RunStore } from './run-store.ts'

/** One run of its owner: every write is in a transaction of the `FencedRun`. */
export class Session implements RunStore {
  readonly #deps: PassDeps
  readonly #times: Times
  readonly #setup: SyncSetup
  readonly #run: RunRecord
  readonly #fenced: FencedRun
  readonly #origin: string
  #folded = 0

  constructor(deps: PassDeps, setup: SyncSetup, run: RunRecord, fenced: FencedRun, origin: string) {
    this.#deps = deps
    this.#times = deps.times ?? TIMES
    this.#setup = setup
    this.#run = run
    this.#fenced = fenced
    this.#origin = origin
  }

  get #of() {
    return { sync: this.#setup.name, target: this.#setup.target, origin: this.#origin }
  }

  async quiesce(signal: AbortSignal): Promise<void> {
    const { db, isDead } = this.#deps
    const { name: sync } = this.#setup
    const workers = await workersOfEndedRuns(db, sync)
    if (workers.length === 0) return
    const { settle, settleDead } = this.#times.fence
    await sleep(workers.every(isDead) ? settleDead : settle, undefined, { signal })
    await closeChunksOfEndedRuns(db, sync)
  }

  states(): Promise<States> {
    return loadStates(this.#deps.db as never, this.#of)
  }

  async history(): Promise<History> {
    const { db } = this.#deps
    const { ledger, folded } = await loadLedger(db as never, this.#of)
    this.#folded = folded
    const { rows } = await sql<{ now: Date }>`SELECT now()`.execute(db)
    const journal = {
      unapproved: await deletedLastDay(db, this.#of),
      deleted: await deletedIdsLastDay(db, this.#of),
    }
    return { ledger, now: rows[0]!.now, journal, refusals: await this.#refusals() }
  }

  async #refusals(): Promise<readonly Refusal[]> {
    const { db } = this.#deps
    const kept = await quarantined(db, this.#of.sync, this.#of.target)
    const unmade = await unconverged(db, this.#of)
    const twice = unmade.map(({ how, ...change }) => ({
      ...change,
      code: 'does-not-converge',
      params: { how },
    }))
    return [...kept, ...twice].map((each) => {
      const { fingerprint: digest, ...rest } = each as typeof each & { op: Op; entry_id: string }
      return { ...rest, digest, id: rest.entry_id } as unknown as Refusal
    })
  }

  async begin(judged: Judged, ledger: Ledger, next: Partial<States>): Promise<void> {
    const { facts, plan, end } = judged
    const run = this.#run
    const changes = await inTurns(createChanges(facts.left, () => 'gone'))
    const notices = await inTurns(noticesOf(facts.left, changes))
    const approved = await inTurns(approvedChanges(judged))
    await storePlan(this.#fenced, { changes: plan, notices }, approved)
    const shown = await packShown(await inTurns(shownBy(facts, facts.decisions.ledger)))
    const [questions, states] = [await packLedger(ledger), await encodeStates(next)]
    const refused = facts.blocks.filter(({ code }) => code === 'not-persisted')
    await this.#fenced.write(async (trx) => {
      const more = {
        directoryMoved: facts.wanted.snapshots.directory.moved,
        digest: await inTurns(plan.digest()),
      }
      await setRunState(trx, run.run, 'planning', { ...more, approved: approved.size > 0 })
      await this.#saveBlocks(trx, judged)
      await saveShown(trx as never, run.run, shown)
      if (end === 'planned') return finishRun(trx, run.run, { state: 'planned' })
      if (run.undo !== null && end === 'applied') await settleUndone(trx, run.undo.run)
      if (refused.length > 0) await quarantineUnconverged(trx, run, [])
      await saveLedger(trx as never, this.#of, questions, this.#folded)
      await saveStates(trx as never, this.#of, states)
      return undefined
    })
  }

  async #saveBlocks(trx: Fenced, { facts }: Judged): Promise<void> {
    const blocks = facts.blocks.map(({ code, params = {}, keys, until, stops, asks }) => ({
      code,
      params,
      until,
      stops: stops ?? null,
      asks: asks ?? null,
      keys: [...keys].length,
    }))
    await sql`UPDATE dirsyncd.runs SET breaches = ${JSON.stringify(blocks)}::jsonb WHERE run = ${this.#run.run}`.execute(
      trx,
    )
  }

  /** A store that is away for a moment interrupts no run: while the lease lasts, applying resumes where it was. */
  async apply(judged: Judged, signal: AbortSignal): Promise<Outcomes> {
    const { db, onApply, isDead, log } = this.#deps
    const { name: sync, queue, target, verification } = this.#setup
    if (judged.plan.length > 0) {
      await this.#fenced.write((trx) => setRunState(trx, this.#run.run, 'applying'))
      const parts = {
        ...verification,
        onNotices: () => undefined,
        log: log.child({ sync, run: this.#run.run }),
      }
      const deps = {
        db,
        queue,
        fenced: this.#fenced,
        target,
        isDead,
        verification: parts,
        times: this.#times,
      }
      onApply?.(sync)
      for (;;) {
        try {
          await applyRun(deps, signal)
          break
        } catch (error) {
          if (signal.aborted || !isAway(error)) throw error
        }
        await sleep(this.#times.daemon.storeAway, undefined, { signal })
      }
    }
    return this.outcomes(judged)
  }

  async outcomes(judged: Judged): Promise<Outcomes> {
    const { db } = this.#deps
    const unfinished = await unfinishedChanges(db, this.#run.run)
    const { facts, plan } = judged
    const { directory } = facts.wanted.snapshots
    const there = await countThereBefore(db, this.#run.run)
    const incomplete = incompleteDirectory({ directory, plan: { changes: plan } } as never, there)
    const open = new Set(unfinished.map(({ op, id }) => `${op} ${id}`))
    const { done, deleted } = await inTurns(
      madeKeys(judged, (change) => !open.has(`${change.op} ${change.id}`)),
    )
    return { done, deleted, isWhole: incomplete.length === 0 }
  }

  async finish(
    judged: Judged,
    ledger: (latest: Ledger) => Promise<Ledger>,
    next: Partial<States>,
  ): Promise<void> {
    const run = this.#run
    const { ledger: latest, folded } = await loadLedger(this.#deps.db as never, this.#of)
    const [questions, states] = [await packLedger(await ledger(latest)), await encodeStates(next)]
    await this.#fenced.write(async (trx) => {
      await saveLedger(trx as never, this.#of, questions, folded)
      await saveStates(trx as never, this.#of, states)
      await outcomesAtEnd(trx, run.run)
      await finishRun(trx, run.run, { state: judged.end === 'held' ? 'held' : 'done' })
    })
  }
}

/** The digests of the changes of which an operator approved every key. */
function* approvedChanges({ facts, plan }: Judged): Steps<ReadonlySet<string>> {
  const approved = new Set<string>()
  if (facts.decisions.ledger.approvals.size === 0) return approved
  yield* forEachInSteps(plan, ({ change, fingerprint }) => {
    const keys = [...keysOfChange(facts.left, change)]
    if (keys.length > 0 && keys.every((key) => facts.decisions.isApproved(wholeOf(key))))
      approved.add(fingerprint)
  })
  return approved
}

function* madeKeys(
  { facts, plan }: Judged,
  isDone: (change: Change) => boolean,
): Steps<Pick<Outcomes, 'done' | 'deleted'>> {
  const done: Key[] = []
  const deleted: Record<Kind, Set<string>> = { user: new Set(), group: new Set() }
  yield* forEachInSteps(plan, ({ change }) => {
    if (!isDone(change)) return
    if (change.op === 'delete-user' || change.op === 'delete-group') deleted[kindOf(change.op)].add(change.id)
    for (const key of keysOfChange(facts.left, change)) done.push(key)
  })
  return { done, deleted }
}
