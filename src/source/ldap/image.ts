import type { GroupFields, UserFields } from '../mapping.ts'

/** One read of a server: mapped entries, and group members as raw DNs. `snapshotOf` makes the snapshot of it. */
export interface LdapImage {
  readonly users: ImageUsers
  /** The groups within the sync's filter. */
  readonly groups: readonly GroupRecord[]
  /** Groups outside of the filter that may be within those of the filter. */
  readonly others: readonly GroupRecord[]
}

export interface ImageUsers extends Iterable<UserRecord> {
  readonly size: number
  at(number: number): UserRecord
  /** The id of a member; `undefined` as in `UserRecord`. */
  idOf(number: number): string | undefined
  dnOf(number: number): string
  /** Users that name a group that they are in, or a primary group. */
  naming(): Iterable<UserRecord>
}

/** Fields that no group needs for its members are empty. */
export interface UserRecord extends UserFields {
  readonly ids: readonly string[]
  /** The one usable id; `undefined` without one, and for an account that is treated as gone. */
  readonly id: string | undefined
  /** As the server spells it. */
  readonly dn: string
  /** The option for this disabled account; its fields are not computed. */
  readonly disabled: 'skip' | 'delete' | undefined
  readonly uids: readonly string[]
  /** The groups that the user names, by normal DN. */
  readonly memberOf: readonly string[]
  /** The user's name of the primary group: a SID or a number. */
  readonly primaryGroup: string | undefined
}

/** A member is the user's number in the image, so that no DN is kept twice. */
export interface GroupRecord extends GroupFields {
  readonly ids: readonly string[]
  readonly dn: string
  readonly users: readonly number[]
  /** The other members, as the group spells them: nested groups and unresolved members. */
  readonly nonUsers: readonly string[]
  /** Those of them that name several users. */
  readonly shared: readonly string[]
  /** Where several attributes list members: those with members. */
  readonly lists: readonly string[] | undefined
  /** The groups that this one names as its parents, by normal DN. */
  readonly memberOf: readonly string[]
  /** What users call this group, or with `in-chain` a group within it, when it is their primary group. */
  readonly primaryNames: readonly string[]
  /** With `in-chain`: the ids that the server found in this group and in all groups within it. */
  readonly chained: readonly string[]
  /** A global catalog lacks the members, or the group kept changing. */
  readonly whyUnknown: 'catalog' | 'changing' | undefined
}
