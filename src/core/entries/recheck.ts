import type { UnconfirmedRemoval } from '../notice.ts'
import type { Kind } from './entry.ts'

export interface Recheck {
  readonly state: Sighting
  /** Only where groups list members by name: all entries with the id; groups only within the sync's filter. */
  readonly entries?: readonly EntryNow[]
}

/** No entry, one outside the sync's filter, a disabled account that counts as gone, or an entry within the filter. */
export type Sighting = 'absent' | 'out-of-scope' | 'disabled' | 'present'

export interface EntryNow {
  readonly dn: string
  readonly normalDn: string
  /** Read as the id of a user, and as that of a group. */
  readonly ids: Readonly<Record<Kind, readonly string[]>>
  /** What groups may list besides the DN. */
  readonly uids: readonly string[]
  /** The groups that it names, by normal DN. */
  readonly memberOf: readonly string[]
  /** What the user calls the primary group. */
  readonly primaryGroup: string | undefined
  /** Of an entry that was read as a group. */
  readonly group: GroupNow | undefined
}

export interface GroupNow {
  /** One for each attribute that may list members. */
  readonly lists: readonly ListNow[]
  /** What users call it, or with `in-chain` a group within it, when it is their primary group. */
  readonly primaryNames: readonly string[]
  /** With `in-chain`: the ids that the server found in the group and in all groups within it. */
  readonly chained: readonly string[]
  /** A global catalog lacks the members, or the group kept changing. */
  readonly whyUnknown: 'catalog' | 'changing' | undefined
  /** An attribute that the schema requires and the group does not show. */
  readonly demanded: string | undefined
  /** Whether the bind account can read of any user which groups it is in. Only where a list shows no value. */
  readonly isMemberOfShown: boolean
}

interface ListNow {
  readonly attribute: string
  /** Whether it has a value; one that names nobody is one. */
  readonly isShown: boolean
  /** Whether it lists names of users, and not only DNs. */
  readonly isOfNames: boolean
  readonly members: readonly string[]
}

export interface LossLook {
  /** Members after all, of those that the group would lose: they were renamed during the read. */
  readonly stillMembers: readonly string[]
  /** Why the other removals are not confirmed; `undefined` where they are. */
  readonly unproved?: UnconfirmedRemoval | undefined
  /** The members whose removal is not proved, where it is not all of them. */
  readonly unprovedMembers?: readonly string[] | undefined
  /** The group has no member left, and a source other than its own list confirms it. */
  readonly provedEmpty?: boolean | undefined
}
