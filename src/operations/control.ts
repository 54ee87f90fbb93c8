import type { Notice } from '../core/entries/snapshot.ts'
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
  /**
   * How many different changes its hold waits for that nobody has decided on yet; the breaches may name one change
   * several times.
   */
  readonly undecidedChanges: number
  /** Of a hold that it shares with an earlier run, only what became of it; null while that one is open. */
  readonly hold: HoldState | null
  /** The run whose hold this run waits for: its own, or an earlier one that holds the same changes or comes first. */
  readonly holdRun: number | null
  readonly digest: string | null
  /** Whether a person approved what it does. */
  readonly approved: boolean
  /** One sentence, where the run failed. */
  readonly error: string | null
  /** What the run waits for, where its directory is left alone for a time. */
  readonly waitsUntil: Wait | null
  /** When nobody can decide any more about its hold, which the next run then makes anew; ISO 8601, UTC. */
  readonly holdExpiresAt: string | null
  /** What people decided about its hold, the earliest first. */
  readonly decisions: readonly RecordedDecision[]
  /** The run whose hold was approved, where this one applies that. */
  readonly approvalOf: number | null
  /** Set where the run applies a part of its plan only. */
  readonly part: Part | null
  /** The run, or the part of it, that this one puts back. */
  readonly undo: Undo | null
  /** Whether its sync is paused now. */
  readonly paused: SyncPause | null
}

export interface Wait {
  /** ISO 8601, UTC. */
  readonly at: string
  /** `limited`: the service asked for it with 429. `outage`: it does not answer. */
  readonly why: 'limited' | 'outage'
  /** In an outage: what came of the last change that was sent, in a sentence. */
  readonly answer?: string
}

/** Without what the service answered, which may name a person. */
export function withoutAnswer({ at, why }: Wait): Wait {
  return { at, why }
}

/**
 * The run whose hold comes first: it is of the whole sync, so what this run of single entries would hold is not to be
 * decided on before.
 */
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
  /** The HTTP status of the last answer. */
  readonly status: number | null
  readonly detail: string | null
}

/** One run, without the lists that may be long. */
export interface RunDetail extends RunSummary {
  /** When both sides had been read, and when its changes began to be applied; ISO 8601, UTC. */
  readonly readAt: string | null
  readonly applyingAt: string | null
  /** What it found out about its reads. */
  readonly evidence: ReadEvidence | null
  /** What an undo cannot bring back, in words. */
  readonly lost: readonly string[]
  /** The runs that approvals of its hold began, the first one first; later ones may apply what these did not. */
  readonly approvalRuns: readonly number[]
  /** How many changes of its hold are approved and wait for a run that applies them; `reject` takes them back. */
  readonly approvedWaiting: number
  /** Which options of the sync are not as in its last completed run of all entries. */
  readonly configurationChange: ConfigurationChange | null
}

export interface RunView extends RunDetail {
  readonly changes: readonly ChangeView[]
  readonly notices: readonly Notice[]
  readonly totalChanges: number
  readonly totalNotices: number
  /** Which of its notices an earlier run had already; null while the run goes on, and where there is no such run. */
  readonly sameNotices: SameNotices | null
}

export interface RunRequest {
  readonly sync: string
  readonly mode: RunMode
  readonly only?: Only
}

export interface DecisionRequest {
  readonly run: number
  /** Who decides. */
  readonly by: string
  readonly reason?: string | undefined
  /** Names of guards and findings; left out: all of them. */
  readonly only?: readonly string[] | undefined
  /**
   * What the hold was when the person looked at it: where somebody decided otherwise since, nothing is decided. Left out:
   * what it is now.
   */
  readonly seen?: 'open' | 'approved' | 'rejected' | undefined
}

export interface ApproveRequest extends DecisionRequest {
  readonly part?: Part | undefined
}

export interface UndoRequest {
  /** The run that is undone. */
  readonly run: number
  readonly part: Part
  /** `plan` only shows it. */
  readonly mode: RunMode
  /** Who asks for it. */
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
  /** Null where it is not known. */
  readonly name: string | null
  readonly op: Op
  readonly fingerprint: string
  /** One sentence: what the service answered. */
  readonly detail: string
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

/** The operations that commands and admin pages share. */
export interface Control extends AsyncDisposable {
  /** What a daemon works with, which may have been changed in the file since; only a daemon has it. */
  readonly configuration?: () => Promise<readonly WrittenSync[]>
  /** Asks for a run and returns its number at once. Throws `sync-paused` where it would write and must not. */
  requestRun(request: RunRequest): Promise<number>
  /** One run with its first changes and notices, `limit` of each (default 1,000). */
  run(number: number, detail?: { readonly limit: number }): Promise<RunView | undefined>
  /** The newest runs first. */
  runs(filter: RunFilter): Promise<readonly RunSummary[]>
  /**
   * Approves the open hold of this run, or only its guards and findings of these names, and asks for a run that applies
   * what may be applied then: where guards hold the plan, nothing before all of them are decided on. Of a part of the
   * plan, it asks for a run that applies that part, and for another one that holds the rest. Throws `run-unknown` or
   * `usage`.
   */
  approve(request: ApproveRequest): Promise<RunSummary>
  /**
   * Rejects the open hold of this run, or only its guards and findings of these names: their changes are left alone
   * until they change. Throws `run-unknown` or `usage`.
   */
  reject(request: DecisionRequest): Promise<RunSummary>
  /**
   * Asks for a run that puts back what an earlier one did, and pauses the sync unless the undo is only to be shown.
   * Returns its number at once. Throws `run-unknown` or `usage`.
   */
  undo(request: UndoRequest): Promise<number>
  /**
   * Pauses a sync: its run under way ends soon, and no other begins but plans and undos. Returns the pause, which is an
   * earlier one where there was one, and the number of the run that ends.
   */
  pause(request: PauseRequest): Promise<{ readonly pause: SyncPause; readonly stopped: number | null }>
  /** Ends the pause of a sync and returns it; null where there was none. */
  resume(request: ResumeRequest): Promise<SyncPause | null>
  /** The syncs that are paused. */
  paused(): Promise<readonly SyncPause[]>
  /** What is in quarantine. */
  quarantine(filter: { readonly sync?: string }): Promise<readonly QuarantinedChange[]>
  /** Takes changes out of quarantine, so that the next run tries them again, and returns them. */
  release(request: ReleaseRequest): Promise<readonly QuarantinedChange[]>
  /** Tells why the directory has a user or group as it has it. Changes nothing. Throws the signal's reason. */
  explain(request: ExplainRequest, signal?: AbortSignal): Promise<Explanation>
}

/** Guards hold the whole plan, so nothing of it is applied before all of them are decided on. */
export function isPlanStillHeld({ state, hold }: Pick<RunSummary, 'state' | 'hold'>): boolean {
  return state === 'held' && hold === 'open'
}

/** Of a plan that guards held, a person rejected something, and what was approved is to be applied. */
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

/** What a run waits for, for a person. */
export function waitText({ at, why, answer }: Wait): string {
  return why === 'limited'
    ? `waits for the API until ${timeOfDay(at)} (the service asked for it with 429)`
    : `the directory does not answer${answer === undefined ? '' : ` (${answer})`}; next try at ${timeOfDay(at)}`
}
