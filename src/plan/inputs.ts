import type { Kind } from '../directory/entry.ts'
import type { DirectorySnapshot, NoticeCode, Sighting, SourceSnapshot } from '../directory/snapshot.ts'
import type { Emails } from './emails.ts'
import type { Membership, Policy } from './policy.ts'
import type { EntryRules } from './selection.ts'

export interface PlanRules {
  readonly policy: Policy
  readonly membership: Membership
  /** If empty, every domain is allowed. */
  readonly allowedDomains: readonly string[]
  /** Default `unique`. */
  readonly emails?: Emails
  readonly entries?: EntryRules | undefined
}

export interface PlanInputs {
  readonly source: SourceSnapshot
  readonly directory: DirectorySnapshot
  /** The result of the second look for each delete candidate; a candidate without one is never deleted. */
  readonly sightings: Readonly<Record<Kind, ReadonlyMap<string, Sighting>>>
  readonly rules: PlanRules
  /** By fingerprint, the changes not to make now: in quarantine, not converging, or rejected by a person. */
  readonly withheld: ReadonlyMap<string, Withheld>
  /** If set, only these entries are changed. */
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
