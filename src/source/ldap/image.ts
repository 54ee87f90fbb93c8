import type { GroupFields, UserFields } from '../mapping.ts'

export interface GroupRecords {
  /** The groups within the sync's filter. */
  readonly groups: readonly GroupRecord[]
  /** Groups outside of the filter that may be within those of the filter. */
  readonly others: readonly GroupRecord[]
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

export interface GroupRecord extends GroupFields {
  readonly ids: readonly string[]
  readonly dn: string
  /** Of the attributes that show a value. */
  readonly lists: readonly RecordList[]
  /** The groups that this one names as its parents, by normal DN. */
  readonly memberOf: readonly string[]
  /** What users call this group, or with `in-chain` a group within it, when it is their primary group. */
  readonly primaryNames: readonly string[]
  /** With `in-chain`: the ids that the server found in this group and in all groups within it. */
  readonly chained: readonly string[]
  readonly whyUnknown: WhyUnknown
}

/** A global catalog lacks the members, or the group kept changing. */
export type WhyUnknown = 'catalog' | 'changing' | undefined

export interface RecordList {
  readonly attribute: string
  /** Their ids, each text once for all groups. */
  readonly users: readonly string[]
  /** The other members, as the group spells them: nested groups and unresolved members. */
  readonly nonUsers: readonly string[]
  /** Those of them that name several users. */
  readonly shared: readonly string[]
}
