import type { GroupFields, UserFields } from '../mapping.ts'

/**
 * What a server said in one read: its entries, mapped, and who is a member of what, in the server's own words.
 * `snapshotOf` makes the snapshot of it.
 */
export interface LdapImage {
  readonly users: ImageUsers
  /** The groups within the sync's filter. */
  readonly groups: readonly GroupRecord[]
  /** Groups outside of the filter that may be within those of the filter. */
  readonly others: readonly GroupRecord[]
}

/** The users of an image, by numbers. */
export interface ImageUsers extends Iterable<UserRecord> {
  readonly size: number
  at(number: number): UserRecord
  /** The id of a member; `undefined` as in `UserRecord`. */
  idOf(number: number): string | undefined
  dnOf(number: number): string
  /** Those who name a group that they are in, or a primary group. */
  naming(): Iterable<UserRecord>
}

/** One user. What no group needs to know its members is empty. */
export interface UserRecord extends UserFields {
  /** All values of the id attribute. */
  readonly ids: readonly string[]
  /** The id of a member: the one usable id; `undefined` without one, and for an account that is treated as gone. */
  readonly id: string | undefined
  /** As the server spells it. */
  readonly dn: string
  /** What the options do with this account, which cannot log in; its fields are not computed. */
  readonly disabled: 'skip' | 'delete' | undefined
  readonly uids: readonly string[]
  /** The groups that the user names, by DN in its normal form. */
  readonly memberOf: readonly string[]
  /** What the user calls the primary group: a SID or a number. */
  readonly primaryGroup: string | undefined
}

/** One group. A user who is a member is the user's number in the image, so that no DN is kept twice. */
export interface GroupRecord extends GroupFields {
  readonly ids: readonly string[]
  readonly dn: string
  /** The members that are users. */
  readonly users: readonly number[]
  /** The other members, as the group spells them: nested groups, and strangers. */
  readonly nonUsers: readonly string[]
  /** Those of them that name several users. */
  readonly shared: readonly string[]
  /** Where several attributes list members: those in which it lists somebody. */
  readonly lists: readonly string[] | undefined
  /** The groups that this one names as those it is in, by DN in its normal form. */
  readonly memberOf: readonly string[]
  /** What users call this group, or with `in-chain` a group within it, when it is their primary group. */
  readonly primaryNames: readonly string[]
  /** With `in-chain`: the ids that the server found in this group and in all groups within it. */
  readonly chained: readonly string[]
  /** Why the members are not known: a global catalog does not have them, or the group kept changing. */
  readonly whyUnknown: 'catalog' | 'changing' | undefined
}
