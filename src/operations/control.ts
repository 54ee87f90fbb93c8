import type { Refusal } from '../core/plan/inputs.ts'
import type { Notice } from '../core/notice.ts'
import type { Kind } from '../core/entries/entry.ts'
import { timeOfDay } from '../base/wording.ts'
import type { Change, Op } from '../core/plan/change.ts'
import type { ConfigurationChange } from '../core/plan/configuration.ts'
import type { BreachSummary } from '../core/plan/decide.ts'
import type { Only } from '../core/plan/inputs.ts'
import { type Part, PART_NAMES } from '../core/plan/part/part.ts'
import { CHANGE_STATES } from '../store/run-types.ts'
import type { SameNotices } from '../store/plans.ts'
import type { RunFilter } from '../store/runs.ts'
import type {
  ChangeState,
  HoldState,
  ReadEvidence,
  RecordedDecision,
  RunCounts,
  RunMode,
  RunState,
  RunTrigger,
  Undo,
} from '../store/run-types.ts'
import type { After } from './parts.ts'
import type { WrittenSync } from './reload.ts'
import type { Explanation, ExplainRequest } from './story.ts'
import { earlierPauseText, pauseText, type SyncPause } from './sync-pause.ts'

export { CHANGE_STATES, earlierPauseText, pauseText, PART_NAMES }
export type { Only, RunCounts, RunMode, RunState, SyncPause }

export interface RunSummary {
  readonly run: number
  readonly sync: string
  readonly mode: RunMode
  readonly trigger: RunTrigger
  readonly state: RunState
  /** ISO 8601, UTC. */
  readonly requestedAt: string
  readonly startedAt: string | null
  readonly finishedAt: string | null
  readonly counts: RunCounts | null
  readonly breaches: readonly BreachView[]
  /** Distinct undecided changes of its hold; several breaches may name the same change. */
  readonly undecidedChanges: number
  /** Of a hold shared with an earlier run: only its outcome, and null while that hold is open. */
  readonly hold: HoldState | null
  /**
   * The run with the hold that this run waits for: its own, or an earlier one that holds the same changes or comes
   * first.
   */
  readonly holdRun: number | null
  readonly digest: string | null
  readonly approved: boolean
  /** One sentence, where the run failed. */
  readonly error: string | null
  /** The API pause that the run waits for. */
  readonly waitsUntil: Wait | null
  /** When its hold expires, which the next run then makes anew; ISO 8601, UTC. */
  readonly holdExpiresAt: string | null
  /** Decisions about its hold, the earliest first. */
  readonly decisions: readonly RecordedDecision[]
  readonly approvalOf: number | null
  readonly part: Part | null
  readonly undo: Undo | null
  readonly paused: SyncPause | null
}

export interface Wait {
  /** ISO 8601, UTC. */
  readonly at: string
  /** `limited`: the service answered 429. `outage`: it does not answer. */
  readonly why: 'limited' | 'outage'
  /** In an outage: the result of the last sent change, one sentence. */
  readonly answer?: string
}

/** The answer of the service may name an entry. */
export function withoutAnswer({ at, why }: Wait): Wait {
  return { at, why }
}

/** A hold of the whole sync is decided before the hold of this run of single entries. */
export function holdBefore({
  run,
  hold,
  holdRun,
}: Pick<RunSummary, 'run' | 'hold' | 'holdRun'>): number | undefined {
  return hold === 'replaced' && holdRun !== null && holdRun !== run ? holdRun : undefined
}

/** What holds a run, or with `waitsFor` only some of its changes. */
export type BreachView = BreachSummary

export interface ChangeView {
  /** The change's place in the plan, from 1. */
  readonly number: number
  readonly change: Change
  readonly state: ChangeState
  readonly status: number | null
  readonly detail: string | null
}

export type NumberedNotice = Notice & { readonly number: number }

/** One run, without the lists that may be long. */
export interface RunDetail extends RunSummary {
  /** When both sides had been read, and when its changes began to be applied; ISO 8601, UTC. */
  readonly readAt: string | null
  readonly applyingAt: string | null
  readonly evidence: ReadEvidence | null
  /** What an undo cannot restore, in words. */
  readonly lost: readonly string[]
  /** Runs started by approvals of its hold, the first one first; later ones may apply what these did not. */
  readonly approvalRuns: readonly number[]
  /** How many approved changes of its hold wait for a run; `reject` takes them back. */
  readonly approvedWaiting: number
  /** Changed options since the last completed run of all entries. */
  readonly configurationChange: ConfigurationChange | null
}

export interface RunView extends RunDetail {
  readonly changes: readonly ChangeView[]
  readonly notices: readonly Notice[]
  readonly totalChanges: number
  readonly totalNotices: number
  /**
   * Which of its notices an earlier run already had; null while the run is unfinished, and where there is no such run.
   */
  readonly sameNotices: SameNotices | null
}

export interface RunRequest {
  readonly sync: string
  readonly mode: RunMode
  readonly only?: Only
}

export interface DecisionRequest {
  readonly run: number
  readonly by: string
  readonly reason?: string | undefined
  /** Names of guards and findings; default: all. */
  readonly only?: readonly string[] | undefined
  /**
   * The hold as the operator saw it: a later decision by another operator refuses this one. Default: the present state.
   */
  readonly seen?: 'open' | 'approved' | 'rejected' | undefined
}

export interface ApproveRequest extends DecisionRequest {
  readonly part?: Part | undefined
}

export interface UndoRequest {
  readonly run: number
  readonly part: Part
  readonly mode: RunMode
  readonly by: string
}

export interface PauseRequest {
  readonly sync: string
  readonly by: string
  readonly reason?: string
}

export type ResumeRequest = Pick<PauseRequest, 'sync' | 'by'>

/** A change that the service refused for its own content. */
export interface QuarantinedChange {
  readonly sync: string
  readonly kind: Kind
  readonly id: string
  /** Null where it is unknown. */
  readonly name: string | null
  readonly op: Op
  readonly fingerprint: string
  readonly refusal: Refusal
  /** ISO 8601, UTC, as the next two. */
  readonly since: string
  readonly triedAt: string
  /** The first run after this time tries it again. */
  readonly triedAgainAt: string
}

export interface ReleaseRequest {
  readonly by: string
  /** Default: every sync. */
  readonly sync?: string
  readonly only?: Only
}

/** The operations that a daemon performs for commands; inputs and answers are JSON. */
export const OPERATIONS = [
  'configuration',
  'requestRun',
  'run',
  'changes',
  'notices',
  'runs',
  'approve',
  'reject',
  'undo',
  'pause',
  'resume',
  'paused',
  'quarantine',
  'release',
  'explain',
] as const satisfies readonly (keyof Control)[]

export type Operation = (typeof OPERATIONS)[number]

/** The operations that commands and admin pages share. */
export interface Control extends AsyncDisposable {
  /** What the daemon has loaded; the file may have changed since. Only a daemon has it. */
  readonly configuration?: () => Promise<readonly WrittenSync[]>
  /** Returns the number of the new run at once. Throws `sync-paused` for a run that would write. */
  requestRun(request: RunRequest): Promise<number>
  /** One run with its first changes and notices, `limit` of each (default and at most 1,000). */
  run(number: number, detail?: { readonly limit: number }): Promise<RunView | undefined>
  /** All changes of a run in their order, for `parts`. */
  changes(run: number, place: After): Promise<readonly ChangeView[]>
  /** All notices of a run in their order, for `parts`. */
  notices(run: number, place: After): Promise<readonly NumberedNotice[]>
  /** The newest runs first. */
  runs(filter: RunFilter): Promise<readonly RunSummary[]>
  /**
   * Approves the open hold of this run, or only its guards and findings of these names, and requests a run that applies
   * what may be applied then: where guards hold the plan, nothing before all of them are decided. Of a part of the
   * plan, one run applies the part, and another one holds the rest. Throws `run-unknown` or `usage`.
   */
  approve(request: ApproveRequest): Promise<RunSummary>
  /**
   * Rejects the open hold of this run, or only its guards and findings of these names: their changes are not made until
   * they change. Throws `run-unknown` or `usage`.
   */
  reject(request: DecisionRequest): Promise<RunSummary>
  /**
   * Requests a run that undoes an earlier one, and pauses the sync except in mode `plan`. Returns the run's number at
   * once. Throws `run-unknown` or `usage`.
   */
  undo(request: UndoRequest): Promise<number>
  /**
   * Ends the sync's present run soon and starts no other except plans and undos. Returns the pause, possibly an earlier
   * one, and the number of the run that ends.
   */
  pause(request: PauseRequest): Promise<{ readonly pause: SyncPause; readonly stopped: number | null }>
  /** Returns the ended pause; null where there was none. */
  resume(request: ResumeRequest): Promise<SyncPause | null>
  paused(): Promise<readonly SyncPause[]>
  quarantine(filter: { readonly sync?: string }): Promise<readonly QuarantinedChange[]>
  /** Takes changes out of quarantine, so that the next run tries them again, and returns them. */
  release(request: ReleaseRequest): Promise<readonly QuarantinedChange[]>
  /** Explains the state of a user or group in the directory. Changes nothing. Throws the signal's reason. */
  explain(request: ExplainRequest, signal?: AbortSignal): Promise<Explanation>
}

/** Guards hold the whole plan: nothing is applied before all of them are decided. */
export function isPlanStillHeld({ state, hold }: Pick<RunSummary, 'state' | 'hold'>): boolean {
  return state === 'held' && hold === 'open'
}

/** Some guards of the plan were rejected, and the approved changes are to be applied. */
export function isApprovedInPart({
  state,
  hold,
  breaches,
}: {
  readonly state: RunSummary['state']
  readonly hold: RunSummary['hold']
  readonly breaches: readonly Pick<BreachView, 'decided'>[] | null
}): boolean {
  const isAnyApproved = breaches?.some(({ decided }) => decided === 'approved') ?? false
  return state === 'held' && hold === 'rejected' && isAnyApproved
}

export function waitText({ at, why, answer }: Wait): string {
  return why === 'limited'
    ? `waits for the API until ${timeOfDay(at)} (the service asked for it with 429)`
    : `the directory does not answer${answer === undefined ? '' : ` (${answer})`}; next try at ${timeOfDay(at)}`
}
