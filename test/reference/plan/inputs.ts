import type { LossLook } from '../directory/evidence.ts'
import type { Kind } from '../directory/entry.ts'
import type { DirectorySnapshot, NoticeCode, Sighting, SourceSnapshot } from '../directory/snapshot.ts'
import type { DeleteReason } from './change.ts'
import type { Emails } from './emails.ts'
import type { Membership, Policy } from './policy.ts'
import type { EntryRules } from './selection.ts'

export interface PlanRules {
  readonly policy: Policy
  readonly membership: Membership
  /** If empty, every domain is allowed. */
  readonly allowedDomains: readonly string[]
  /** Whether a user whose e-mail is no address, or of another domain, is written without it. Default false. */
  readonly dropBadEmails?: boolean
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
  /**
   * Users whose change the service refused in the last run. It may refuse it again, so nobody else waits for an e-mail of
   * theirs.
   */
  readonly refused?: ReadonlySet<string> | undefined
  /** What waits although the source says it. */
  readonly waits?: Waits | undefined
  /** If set, only these entries are changed. */
  readonly only?: Only | undefined
  /** Why entries are deleted; by default what the second look found. */
  readonly whyDeleted?: DeleteReason | undefined
}

/** What waits, for time to pass or because the read does not prove it. Every reason is a sentence for a person. */
export interface Waits {
  /** Why nothing at all may be written. */
  readonly everything?: string | undefined
  /** Why nothing but new entries and new members may be written. */
  readonly allButNew?: string | undefined
  /** Why the delete of an absent entry waits. */
  readonly whyNotDeleted?: ((kind: Kind, id: string) => DeleteWait | undefined) | undefined
  /** Why a new entry is not created. */
  readonly whyNotCreated?: ((kind: Kind, id: string) => string | undefined) | undefined
  /** What the second look says of groups that would lose members, by id. */
  readonly losses?: ReadonlyMap<string, LossLook> | undefined
}

/** With `in-grace` the entry leaves its groups at once; what is `unproved` keeps its memberships too. */
export interface DeleteWait {
  readonly code: 'in-grace' | 'unproved'
  readonly detail: string
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

/** Why a change is not made now. A person who rejected it rejected it in every form: `wish` is that of `PlannedChange`. */
export function withheldBy(
  withheld: PlanInputs['withheld'],
  print: string,
  wish: string | undefined,
): Withheld | undefined {
  const own = withheld.get(print)
  if (own !== undefined || wish === undefined) return own
  const wished = withheld.get(wish)
  return wished?.code === 'rejected' ? wished : undefined
}
