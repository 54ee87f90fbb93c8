import type { LossLook } from '../entries/evidence.ts'
import type { Kind } from '../entries/entry.ts'
import type { Sighting } from '../entries/recheck.ts'
import type { Fact } from '../facts.ts'
import type { DirectorySnapshot, SourceSnapshot } from '../entries/snapshot.ts'
import type { NotMade, NoticeParams, Rejection, Wait } from '../notice.ts'
import type { DeleteReason } from './change.ts'
import type { Emails } from './emails.ts'
import type { Membership, Policy } from './policy.ts'
import type { EntryRules } from './selection.ts'

export interface PlanRules {
  readonly policy: Policy
  readonly membership: Membership
  /** If empty, every domain is allowed. */
  readonly allowedDomains: readonly string[]
  /** Whether a user with an invalid e-mail, or one of another domain, is written without it. Default false. */
  readonly dropBadEmails?: boolean
  /** Default `unique`. */
  readonly emails?: Emails
  readonly entries?: EntryRules | undefined
}

export interface PlanInputs {
  readonly source: SourceSnapshot
  readonly directory: DirectorySnapshot
  /** The recheck of each delete candidate; a candidate without one is never deleted. */
  readonly sightings: Readonly<Record<Kind, ReadonlyMap<string, Sighting>>>
  readonly rules: PlanRules
  /** By fingerprint, the changes not to make now: in quarantine, not persisted, or rejected. */
  readonly withheld: ReadonlyMap<string, Withheld>
  /** The service refused their change in the last run and may do so again: no other user waits for their e-mail. */
  readonly refused?: ReadonlySet<string> | undefined
  /** Blocks on what the source wants. */
  readonly waits?: Waits | undefined
  /** If set, only these entries are changed. */
  readonly only?: Only | undefined
  /** The reason of deletes; by default the result of the recheck. */
  readonly whyDeleted?: DeleteReason | undefined
}

/** Changes that wait for time to pass or for a proof. */
export interface Waits {
  readonly everything?: Wait | undefined
  /** Blocks everything but creates and new members. */
  readonly allButNew?: Wait | undefined
  readonly whyNotDeleted?: ((kind: Kind, id: string) => DeleteWait | undefined) | undefined
  /** Entries that this sync deleted within the last day. */
  readonly isReborn?: ((kind: Kind, id: string) => boolean) | undefined
  readonly losses?: ReadonlyMap<string, LossLook> | undefined
}

/** With `in-grace` the entry leaves its groups at once; with `unproved` it keeps its memberships. */
export type DeleteWait =
  | { readonly code: 'in-grace'; readonly params: Without<NoticeParams['in-grace'], keyof NotMade> }
  | { readonly code: 'unproved'; readonly params: { readonly wait: Wait } }

type Without<T, Keys extends PropertyKey> = T extends unknown ? Omit<T, Keys> : never

/** Limits a run to single entries, by external id. */
export interface Only {
  readonly users: readonly string[]
  readonly groups: readonly string[]
}

/** Why the service does not take the change. */
export type Refusal = Fact<Pick<NoticeParams, 'quarantined' | 'does-not-converge'>>

export type Withheld = Refusal | { readonly code: 'rejected'; readonly params: Rejection }

/** A rejection covers every form of a change: `wish` is that of `PlannedChange`. */
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
