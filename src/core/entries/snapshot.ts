import type { ServerEvidence } from './evidence.ts'
import type { DirectoryGroup, DirectoryUser, GroupEntry, Kind, UserEntry } from './entry.ts'
import type { Notice } from '../notice.ts'
import type { Steps } from '../../base/steps.ts'

export interface Coverage {
  readonly groups: boolean
  readonly members: boolean
}

/** Without duplicates. */
export interface Ids extends Iterable<string> {
  readonly size: number
  has(id: string): boolean
}

/** A complete read of the source; an incomplete read is an error. */
export interface SourceSnapshot {
  readonly users: ReadonlyMap<string, UserEntry>
  readonly groups: ReadonlyMap<string, GroupEntry>
  /** The scope of the sync, which does not change the rest. */
  readonly covers: Coverage
  /** Every id that was read, even of skipped entries: these entries exist and are never deleted. */
  readonly seen: { readonly user: Ids; readonly group: Ids }
  /** Entries whose id could not be read. If it is not 0, the run deletes nothing. */
  readonly unreadable: number
  readonly notices: readonly Notice[]
  /** Where the source covers members: groups with any member. A fall to 0 means that members became unreadable. */
  readonly groupsWithMembers?: number | undefined
  /** The ids of groups within other groups, by normal DN; empty for groups outside of the filter. */
  readonly nestedGroups?: ReadonlyMap<string, string> | undefined
  /** The groups that list another group of this read: by id, or by normal DN where the id is unusable. */
  readonly nestingGroups?: readonly string[] | undefined
  /** A group's own unresolved member DNs, normal. Named as in `nestingGroups`; `undefined` if not in this read. */
  readonly strangersOf?: ((group: string) => readonly string[] | undefined) | undefined
  /** The unresolved member DNs, normal, of a group and the groups within it, by the group's id. */
  readonly strangersWithin?: ((group: string) => readonly string[]) | undefined
  /** The attributes that the source reads members from. */
  readonly memberAttributes?: readonly string[] | undefined
  /** Where several attributes list members: those with members of each group itself, named as in `nestingGroups`. */
  readonly memberLists?: ReadonlyMap<string, readonly string[]> | undefined
  /** The groups whose lists make up the members of a group: itself and perhaps others within it, by its id. */
  readonly listsWithin?:
    | ((group: string) => readonly { readonly key: string; readonly dn: string }[])
    | undefined
  /** Visits every id value, also of disabled accounts that count as gone, with the normal parent DN. */
  readonly eachPlace?:
    | ((kind: Kind, visit: (id: string, container: string) => void) => Steps<undefined>)
    | undefined
  /** Only for LDAP; other sources have their own proofs. */
  readonly server?: ServerEvidence | undefined
}

export interface DirectorySnapshot {
  readonly users: ReadonlyMap<string, DirectoryUser>
  readonly groups: ReadonlyMap<string, DirectoryGroup>
  readonly notices: readonly Notice[]
  /** The directory changed, or its lists may be incomplete: look up an entry that seems missing before creating it. */
  readonly moved: boolean
  /** Lists that were empty and came without a total: a broken answer looks the same. */
  readonly unprovedEmpty: readonly Kind[]
}

/** What a second read shows of an id. */
export interface Recheck {
  readonly state: Sighting
}

/** No entry, one outside the sync's filter, a disabled account that counts as gone, or an entry within the filter. */
export type Sighting = 'absent' | 'out-of-scope' | 'disabled' | 'present'
