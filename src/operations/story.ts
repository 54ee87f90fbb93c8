import type { Membership } from '../core/diff/rules.ts'
import type { ConfigurationChange } from '../core/plan/configuration.ts'
import type { DirectoryGroup, DirectoryUser, Kind } from '../core/entries/entry.ts'
import type { Faulty, Notice } from '../core/notice.ts'
import type { Change, DeleteReason, Op } from '../core/plan/change.ts'
import type { FieldTrace, FoundEntry } from '../source/source.ts'
import type { ChangeReason } from '../store/change-list.ts'
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

/** `several`: more than one match, so the operator has to choose. `nobody`: unknown to both sides and the store. */
export type Explanation = Story | Several | Nobody

export interface Match {
  readonly kind: Kind
  readonly id: string | null
  readonly name: string | null
  readonly email: string | null
  /** The source, the directory or an earlier run. */
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
  readonly searched: string | null
  /** One sentence each, where the source or the directory could not be asked. */
  readonly error: string | null
  readonly directoryError: string | null
  readonly unreadable: readonly Faulty[]
}

export interface JournalEntry {
  readonly run: number
  readonly op: Op
  /** The same for every attempt of one change. */
  readonly fingerprint: string
  /** ISO 8601, UTC. */
  readonly at: string
  readonly outcome: string
  readonly status: number | null
  readonly detail: string | null
  readonly why: DeleteReason | null
  /** Null where no approval was needed, empty where the name is not kept. */
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
  readonly source: SourceSide
  readonly directory: DirectorySide
  /** Makes the directory's entry equal to the source's, whether or not a run may make it now. */
  readonly difference: Change | null
  readonly planned: Change | null
  readonly reasons: readonly StoryReason[]
  /** The run that asks an operator about the difference. */
  readonly question: number | null
  /** Changes of its memberships that the last run blocked; none of a group. */
  readonly groups: readonly BlockedMembership[]
  readonly notices: readonly Notice[]
  /** The newest run that read source and directory, or changed the entry, and its notices. */
  readonly lastRun: {
    readonly run: number
    readonly state: RunState
    readonly at: string
    readonly notices: readonly Notice[]
  } | null
  /** The newest run of the whole sync, if it failed; one sentence says why. */
  readonly lastFailure: { readonly run: number; readonly at: string; readonly error: string } | null
  readonly paused: SyncPause | null
  /** The newest first. */
  readonly journal: readonly JournalEntry[]
  /** Whether a run has found the entry absent, so that its grace period has begun. */
  readonly isAbsenceKnown: boolean
  /** `off` also where the source has no members. */
  readonly membership: Membership
  readonly configurationChange: ConfigurationChange | null
  readonly completedRun: number | null
  /** Whether source and directory list the same members of a group; null where only a run can compare them. */
  readonly sameMembers: boolean | null
  readonly sharesEmails: boolean
}

/** `run`: that showed it; null where the entry alone shows it. */
export type StoryReason = ChangeReason & { readonly run: number | null }

export interface BlockedMembership {
  readonly run: number
  readonly group: string
  readonly comes: boolean
  readonly reasons: readonly ChangeReason[]
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
  /** A fault for each unreadable entry, where all entries were read for this story. */
  readonly unreadable: readonly Faulty[]
}

export interface DirectorySide {
  /** One sentence, where the directory could not be asked. */
  readonly error: string | null
  /** Null where the directory does not have it, or could not be asked. */
  readonly entry: DirectoryUser | DirectoryGroup | null
}
