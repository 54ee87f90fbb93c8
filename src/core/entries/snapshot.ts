import type { ServerEvidence } from './position.ts'
import type { DirectoryGroup, DirectoryUser, GroupEntry, Kind, UserEntry } from './entry.ts'
import type { GroupLists, MemberNames } from './groups.ts'
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

export interface Places {
  /** Visits every id value, also of disabled accounts that count as gone, with the normal parent DN. */
  each(visit: (id: string, container: string) => void): Steps<void>
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
  readonly places?: Readonly<Record<Kind, Places>> | undefined
  /** Where the source covers members, the lists that they come from. */
  readonly lists?: GroupLists | undefined
  readonly names?: MemberNames | undefined
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
