import type { Kind } from '../directory/entry.ts'
import type { Notice, NoticeCode } from '../directory/snapshot.ts'
import type { Change, Op } from '../plan/change.ts'

/** `sync` reads, plans and applies; `plan` stops before anything is written. */
export type RunMode = 'sync' | 'plan'

/** What asked for the run. */
export type RunTrigger = 'schedule' | 'demand' | 'approval'

/**
 * waiting → reading → planning → applying → done; `planned` ends a run of mode `plan`, `held` one that waits for a
 * person, `failed` one that ended with an error.
 */
export type RunState = 'waiting' | 'reading' | 'planning' | 'applying' | 'planned' | 'held' | 'done' | 'failed'

/** What became of a hold: `replaced` by a newer run's hold, or `closed` because a newer run had nothing to hold. */
export type HoldState = 'open' | 'approved' | 'rejected' | 'replaced' | 'closed'

/**
 * What became of one change. `applied`: the API did it. `found`: it was so before anything was sent. `already`: there was
 * nothing left to delete. `missing`: there was nothing to update, the next run creates it. `dropped`: a newer run began.
 */
export type ChangeState =
  | 'pending'
  | 'applied'
  | 'found'
  | 'already'
  | 'missing'
  | 'quarantined'
  | 'failed'
  | 'dropped'

export interface RunCounts {
  readonly sourceUsers: number
  readonly sourceGroups: number
  readonly directoryUsers: number
  readonly directoryGroups: number
  /** Users and groups that are equal on both sides. */
  readonly unchanged: number
  readonly planned: Partial<Record<Op, number>>
  readonly outcomes: Partial<Record<ChangeState, number>>
  readonly notices: Partial<Record<NoticeCode, number>>
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
  readonly breaches: readonly { readonly guard: string; readonly detail: string }[]
  readonly hold: HoldState | null
  readonly digest: string | null
  /** One sentence, where the run failed. */
  readonly error: string | null
}

export interface ChangeView {
  /** The change's place in the plan, from 1. */
  readonly number: number
  readonly change: Change
  readonly state: ChangeState
  readonly detail: string | null
}

export interface RunView extends RunSummary {
  readonly changes: readonly ChangeView[]
  readonly notices: readonly Notice[]
  readonly totalChanges: number
  readonly totalNotices: number
}

/** Limits a run to single entries, by external id. */
export interface Only {
  readonly users: readonly string[]
  readonly groups: readonly string[]
}

export interface RunRequest {
  readonly sync: string
  readonly mode: RunMode
  readonly only?: Only
}

/** The operations that commands and admin pages share. */
export interface Control extends AsyncDisposable {
  /** Asks for a run and returns its number at once. */
  requestRun(request: RunRequest): Promise<number>
  /** One run with its first changes and notices, `limit` of each (default 1,000). */
  run(number: number, detail?: { readonly limit: number }): Promise<RunView | undefined>
  /** The newest runs first. */
  runs(filter: { readonly sync?: string; readonly limit: number }): Promise<readonly RunSummary[]>
  /** Approves the open hold of this run and asks for a run that applies it; throws `run-unknown`. */
  approve(run: number, by: string): Promise<RunSummary>
  /** Rejects the open hold of this run: its breaching changes are left alone until they change; throws `run-unknown`. */
  reject(run: number, by: string): Promise<RunSummary>
}

export type { Change, Kind, Notice, NoticeCode, Op }
