import type { NoticeCode } from '../directory/snapshot.ts'
import type { Op } from '../plan/change.ts'
import type { Decision } from '../plan/decide.ts'
import type { Part } from '../plan/part/part.ts'

/** `sync` reads, plans and applies; `plan` stops before anything is written. */
export type RunMode = 'sync' | 'plan'

/** A sync and what it writes to: the key of all that is remembered from run to run. */
export interface SyncTarget {
  readonly sync: string
  readonly target: string
}

/** A run, and the epoch of the lease under which it was begun. */
export interface RunKey {
  readonly run: number
  readonly epoch: number
}

/** What an undo puts back: a run, or a part of its changes. */
export interface Undo {
  readonly run: number
  readonly part: Part
}

/** What asked for the run. */
export type RunTrigger = 'schedule' | 'demand' | 'approval'

/**
 * waiting → reading → planning → applying → done; `planned` ends a run of mode `plan`, `held` one that waits for a
 * person, `failed` one that ended with an error.
 */
export type RunState =
  | 'waiting'
  | 'reading'
  | 'planning'
  | 'applying'
  | 'planned'
  | 'held'
  | 'done'
  | 'failed'

/**
 * What became of a hold: `replaced` by a newer run's hold, `closed` because a newer run had nothing to hold, or `expired`
 * because nobody decided in time.
 */
export type HoldState = 'open' | 'approved' | 'rejected' | 'replaced' | 'closed' | 'expired'

/** What a person decided about a hold. */
export interface RecordedDecision {
  readonly decision: Decision
  readonly by: string
  /** ISO 8601, UTC. */
  readonly at: string
  readonly reason?: string | undefined
  /** The guards and findings, or the part of the changes, that it was about; left out where it was about all. */
  readonly only?: readonly string[] | undefined
  readonly part?: Part | undefined
}

/**
 * What became of one change. `applied`: the API did it. `found`: it was so before anything was sent. `already`: there
 * was nothing left to delete. `missing`: there was nothing to update, the next run creates it. `dropped`: the run ended
 * first. `unknown`: the run ended before its answer came; the next plan has it looked up.
 */
export type ChangeState = (typeof CHANGE_STATES)[number]

export const CHANGE_STATES = [
  'pending',
  'applied',
  'found',
  'already',
  'missing',
  'quarantined',
  'failed',
  'dropped',
  'unknown',
] as const

/** What a run found out about its two reads, besides what is in them. */
export interface ReadEvidence {
  /** Of the source's server, in a sentence without a full stop; null where the source has none. */
  readonly server: string | null
  /** Entries of the source that could not be understood. */
  readonly unreadable: number
  /** Entries of the directory that the source did not show. */
  readonly absent: Readonly<Record<'user' | 'group', number>>
  /** Those of them that were found when they were looked up once more. */
  readonly seenAgain: number
  /** The directory changed while it was read, or its lists do not prove that they are whole. */
  readonly directoryMoved: boolean
}

export interface RunCounts {
  readonly sourceUsers: number
  readonly sourceGroups: number
  readonly directoryUsers: number
  readonly directoryGroups: number
  /** Users and groups of the directory that the plan leaves as they are; groups only where nothing differs. */
  readonly unchanged: number
  readonly planned: Partial<Record<Op, number>>
  readonly outcomes: Partial<Record<ChangeState, number>>
  readonly notices: Partial<Record<NoticeCode, number>>
}
