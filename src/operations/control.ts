import type { BlockCode, KeyFacts } from '../core/block.ts'
import type { RefusalReason } from '../core/checks/check.ts'
import { type PartName, PARTS } from '../core/decide.ts'
import type { Notice, NoticeCode } from '../core/notice.ts'
import type { Kind } from '../core/entries/entry.ts'
import { timeOfDay } from '../base/wording.ts'
import type { Change, Op } from '../core/plan/change.ts'
import type { ConfigurationChange } from '../core/plan/configuration.ts'
import type { Part } from '../core/plan/part/part.ts'
import type { Scope } from '../core/within.ts'
import { type ChangeReason, FIRST_BLOCKED } from '../store/change-list.ts'
import { CHANGE_STATES } from '../store/run-types.ts'
import type { RunFilter } from '../store/runs.ts'
import type {
  ChangeState,
  ReadEvidence,
  RecordedDecision,
  RunCounts,
  RunMode,
  RunState,
  RunTrigger,
  StoredBlock,
  Undo,
} from '../store/run-types.ts'
import type { After } from './parts.ts'
import type { WrittenSync } from './reload.ts'
import type { ShownReason, ShownReasons } from './shown-reasons.ts'
import type { Explanation, ExplainRequest } from './story.ts'
import { earlierPauseText, pauseText, type SyncPause } from './sync-pause.ts'

export { CHANGE_STATES, earlierPauseText, FIRST_BLOCKED, PARTS, pauseText }
export type {
  ChangeReason,
  PartName,
  RunCounts,
  RunMode,
  RunState,
  Scope,
  ShownReason,
  StoredBlock,
  SyncPause,
}

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
  readonly blocks: readonly StoredBlock[]
  /** How many of the changes and facts that it asked about are open now. */
  readonly questions: number
  readonly digest: string | null
  readonly error: string | null
  readonly waitsUntil: Wait | null
  /** The earliest first. */
  readonly decisions: readonly RecordedDecision[]
  readonly scope: Scope | null
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

export interface ChangeView {
  /** The change's place in the plan, from 1. */
  readonly number: number
  readonly change: Change
  readonly state: ChangeState
  readonly status: number | null
  readonly detail: string | null
  /** Why the change is blocked; none where only the stop of the plan blocks it. */
  readonly reasons: readonly ChangeReason[]
  readonly isOpen?: boolean
  /** The owner keeps the e-mail that the change needs, because an operator rejected its delete or its other e-mail. */
  readonly keptBy?: KeyFacts['rejected'] & { readonly owner: string; readonly change: 'delete' | 'update' }
}

export type NumberedNotice = Notice & { readonly number: number }

/** One run, without the lists that may be long. */
export interface RunDetail extends RunSummary, ShownReasons {
  /** When source and directory had been read, and when its changes began to be applied; ISO 8601, UTC. */
  readonly readAt: string | null
  readonly applyingAt: string | null
  readonly evidence: ReadEvidence | null
  readonly lost: readonly string[]
  readonly configurationChange: ConfigurationChange | null
}

export interface RunView extends RunDetail {
  readonly changes: readonly ChangeView[]
  readonly notices: readonly Notice[]
  readonly totalChanges: number
  readonly totalNotices: number
  /** Notices that an earlier run already had; null while the run is unfinished, or without such a run. */
  readonly sameNotices: { readonly run: number; readonly codes: readonly NoticeCode[] } | null
}

export interface RunRequest {
  readonly sync: string
  readonly mode: RunMode
  readonly scope?: Scope
}

/** Without `ids`, `only` and `code`: the open questions of the run. */
export interface DecisionRequest {
  readonly run: number
  readonly by: string
  readonly reason?: string | undefined
  readonly ids?: readonly string[] | undefined
  readonly only?: readonly PartName[] | undefined
  readonly code?: BlockCode | undefined
  /** All reasons, where the run asked for more than one. */
  readonly isAll?: boolean | undefined
}

export interface SentBefore {
  readonly run: number
  readonly changes: number
  /** Claimed by workers, which may send some of them before they see the rejection. */
  readonly underWay: number
}

export interface Decided {
  readonly run: RunSummary
  readonly decision: RecordedDecision
  /** Set where the sync is paused, so that no run applies the approval yet. */
  readonly paused: SyncPause | null
  /** The rejected changes that a run under way had sent. The service keeps those that it made. */
  readonly sent: SentBefore | null
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

export interface QuarantinedChange {
  readonly sync: string
  readonly kind: Kind
  readonly id: string
  /** Null where it is unknown. */
  readonly name: string | null
  readonly op: Op
  readonly fingerprint: string
  readonly refusal: RefusalReason
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
  readonly scope?: Scope
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

export interface Control extends AsyncDisposable {
  /** What the daemon has loaded; the file may have changed since. Only a daemon has it. */
  readonly configuration?: () => Promise<readonly WrittenSync[]>
  /** Returns the number of the new run at once. Throws `sync-paused` for a run that would write. */
  requestRun(request: RunRequest): Promise<number>
  /** One run with its first changes and notices, `limit` of each (default and at most 1,000). */
  run(number: number, detail?: { readonly limit: number }): Promise<RunView | undefined>
  changes(run: number, place: After): Promise<readonly ChangeView[]>
  notices(run: number, place: After): Promise<readonly NumberedNotice[]>
  /** The newest runs first. */
  runs(filter: RunFilter): Promise<readonly RunSummary[]>
  /**
   * Approves what the run showed, all open questions or a part, and requests a run that applies it. Throws `run-unknown`
   * or `usage`.
   */
  approve(request: DecisionRequest): Promise<Decided>
  /** Rejects it: these changes are not made until an operator approves them. Throws as `approve`. */
  reject(request: DecisionRequest): Promise<Decided>
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

export function waitText({ at, why, answer }: Wait): string {
  return why === 'limited'
    ? `waits for the API until ${timeOfDay(at)} (the service asked for it with 429)`
    : `the directory does not answer${answer === undefined ? '' : ` (${answer})`}; next try at ${timeOfDay(at)}`
}
