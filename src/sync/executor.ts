import { DirsyncdError, sentence } from '../base/errors.ts'
import type { UserTable } from '../core/entries/user-table.ts'
import { FencedRun, Overtaken } from '../store/fenced-run.ts'
import type { Lease, Leases } from '../store/lease.ts'
import { explainStoreError, isAway } from '../base/database/outage.ts'
import { prune, type Retention } from '../store/retention.ts'
import type { RunMode } from '../store/run-types.ts'
import { interruptRuns, leaveRun } from '../store/interruptions.ts'
import { pauseOfSync } from '../store/paused-syncs.ts'
import {
  addRun,
  beginRun,
  findRun,
  nextWaitingRun,
  type RunRecord,
  waitingWholeRun,
  withLease,
} from '../store/runs.ts'
import { idsOf } from '../core/within.ts'
import { doneChanges, laterAttempts } from '../store/undoable.ts'
import { type Origin, SyncOrigin, UndoOrigin } from './origin.ts'
import { finish, run as makeRun } from './run.ts'
import type { Job, Judged } from './run-store.ts'
import { Session, type SessionDeps, type SyncSetup } from './session.ts'

export interface ExecutorDeps extends SessionDeps {
  readonly leases: Leases
  readonly syncs: ReadonlyMap<string, SyncSetup>
  readonly owner: string
  /** Aborted when the process ends: the next process takes over its run. */
  readonly signal: AbortSignal
  /** Without it, everything is kept. */
  readonly retention?: Retention
  readonly onRunEnd?: (run: number) => Promise<void>
  readonly onEnd?: (sync: string, mode: RunMode, end: WorkEnd) => void
}

/** `interrupted` runs are made again. */
type WorkEnd = Judged['end'] | 'failed' | 'interrupted'

export class Executor {
  readonly #deps: ExecutorDeps

  constructor(deps: ExecutorDeps) {
    this.#deps = deps
  }

  /**
   * Makes the waiting runs, one by one; `scheduled` makes a run also when none waits. Returns at once when another
   * process has the lease: it sees these runs.
   */
  async work(name: string, { scheduled }: { readonly scheduled: boolean }): Promise<void> {
    const { db, syncs, leases, owner, times } = this.#deps
    const setup = syncs.get(name)
    if (setup === undefined) return
    await using lease = await leases.take(name, owner, times.lease)
    if (lease === undefined) return
    await this.#resume(setup, lease)
    if (
      scheduled &&
      (await pauseOfSync(db, name)) === undefined &&
      (await waitingWholeRun(db, name)) === undefined
    ) {
      await addRun(db, { sync: name, target: setup.target, mode: 'sync', trigger: 'schedule' })
    }
    const signal = AbortSignal.any([leaving(this.#deps, setup), lease.signal])
    while (!signal.aborted) {
      const run = await nextWaitingRun(db, name)
      if (run === undefined) return
      await this.#execute(setup, run, lease, signal)
    }
  }

  /**
   * Takes the sync's lease and makes this waiting run alone: other waiting runs belong to other commands. Resolves with
   * whether it made the run; at once with `false` when another process has the lease.
   */
  async workOn(name: string, number: number): Promise<boolean> {
    const { db, syncs, leases, owner, times } = this.#deps
    const setup = syncs.get(name)
    if (setup === undefined) return false
    await using lease = await leases.take(name, owner, times.lease)
    if (lease === undefined) return false
    const run = await findRun(db, number)
    if (run?.state !== 'waiting') return false
    // A plan changes nothing, so it leaves interrupted runs to the processes that resume them.
    if (run.mode === 'sync') {
      await withLease(db, lease, number, (trx) =>
        interruptRuns(trx, name, async () => number, { beginsAtOnce: true }),
      )
    }
    await this.#execute(setup, run, lease, AbortSignal.any([leaving(this.#deps, setup), lease.signal]))
    return true
  }

  /** Ends the runs of dead processes. The resume is one new run from the read, or a full run that waits already. */
  async #resume({ name: sync, target }: SyncSetup, lease: Lease): Promise<void> {
    await withLease(this.#deps.db, lease, 0, (trx) =>
      interruptRuns(trx, sync, async ({ mode, trigger, scope, undo }) => {
        const isOfAll = scope === null && undo === null
        const waiting = mode === 'sync' && isOfAll ? await waitingWholeRun(trx, sync) : undefined
        const next = { sync, target, mode, trigger, scope: scope ?? undefined, undo: undo ?? undefined }
        return waiting ?? addRun(trx, next)
      }),
    )
  }

  async #execute(setup: SyncSetup, waiting: RunRecord, lease: Lease, signal: AbortSignal): Promise<void> {
    const { db, syncs, times, onEnd, onRunEnd } = this.#deps
    const { target } = setup
    const run = { ...waiting, target }
    await beginRun(db, lease, run.run, target)
    const end = await this.#make(setup, run, lease, signal)
    onEnd?.(setup.name, run.mode, end)
    if (end === 'interrupted') return
    await onRunEnd?.(run.run)
    await prune({ ...this.#deps, lease: times.lease, syncs: [...syncs.keys()] }, setup.name, signal)
  }

  /** Makes a run, and releases all that it read: the retention after it may take minutes. */
  async #make(setup: SyncSetup, record: RunRecord, lease: Lease, signal: AbortSignal): Promise<WorkEnd> {
    const { db, ...deps } = this.#deps
    const log = deps.log.child({ sync: setup.name, run: record.run })
    const fenced = new FencedRun(db, { run: record.run, epoch: lease.epoch })
    using session = new Session(this.#deps, setup, record, fenced)
    const job = jobOf(setup, record)
    const origin = this.#originOf(setup, record, session)
    try {
      const end = await makeRun(job, origin, session, signal)
      log.info({ end }, 'run ended')
      return end
    } catch (error) {
      // The state of this run in the store is unknown: the next one starts again from the read.
      if (signal.aborted || isAway(error) || error instanceof Overtaken) {
        log.info('run interrupted')
        if (leaving(deps, setup).aborted)
          await fenced.write((trx) => leaveRun(trx, record.run)).catch(() => undefined)
        return 'interrupted'
      }
      const explained = explainStoreError(error)
      const code = explained instanceof DirsyncdError ? explained.code : 'internal'
      const { judged } = session
      const reason = { code, text: sentence(explained) }
      if (judged === undefined) await session.fail(reason)
      else await finish(job, origin, session, judged, await session.outcomes(judged), reason)
      log.error({ code, error: sentence(explained) }, 'run failed')
      if (code === 'internal') log.debug({ err: error }, 'where it failed')
      return 'failed'
    }
  }

  #originOf(setup: SyncSetup, { undo, trigger }: RunRecord, { table }: Session): Origin {
    const { db } = this.#deps
    const { source, rules } = setup
    // Members that other clients added are no part of an undo, also where the sync reads no members.
    const membership = undo === null ? rules.membership : 'write'
    const readDirectory = (signal: AbortSignal, of: UserTable) => setup.readDirectory(signal, of, membership)
    if (undo === null)
      return new SyncOrigin({ source, rules, readDirectory, table, isAsked: trigger !== 'schedule' })
    return new UndoOrigin({
      undo,
      rules,
      table,
      readDirectory,
      doneChanges: () => doneChanges(db, undo.run),
      laterAttempts: () => laterAttempts(db, undo.run),
    })
  }
}

function jobOf(setup: SyncSetup, { run: number, mode, scope }: RunRecord): Job {
  const { limits, grace, options } = setup
  return {
    run: number,
    isDry: mode === 'plan',
    scope: scope === null ? undefined : idsOf(scope),
    limits,
    grace,
    options,
  }
}

/** Aborted when another process is to take over the runs of the sync. */
function leaving({ signal }: Pick<ExecutorDeps, 'signal'>, setup: SyncSetup): AbortSignal {
  return setup.leaving === undefined ? signal : AbortSignal.any([signal, setup.leaving])
}
