import type { ServerEvidence } from './evidence.ts'
import type { DirectoryGroup, DirectoryUser, GroupEntry, Kind, UserEntry } from './entry.ts'
import { byCodeUnit } from './normalize.ts'
import type { Steps } from './steps.ts'

/**
 * A line of the report about an entry that is not a change: why it was skipped, left alone or kept. The detail is a
 * sentence for a person.
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
  | 'unreadable' // the id of an entry or row is unknown because it could not be parsed: no deletes in this run
  | 'duplicate-id'
  | 'doubtful-text' // the file seems to have another encoding than the one used
  | 'no-name'
  | 'value-failed' // a mapped value could not be computed for this entry and is missing
  | 'unknown-members'
  | 'members-hidden' // not all members of the group could be read: the group is left as it is
  | 'disabled' // an account that cannot log in: the sync skips it or treats it as gone
  // reading the directory
  | 'unaddressable' // the directory's entry has no usable external id
  | 'shared-id' // several entries of the directory have this external id: none of them is ever deleted
  // planning
  | 'email-not-allowed'
  | 'email-dropped' // the e-mail is none that may be written: the rest of the user is
  | 'no-email'
  | 'duplicate-email' // the e-mail belongs to another user: the rest of the user is written
  | 'email-swap' // users exchange their e-mails, which a service may refuse
  | 'id-moved' // the id seems to belong to another person now
  | 'new-id' // a user whom the plan deletes seems to be created under another id
  | 'other-id-form' // the plan deletes an entry whose id is not like those of the source
  | 'unknown-id' // the run is limited to this id, and neither side has it
  | 'excluded' // by the sync's list `include` or `exclude`
  | 'protected' // would be deleted, but is on the sync's list `protected`
  | 'value-kept' // missing in the source, kept in the directory
  | 'seen-again' // missing in the first look, there in the second: not deleted
  | 'kept-by-policy'
  | 'kept-unproved' // would be deleted, but the source had unreadable entries
  | 'membership-differs'
  | 'in-grace' // is absent, and will be deleted when it has been absent for long enough
  | 'unproved' // the evidence of the read does not prove this change: it waits
  | 'reborn' // was deleted by this sync within the last day and is back: it waits
  | 'members-kept' // the group would lose members, and the second look did not prove it
  | 'quarantined'
  | 'does-not-converge'
  | 'rejected' // a person rejected this change
  // undoing a run
  | 'changed-since' // is not as the run left it, so it is left as it is
  | 'not-restored' // cannot be put back, or not all of it
  // applying
  | 'read-back' // the first changes of an operation were read back from the service
  | 'rewritten' // the service shows another value than was sent
  | 'shorter-lists' // the service did something else with a list of new entries than to create them
  | 'directory-incomplete' // many entries to create were there: perhaps the list of the directory did not show all it has

/** The order of notices in a report: users before groups, then by id, code and detail. */
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

/** Ids, each once. */
export interface Ids extends Iterable<string> {
  readonly size: number
  has(id: string): boolean
}

/** A complete read of the source. An incomplete read is an error and never gets here. */
export interface SourceSnapshot {
  readonly users: ReadonlyMap<string, UserEntry>
  readonly groups: ReadonlyMap<string, GroupEntry>
  /** What the source is configured to read; the sync does not change the rest. */
  readonly covers: Coverage
  /** Every id that was read, even of skipped entries: these entries exist and are never deleted. */
  readonly seen: { readonly user: Ids; readonly group: Ids }
  /** The number of entries whose id could not be read. If it is not 0, the run deletes nothing. */
  readonly unreadable: number
  readonly notices: readonly Notice[]
  /**
   * The groups that the source shows with at least one member, users or not, where it covers members: a number that
   * falls to 0 means that the members cannot be read any more.
   */
  readonly groupsWithMembers?: number | undefined
  /**
   * The ids of the groups that are listed within another group, by DN in its normal form; empty for groups outside of
   * the filter.
   */
  readonly nestedGroups?: ReadonlyMap<string, string> | undefined
  /**
   * The groups that list another group of this read themselves: by id, or by normal DN where they have no usable id.
   */
  readonly nestingGroups?: readonly string[] | undefined
  /**
   * The DNs, in their normal form, that a group itself lists and that are no entry of this read. The group is named as
   * in `nestingGroups`; `undefined` where this read does not have it.
   */
  readonly strangersOf?: ((group: string) => readonly string[] | undefined) | undefined
  /**
   * The DNs, in their normal form, that a group or one within it lists and that are no entry of this read. By the
   * group's id.
   */
  readonly strangersWithin?: ((group: string) => readonly string[]) | undefined
  /** The attributes in which the source looks for the members of a group. */
  readonly memberAttributes?: readonly string[] | undefined
  /**
   * Where several attributes list members: those in which each group lists somebody, itself. Named as in
   * `nestingGroups`.
   */
  readonly memberLists?: ReadonlyMap<string, readonly string[]> | undefined
  /** The groups whose lists make up the members of a group, itself and perhaps others within it. By its id. */
  readonly listsWithin?:
    | ((group: string) => readonly { readonly key: string; readonly dn: string }[])
    | undefined
  /**
   * Visits all values of the id attribute of every entry that was read, also of disabled accounts that count as gone,
   * with the normal DN of the entry's parent.
   */
  readonly eachPlace?:
    | ((kind: Kind, visit: (id: string, container: string) => void) => Steps<undefined>)
    | undefined
  /** Which server was read; sources other than LDAP have their own proofs. */
  readonly server?: ServerEvidence | undefined
}

/** A complete read of the directory. */
export interface DirectorySnapshot {
  readonly users: ReadonlyMap<string, DirectoryUser>
  readonly groups: ReadonlyMap<string, DirectoryGroup>
  readonly notices: readonly Notice[]
  /**
   * The directory changed while it was read, or its lists do not prove that they show every external id: look up an
   * entry that seems missing before creating it.
   */
  readonly moved: boolean
  /** Lists that were empty and came without a total: a broken answer looks the same. */
  readonly unprovedEmpty: readonly Kind[]
}

/**
 * What the second look at the source found for an id that the first look did not see: no entry (`gone`), an entry
 * outside the sync's filter, a disabled account that the sync treats as gone, or an entry within the filter
 * (`present`).
 */
export type Sighting = 'gone' | 'left-filter' | 'disabled' | 'present'
