import type { DirectoryGroup, DirectoryUser, GroupEntry, Kind, UserEntry } from './entry.ts'
import { byCodeUnit } from './normalize.ts'

/**
 * Something that the report says about an entry that is not a change: why it was skipped, left alone or kept.
 * The code is from a closed set; the detail is a sentence for a person.
 */
export interface Notice {
  readonly kind: Kind
  /** The external id, where the entry has one. */
  readonly id: string | undefined
  readonly code: NoticeCode
  readonly detail: string
}

export type NoticeCode =
  // reading the source
  | 'unreadable' // the entry or row could not be understood, nobody knows whose it was: no deletes in this run
  | 'duplicate-id'
  | 'doubtful-text' // a file that seems to be in another encoding than it was read in
  | 'no-name'
  | 'value-failed' // a value of the mapping could not be worked out for this entry, and so is missing
  | 'unknown-members'
  | 'members-hidden' // a group of whose members the server has only a part: left as it is
  | 'disabled' // an account that cannot log in, and that the sync skips or treats as gone
  // reading the directory
  | 'unaddressable' // an entry of the directory without a usable external id
  // planning
  | 'email-not-allowed'
  | 'no-email'
  | 'duplicate-email' // it is another user's: written without touching the e-mail
  | 'email-swap' // users exchange their e-mails, which a service may refuse
  | 'id-moved' // the id seems to belong to another person now
  | 'new-id' // somebody who is deleted seems to come back under another id
  | 'excluded' // by the lists of the sync
  | 'protected' // would be deleted, but a list of the sync says never
  | 'value-kept' // missing in the source, kept in the directory
  | 'seen-again' // missing in the first look, there in the second: not deleted
  | 'kept-by-policy'
  | 'kept-unproved' // would be deleted, but the source had unreadable entries
  | 'membership-differs'
  | 'quarantined'
  | 'does-not-converge'
  | 'rejected' // a person rejected this change

/** The order of notices in a report: users before groups, then by id, code and detail; the order of reading is not in it. */
export function compareNotices(a: Notice, b: Notice): number {
  return (
    byCodeUnit(b.kind, a.kind) ||
    byCodeUnit(a.id ?? '', b.id ?? '') ||
    byCodeUnit(a.code, b.code) ||
    byCodeUnit(a.detail, b.detail)
  )
}

export interface Coverage {
  readonly groups: boolean
  readonly members: boolean
}

/** A complete read of the source. An incomplete read is an error and never gets here. */
export interface SourceSnapshot {
  readonly users: ReadonlyMap<string, UserEntry>
  readonly groups: ReadonlyMap<string, GroupEntry>
  /** What the source is configured to tell: about the rest it says nothing, and nothing is done. */
  readonly covers: Coverage
  /** Every raw id that was seen, of skipped entries too: what is in here is present and is never deleted. */
  readonly seen: { readonly user: ReadonlySet<string>; readonly group: ReadonlySet<string> }
  /** Entries that were read but whose id is not known. More than none forbids every delete of the run. */
  readonly unreadable: number
  readonly notices: readonly Notice[]
}

/** A complete read of the directory. */
export interface DirectorySnapshot {
  readonly users: ReadonlyMap<string, DirectoryUser>
  readonly groups: ReadonlyMap<string, DirectoryGroup>
  readonly notices: readonly Notice[]
  /** The directory changed while it was read: what seems missing is asked for before it is created. */
  readonly moved: boolean
}

/**
 * What the second look at the source found for an id that the first look did not see: nothing at all, an entry that
 * the sync's filter leaves out, a disabled account that the sync treats as gone, or an entry that is (again) within the
 * filter.
 */
export type Sighting = 'gone' | 'left-filter' | 'disabled' | 'present'
