import { cut } from '../base/wording.ts'
import { DirsyncdError, sentence } from '../base/errors.ts'
import { listQuarantine, type QuarantinedRow, releaseQuarantine } from '../store/quarantine.ts'
import { explainStoreError, isAway } from '../base/database/outage.ts'
import { type Pause, pausesOf } from '../store/pause.ts'
import { pausedSyncs, pauseOfSync } from '../store/paused-syncs.ts'
import { changesOf, countChanges, listChanges } from '../store/change-list.ts'
import { decisionsAbout } from '../store/ledgers.ts'
import { openQuestionsOf } from './open-questions.ts'
import { countNotices, lastFailureOf, listNoticesOf, noticesOf, sameNotices } from '../store/plans.ts'
import { addRun, findRun, listRuns, outcomesSoFar, type RunRecord } from '../store/runs.ts'
import type { Kysely } from 'kysely'
import type { Tables } from '../store/tables.ts'
import {
  type ChangeView,
  type Control,
  type Decided,
  type DecisionRequest,
  pauseText,
  type QuarantinedChange,
  type ReleaseRequest,
  type RunCounts,
  type RunDetail,
  type RunSummary,
  type RunView,
  type Wait,
} from './control.ts'
import { pauseOperations, pauseView } from './paused.ts'
import { decide, type DecideDeps } from './decide.ts'
import { withDecisions } from './decided-changes.ts'
import { type After, PART } from './parts.ts'
import { shownReasonsOf } from './shown-reasons.ts'
import { total } from './total.ts'
import { addUndo, lostFor } from './undo.ts'

export interface LocalControlDeps {
  readonly db: Kysely<Tables>
  readonly targets: ReadonlyMap<string, string>
  /** Ends the runs of dead processes, where no daemon does. */
  readonly endInterrupted?: (sync: string) => Promise<void>
  readonly wake: (sync: string, run: number) => Promise<void>
}

export type LocalControl = Omit<Control, typeof Symbol.asyncDispose | 'explain'>

export function createLocalControl(deps: LocalControlDeps): LocalControl {
  const { db } = deps

  function targetOf(sync: string): string {
    const target = deps.targets.get(sync)
    if (target === undefined) throw unknownSync(sync, [...deps.targets.keys()])
    return target
  }

  function filterOf({ sync, scope }: Omit<ReleaseRequest, 'by'>) {
    return { targets: sync === undefined ? deps.targets : new Map([[sync, targetOf(sync)]]), scope }
  }

  async function request(
    sync: string,
    run: Omit<Parameters<typeof addRun>[1], 'sync' | 'target'>,
  ): Promise<number> {
    const target = targetOf(sync)
    const number = await addRun(db, { sync, target, ...run })
    await deps.wake(sync, number)
    return number
  }

  return explainingOutages({
    requestRun: async ({ sync, mode, scope }) => {
      if (mode === 'sync') await requireNoPause(db, sync)
      return request(sync, { mode, trigger: 'demand', scope })
    },
    run: async (number, detail) => {
      const run = await findRun(db, number)
      return run && view(db, run, detail?.limit ?? PART)
    },
    changes: (number, place) => nextChanges(db, number, place),
    notices: (number, place) => listNoticesOf(db, number, { ...place, limit: PART }),
    runs: async (filter) => summaries(db, await listRuns(db, filter)),
    approve: (asked) => decideAnd({ ...deps, request }, 'approve', asked),
    reject: (asked) => decideAnd({ ...deps, request }, 'reject', asked),
    undo: async (asked) => {
      const { run, sync } = await addUndo(deps, asked)
      await deps.wake(sync, run)
      return run
    },
    ...pauseOperations(deps, targetOf),
    quarantine: async (asked) => (await listQuarantine(db, filterOf(asked))).map(quarantinedChange),
    release: async (asked) => (await releaseQuarantine(db, filterOf(asked))).map(quarantinedChange),
  })
}

async function decideAnd(
  deps: DecideDeps,
  does: Parameters<typeof decide>[1],
  asked: DecisionRequest,
): Promise<Decided> {
  const { run, decision, sent } = await decide(deps, does, asked)
  const { db } = deps
  const pause = decision.started === null ? await pauseOfSync(db, run.sync) : undefined
  const now = (await findRun(db, run.run)) ?? run
  return {
    run: await summary(db, now),
    decision,
    paused: pause === undefined ? null : pauseView(pause),
    sent,
  }
}

async function requireNoPause(db: Kysely<Tables>, sync: string): Promise<void> {
  const pause = await pauseOfSync(db, sync)
  if (pause !== undefined) throw new DirsyncdError('sync-paused', `${pauseText(pauseView(pause))}.`)
}

/** Each operation throws `store-unavailable` during an outage of a server. */
function explainingOutages(operations: LocalControl): LocalControl {
  const explaining = Object.entries(operations).map(([name, operate]) => [
    name,
    explainingOutage(operate as (...args: unknown[]) => Promise<unknown>),
  ])
  return Object.fromEntries(explaining) as LocalControl
}

/** Throws `store-unavailable` during an outage of a server. */
export function explainingOutage<Args extends unknown[], T>(
  operate: (...args: Args) => Promise<T>,
): (...args: Args) => Promise<T> {
  return async (...args) => {
    try {
      return await operate(...args)
    } catch (error) {
      if (!isAway(error)) throw explainStoreError(error)
      const why = `The store or the queue does not answer (${sentence(error)}).`
      throw new DirsyncdError('store-unavailable', why, { cause: error })
    }
  }
}

export function unknownSync(sync: string, known: readonly string[]): DirsyncdError {
  return new DirsyncdError('usage', `There is no sync "${cut(sync)}"; configured are: ${known.join(', ')}.`)
}

async function view(db: Kysely<Tables>, run: RunRecord, limit: number): Promise<RunView> {
  return {
    ...(await detailOf(db, run)),
    changes: await withDecisions(db, run, await changesOf(db, run, limit)),
    notices: await noticesOf(db, run.run, limit),
    totalChanges: await countChanges(db, run),
    totalNotices: await countNotices(db, run.run),
    sameNotices: run.finished_at === null ? null : ((await sameNotices(db, run)) ?? null),
  }
}

async function nextChanges(db: Kysely<Tables>, number: number, place: After): Promise<readonly ChangeView[]> {
  const run = await findRun(db, number)
  if (run === undefined) return []
  return withDecisions(db, run, (await listChanges(db, run, {}, { ...place, limit: PART })).rows)
}

export async function detailOf(db: Kysely<Tables>, run: RunRecord): Promise<RunDetail> {
  const [base, reasons] = await Promise.all([summary(db, run), shownReasonsOf(db, run)])
  const isApplying = run.state === 'applying'
  return {
    ...base,
    counts: base.counts && isApplying ? await countsSoFar(db, run.run, base.counts) : base.counts,
    configurationChange: run.configuration_change,
    readAt: run.read_at?.toISOString() ?? null,
    applyingAt: run.applying_at?.toISOString() ?? null,
    evidence: run.evidence,
    ...reasons,
    lost: lostFor(run),
  }
}

/** Reads the workers' counters, because counting many changes is slow. */
async function countsSoFar(db: Kysely<Tables>, run: number, counts: RunCounts): Promise<RunCounts> {
  const outcomes = await outcomesSoFar(db, run)
  const pending = total(counts.planned) - total(outcomes)
  return { ...counts, outcomes: pending > 0 ? { ...outcomes, pending } : outcomes }
}

async function summary(db: Kysely<Tables>, run: RunRecord): Promise<RunSummary> {
  const [only] = await summaries(db, [run])
  return only!
}

async function summaries(db: Kysely<Tables>, runs: readonly RunRecord[]): Promise<readonly RunSummary[]> {
  // Without a block, a run showed nothing that could be decided. Pages ask every few seconds.
  const numbers = runs.filter(({ blocks }) => (blocks ?? []).length > 0).map(({ run }) => run)
  const [questions, decisions, paused, pauses] = await Promise.all([
    openQuestionsOf(db, numbers),
    decisionsAbout(db, numbers),
    pausedSyncs(db),
    pausesOf(db, [...new Set(runs.filter(asksApi).map(({ target }) => target))]),
  ])
  const summarized = runs.map(async (run) => {
    const wait = waitOf(run, pauses.get(run.target))
    const answer = wait?.why === 'outage' ? await lastFailureOf(db, run.run) : undefined
    const waits = wait && { ...wait, ...(answer !== undefined && { answer }) }
    const pause = paused.get(run.sync)
    return {
      ...summarize(run),
      questions: questions.get(run.run) ?? 0,
      decisions: decisions.get(run.run) ?? [],
      waitsUntil: waits,
      paused: pause === undefined ? null : pauseView(pause),
    }
  })
  return Promise.all(summarized)
}

function asksApi({ state }: RunRecord): boolean {
  return state === 'reading' || state === 'applying'
}

/** An outage stops only changes. */
function waitOf(run: RunRecord, pause: Pause | undefined): Wait | null {
  if (pause === undefined || !asksApi(run)) return null
  if (pause.why === 'outage' && run.state !== 'applying') return null
  return { at: pause.ends.toISOString(), why: pause.why }
}

function summarize(run: RunRecord): Omit<RunSummary, 'questions' | 'decisions' | 'waitsUntil' | 'paused'> {
  return {
    run: run.run,
    sync: run.sync,
    mode: run.mode,
    trigger: run.trigger,
    state: run.state,
    requestedAt: run.requested_at.toISOString(),
    startedAt: run.started_at?.toISOString() ?? null,
    finishedAt: run.finished_at?.toISOString() ?? null,
    counts: run.counts,
    blocks: run.blocks ?? [],
    digest: run.digest,
    error: run.error,
    scope: run.scope,
    undo: run.undo,
  }
}

function quarantinedChange({ op, ...row }: QuarantinedRow): QuarantinedChange {
  return {
    sync: row.sync,
    kind: op.endsWith('-user') ? 'user' : 'group',
    id: row.entry_id,
    name: row.name,
    op,
    fingerprint: row.fingerprint,
    refusal: row.refusal,
    since: row.since.toISOString(),
    triedAt: row.tried_at.toISOString(),
    triedAgainAt: row.tried_again_at.toISOString(),
  }
}
