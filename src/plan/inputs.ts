import type { Kind } from '../directory/entry.ts'
import type { DirectorySnapshot, NoticeCode, Sighting, SourceSnapshot } from '../directory/snapshot.ts'
import type { Emails } from './emails.ts'
import type { Membership, Policy } from './policy.ts'
import type { EntryRules } from './selection.ts'

export interface PlanRules {
  readonly policy: Policy
  readonly membership: Membership
  /** Empty: every domain is allowed. */
  readonly allowedDomains: readonly string[]
  /** Left out: `unique`. */
  readonly emails?: Emails
  readonly entries?: EntryRules | undefined
}

export interface PlanInputs {
  readonly source: SourceSnapshot
  readonly directory: DirectorySnapshot
  /** The second look at each candidate of deletion; a candidate without an answer is never deleted. */
  readonly sightings: Readonly<Record<Kind, ReadonlyMap<string, Sighting>>>
  readonly rules: PlanRules
  /** Changes that earlier runs or people say are not to be made now, by fingerprint. */
  readonly withheld: ReadonlyMap<string, Withheld>
  /** When given, only these entries are changed. */
  readonly only?: Only | undefined
}

/** Limits a run to single entries, by external id. */
export interface Only {
  readonly users: readonly string[]
  readonly groups: readonly string[]
}

export interface Withheld {
  readonly code: Extract<NoticeCode, 'quarantined' | 'does-not-converge' | 'rejected'>
  readonly detail: string
}
