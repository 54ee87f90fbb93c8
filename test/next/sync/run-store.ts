import type { Journal } from '../core/checks/run-facts.ts'
import type { Refusal } from '../core/checks/refusals.ts'
import type { States } from '../core/checks/states.ts'
import type { Ledger } from '../core/decisions.ts'
import type { Kind } from '../../../src/core/entries/entry.ts'
import type { Key } from '../core/keys.ts'
import type { Judged } from './run.ts'

/** What earlier runs and operators did, as late as possible before a run decides. */
export interface History {
  readonly ledger: Ledger
  /** The store's time. */
  readonly now: Date
  readonly journal: Journal
  readonly refusals: readonly Refusal[]
}

/** What became of the changes of a run. */
export interface Outcomes {
  readonly done: readonly Key[]
  readonly deleted: Readonly<Record<Kind, ReadonlySet<string>>>
  /** Whether nothing proved the directory's list incomplete. */
  readonly isWhole: boolean
}

/** One run as its owner writes it. */
export interface RunStore {
  /** Waits until no request of an older run can be in flight any more. */
  quiesce(signal: AbortSignal): Promise<void>
  states(): Promise<States>
  history(): Promise<History>
  /** One transaction, which makes the plan claimable. */
  begin(judged: Judged, ledger: Ledger, next: Partial<States>): Promise<void>
  /** Returns when every change has its final state. */
  apply(judged: Judged, signal: AbortSignal): Promise<Outcomes>
  finish(judged: Judged, ledger: (latest: Ledger) => Promise<Ledger>, next: Partial<States>): Promise<void>
}
