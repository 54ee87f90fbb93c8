import type { BlockReason, KeyFacts, ServerState, Until } from '../core/block.ts'
import type { Decision, Selection } from '../core/decide.ts'
import type { FactKey } from '../core/keys.ts'
import type { NoticeCode } from '../core/notice.ts'
import type { Op } from '../core/plan/change.ts'
import type { Part } from '../core/plan/part/part.ts'

/** `sync` reads, plans and applies; `plan` stops before anything is written. */
export type RunMode = 'sync' | 'plan'

/** A sync and what it writes to: the key of all that is remembered from run to run. */
export interface SyncTarget {
  readonly sync: string
  readonly target: string
}

/** What an undo puts back: a run, or a part of its changes. */
export interface Undo {
  readonly run: number
  readonly part: Part
}

export type RunTrigger = 'schedule' | 'demand' | 'approval'

/**
 * waiting → reading → planning → applying → done; `planned` ends a run of mode `plan`, `held` one whose
 * plan a guard stopped, `failed` one that ended with an error.
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

/** A block as its run keeps it, with the number of stored changes that it names. */
export type StoredBlock = BlockReason & {
  readonly until: Until
  /** The whole plan stops. */
  readonly stops: boolean
  /** The fact that the operator is asked about, where it is not the changes. */
  readonly asks: FactKey | null
  readonly changes: number
}

export interface RecordedDecision {
  readonly decision: number
  readonly does: Decision['does']
  readonly by: string
  /** ISO 8601, UTC. */
  readonly at: string
  readonly reason: string
  readonly selection: Selection
  /** How many keys it was about. */
  readonly keys: number
  /** The run that it started. */
  readonly started: number | null
}

/**
 * What became of one change. `applied`: the API did it. `found`: it was so before anything was sent. `already`: there
 * was nothing left to delete. `missing`: there was nothing to update, the next run creates it. `dropped`: the run ended
 * first. `unknown`: the run ended before its answer came; the next plan has it looked up. `blocked`: no part of the plan.
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
  'blocked',
] as const

/** What a run found out about its two reads, besides what is in them. */
export interface ReadEvidence {
  /** Null where the source has no server. */
  readonly server: ServerState | null
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
  readonly blocked: Partial<Record<Op, number>>
  /** Of the blocked ones: those with a question that no operator has decided. */
  readonly asking: Partial<Record<Op, number>>
  /** Of the blocked ones: those that an operator rejected, and the newest of these rejections. */
  readonly rejected: Partial<Record<Op, number>>
  readonly lastRejection: KeyFacts['rejected'] | null
  readonly outcomes: Partial<Record<ChangeState, number>>
  readonly notices: Partial<Record<NoticeCode, number>>
}
