import { usableId } from '../collect.ts'
import type { GroupFields, Lookup, UserFields } from '../mapping.ts'
import type { CompiledOptions, DisabledRule } from './compile.ts'
import type { LdapEntry } from './connection/message.ts'
import { dnKey } from './dn.ts'
import type { GlobalCatalog } from './global-catalog.ts'
import type { GroupRecord, UserRecord } from './image.ts'
import { createMemberIndex, type MemberIndex } from './membership/members.ts'
import { createInterner, MEMBER_OF } from './membership/names.ts'
import { type PrimaryGroupRule, primaryGroupRule } from './membership/primary-group.ts'
import { lookupIn } from './values.ts'

/** Turns the entries of one read into the records of an image. */
export interface Records {
  /** What users must be asked for besides their mapping, and groups besides theirs. */
  readonly userAttributes: readonly string[]
  readonly groupAttributes: readonly string[]
  /** The attribute of a group that lists its members; `undefined` where groups are not asked. */
  readonly listed: string | undefined
  readonly primary: PrimaryGroupRule
  userOf(entry: LdapEntry, disabled: DisabledRule['action'] | undefined): UserRecord
  /** The users must be in the index. */
  groupOf(entry: LdapEntry, index: MemberIndex): GroupRecord
  /** The record of a group outside of the sync's filter, which was not asked for its mapping. */
  otherOf(entry: LdapEntry, index: MemberIndex): GroupRecord
  createIndex(): MemberIndex
  /** The groups that any record names as those it is in, by DN in its normal form. */
  named(): Iterable<string>
}

const NO_VALUES: readonly string[] = []
const NO_USER_FIELDS: UserFields = { email: undefined, name: undefined, employeeId: undefined, faults: [] }
const NO_GROUP_FIELDS: GroupFields = { name: undefined, faults: [] }

export function createRecords(
  { users, groups }: Pick<CompiledOptions, 'users' | 'groups'>,
  catalog: GlobalCatalog | undefined,
): Records {
  const { membersFrom, nested, map } = groups ?? {}
  // The server is asked who is in the chain, and the direct members are in it: a large group has no ranges to read.
  const listed = membersFrom === 'member' && nested !== 'in-chain' ? map?.members : undefined
  const byUid = listed?.toLowerCase() === 'memberuid'
  const areAsked = membersFrom === 'memberOf'
  const haveParents = areAsked && nested === 'flatten'
  const primary = primaryGroupRule(groups?.primaryGroup)
  const dns = createInterner(dnKey)
  const primaryNames = createInterner((name) => name)

  function primaryOf(lookup: Lookup): string | undefined {
    const name = primary.nameIn(lookup)
    return name && primaryNames.of(name)
  }

  function recordOf(entry: LdapEntry, lookup: Lookup, index: MemberIndex, fields: GroupFields): GroupRecord {
    const { users: members, nonUsers } = index.resolve(listed === undefined ? NO_VALUES : lookup(listed))
    return {
      name: fields.name,
      faults: fields.faults,
      ids: groups === undefined ? NO_VALUES : lookup(groups.map.id),
      dn: entry.dn,
      users: members,
      nonUsers,
      memberOf: haveParents ? lookup(MEMBER_OF).map(dns.of) : NO_VALUES,
      primaryNames: primary.namesOf(lookup),
      chained: NO_VALUES,
      hidesMembers: membersFrom !== undefined && catalog?.hidesMembers(entry.dn, lookup) === true,
    }
  }

  return {
    userAttributes: [...(byUid ? ['uid'] : []), ...(areAsked ? [MEMBER_OF] : []), ...primary.userAttributes],
    groupAttributes: [
      ...primary.groupAttributes,
      ...(haveParents ? [MEMBER_OF] : []),
      ...(catalog?.groupAttributes ?? []),
    ],
    listed,
    primary,
    userOf(entry, disabled) {
      const lookup = lookupIn(entry)
      const ids = lookup(users.map.id)
      const id = disabled === 'delete' ? undefined : usableId({ ids })
      const { email, name, employeeId, faults } =
        disabled === undefined ? users.map.fieldsOf(lookup) : NO_USER_FIELDS
      return {
        email,
        name,
        employeeId,
        faults,
        ids,
        id,
        dn: entry.dn,
        disabled,
        uids: byUid ? lookup('uid') : NO_VALUES,
        memberOf: areAsked && id !== undefined ? lookup(MEMBER_OF).map(dns.of) : NO_VALUES,
        primaryGroup: primaryOf(lookup),
      }
    },
    groupOf(entry, index) {
      const lookup = lookupIn(entry)
      return recordOf(entry, lookup, index, groups?.map.fieldsOf(lookup) ?? NO_GROUP_FIELDS)
    },
    otherOf(entry, index) {
      const lookup = lookupIn(entry)
      const record = recordOf(entry, lookup, index, NO_GROUP_FIELDS)
      // Among those that name groups are other things than groups.
      const isGroup = catalog?.groupAttributes.every((name) => lookup(name).length > 0) === true
      return { ...record, hidesMembers: isGroup && record.hidesMembers }
    },
    createIndex: () => createMemberIndex(listed),
    named: dns.forms,
  }
}
