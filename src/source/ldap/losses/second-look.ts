import type { SourceSnapshot } from '../../../core/entries/snapshot.ts'
import type { CompiledOptions, GroupPlace } from '../compile.ts'
import { dnKey } from '../dn.ts'
import { type LdapEntry, lookupIn } from '../entry.ts'
import type { GroupRecord, LdapImage, UserRecord } from '../image.ts'
import type { MemberIndex } from '../membership/members.ts'
import type { Reading } from '../read-place.ts'
import type { Records } from '../records.ts'

export interface Losses {
  readonly image: LdapImage
  readonly snapshot: SourceSnapshot
  /** By group, the ids of the users that it would lose. */
  readonly lost: ReadonlyMap<string, readonly string[]>
}

export interface SecondLook {
  readonly reading: Reading
  readonly compiled: CompiledOptions & { readonly groups: GroupPlace }
  readonly losses: Losses
  readonly records: Records
  /** The users at the DNs of the first read. */
  readonly index: MemberIndex
  readonly lists: Map<string, MemberList>
}

export interface People {
  readonly records: readonly UserRecord[]
  readonly memberOf: ReadonlyMap<string, readonly string[]>
  /** Users who are not below the bases any more. */
  readonly missing: ReadonlySet<string>
}

/** Properties of the list of a reread group, besides its members. */
export interface MemberList {
  readonly dn: string
  /** The attributes with the members that have no value; the empty DN is one. */
  readonly silent: readonly string[]
  readonly classes: readonly string[]
}

/** Too many unresolved DNs, or one that the server does not show. */
export type Unresolved = { readonly why: 'too-many' } | { readonly why: 'not-shown'; readonly dn: string }

export function attributesOfGroups({ records, compiled: { groups } }: SecondLook): readonly string[] {
  return [...new Set([groups.map.id, 'objectClass', ...records.groupAttributes, records.listed].flat())]
}

export function takeGroup(look: SecondLook, entry: LdapEntry): GroupRecord {
  const { records, index, lists } = look
  const lookup = lookupIn(entry)
  const silent = records.listed.filter((attribute) => lookup(attribute).length === 0)
  lists.set(dnKey(entry.dn), { dn: entry.dn, silent, classes: lookup('objectClass') })
  return records.otherOf(entry, index)
}
