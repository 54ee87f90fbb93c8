import type { DirectoryGroup, DirectoryUser, Kind } from '../core/entries/entry.ts'
import type { Notice } from '../core/entries/snapshot.ts'
import type { Change, DeleteReason, Op } from '../core/plan/change.ts'
import type { FieldTrace, FoundEntry } from '../source/source.ts'
import type { WaitingMembership } from '../store/entry-history.ts'
import type { RunState } from '../store/run-types.ts'
import type { SyncPause } from './sync-pause.ts'

export type { FieldTrace, FoundEntry }

export interface ExplainRequest {
  readonly sync: string
  /** An id, an e-mail, a name, or a DN. */
  readonly who: string
  /** Default: users and groups. */
  readonly kind?: Kind | undefined
}

/** `one` is a story; `several` fit, so the person has to choose; of `nobody` neither side nor the store knows anything. */
export type Explanation = Story | Several | Nobody

export interface Match {
  readonly kind: Kind
  readonly id: string | null
  readonly name: string | null
  readonly email: string | null
  /** Where the source, the directory or an earlier run has it. */
  readonly from: string
}

export interface Several {
  readonly result: 'several'
  readonly sync: string
  readonly who: string
  readonly matches: readonly Match[]
}

export interface Nobody {
  readonly result: 'nobody'
  readonly sync: string
  readonly who: string
  readonly verdict: Verdict
  readonly todo: string | null
}

/** Why the directory has the entry as it has it. */
export interface Verdict {
  readonly code: VerdictCode
  /** One sentence for a person. */
  readonly sentence: string
}

export type VerdictCode =
  | 'never-seen'
  | 'source-unreadable'
  | 'directory-unreadable'
  | 'unchanged'
  | 'changed'
  | 'failed'
  | 'deleted'
  | 'absent'
  | 'left-filter'
  | 'other-base'
  | 'not-an-entry'
  | 'disabled'
  | 'unusable'
  | 'duplicate-id'
  | 'excluded'
  | 'protected'
  | 'kept'
  | 'email-not-allowed'
  | 'no-email'
  | 'email-taken'
  | 'in-grace'
  | 'undone'
  | 'unproved'
  | 'quarantined'
  | 'rejected'
  | 'held'
  | 'value-kept'

/** What became of one attempt to change the entry. */
export interface JournalEntry {
  readonly run: number
  readonly op: Op
  /** The same for every attempt of one change. */
  readonly fingerprint: string
  /** ISO 8601, UTC. */
  readonly at: string
  readonly outcome: string
  /** The HTTP status of the API's answer. */
  readonly status: number | null
  readonly detail: string | null
  readonly why: DeleteReason | null
  /** Who approved it; null where nobody had to, an empty text where the name is not kept. */
  readonly approvedBy: string | null
  /** The run that this one undid; null where it is no undo. */
  readonly undoes: number | null
}

export interface Story {
  readonly result: 'one'
  readonly sync: string
  readonly who: string
  readonly kind: Kind
  readonly id: string | null
  readonly name: string | null
  readonly email: string | null
  readonly verdict: Verdict
  readonly source: SourceSide
  readonly directory: DirectorySide
  /** What would make the directory's entry equal to the source's, whether or not it may be done now. */
  readonly change: Change | null
  /** What the next run would say of the entry. */
  readonly notices: readonly Notice[]
  /** The newest run that read both sides, or changed the entry, and what it said of the entry. */
  readonly lastRun: {
    readonly run: number
    readonly state: RunState
    readonly at: string
    readonly notices: readonly Notice[]
  } | null
  /** The newest run of the whole sync, if it failed; one sentence says why. */
  readonly lastFailure: { readonly run: number; readonly at: string; readonly error: string } | null
  readonly hold: StoryHold | null
  /** Of a user: where he comes into a group, or leaves it, when somebody approves it. */
  readonly waitingMemberships: readonly WaitingMembership[]
  readonly paused: SyncPause | null
  /** The newest first. */
  readonly journal: readonly JournalEntry[]
  /** What the next run would do, in a sentence. */
  readonly next: string
  /** What a person can do, in a sentence; null where nothing has to be done. */
  readonly todo: string | null
}

/** What holds the change. */
export interface StoryHold {
  readonly run: number
  /** Guards hold the whole plan; otherwise the evidence of the read withholds this change. */
  readonly isPlanHeld: boolean
  readonly breaches: readonly { readonly guard: string; readonly detail: string }[]
}

export interface SourceSide {
  /** One sentence, where the source could not be asked. */
  readonly error: string | null
  readonly server: string | null
  readonly searched: string
  /** More than one where entries share the id. */
  readonly entries: readonly FoundEntry[]
  /** Other users of the source with the same e-mail, or with the directory's where the source has no such entry. */
  readonly sameEmail: readonly Pick<Match, 'id' | 'name' | 'from'>[]
  /** What is wrong with each entry that could not be read, where all were read for this story. */
  readonly unreadable: readonly string[]
}

export interface DirectorySide {
  /** One sentence, where the directory could not be asked. */
  readonly error: string | null
  /** Null where the directory does not have it, or could not be asked. */
  readonly entry: DirectoryUser | DirectoryGroup | null
}
