import type { BlockedChanges } from '../core/blocked.ts'
import type { Grace, GuardLimits, Refusal, RunFacts, States } from '../core/checks/check.ts'
import type { Notice } from '../core/notice.ts'
import type { Shown } from '../core/decide.ts'
import type { PlannedChanges } from '../core/plan/changes.ts'
import type { Options } from '../core/plan/configuration.ts'
import type { ScopeIds } from '../core/within.ts'
import type { Ledger } from '../core/decisions.ts'
import type { Kind } from '../core/entries/entry.ts'
import type { Key } from '../core/keys.ts'
import type { RunError } from '../store/runs.ts'

export interface Job {
  readonly run: number
  readonly isDry: boolean
  /** Set where only these entries are to be changed. */
  readonly scope: ScopeIds | undefined
  readonly limits: GuardLimits
  readonly grace: Grace
  /** Hashes of the options that change scope or mapping. */
  readonly options: Options
}

/** A run as it is stored before the first request. */
export interface Judged {
  readonly facts: RunFacts
  readonly plan: PlannedChanges
  readonly blocked: BlockedChanges
  readonly shown: Shown
  readonly notices: readonly Notice[]
  readonly end: 'planned' | 'held' | 'done'
  /** The run reads all entries, from a source whose server is not doubted. */
  readonly isOfAll: boolean
}

/** What earlier runs and operators did, as late as possible before a run decides. */
export interface History {
  readonly ledger: Ledger
  /** The store's time. */
  readonly now: Date
  readonly journal: RunFacts['journal']
  readonly refusals: readonly Refusal[]
}

/** What became of the changes of a run. */
export interface Outcomes {
  readonly isMade: (key: Key) => boolean
  readonly deleted: Readonly<Record<Kind, ReadonlySet<string>>>
  /** Whether nothing proved the directory's list incomplete. */
  readonly isWhole: boolean
}

interface Applied {
  /** As it was judged last. */
  readonly judged: Judged
  readonly outcomes: Outcomes
}

/** What a run leaves for the next one. */
interface LeftForNext {
  /** @param latest with the decisions that were taken meanwhile */
  readonly ledger: (latest: Ledger) => Promise<Ledger>
  readonly states: Partial<States>
  /** Whole, readable, its server not doubted, its directory list not short. */
  readonly isComplete: boolean
  readonly error: RunError | undefined
}

/** One run as its owner writes it. */
export interface RunStore {
  /** Waits until no request of an older run can be in flight any more. */
  quiesce(signal: AbortSignal): Promise<void>
  states(): Promise<States>
  history(): Promise<History>
  /** Its last transaction makes the plan claimable. */
  begin(judged: Judged, ledger: Ledger, states: Partial<States>): Promise<void>
  /**
   * Returns when every change has its final state.
   *
   * @param again judges once more, with another recheck of these entries: what must stay is blocked
   */
  apply(
    judged: Judged,
    again: (last: Judged, waiting: ScopeIds) => Promise<Judged>,
    signal: AbortSignal,
  ): Promise<Applied>
  finish(judged: Judged, left: LeftForNext): Promise<void>
}
