import { DirsyncdError } from '../../base/errors.ts'
import { usableId } from '../collect.ts'
import type { GroupFields, Lookup, UserFields } from '../mapping.ts'
import type { CompiledOptions, DisabledRule } from './compile.ts'
import { dnKey } from './dn.ts'
import { type LdapEntry, lookupIn, textIn } from './entry.ts'
import type { GroupRecord, ImageUsers, UserRecord } from './image.ts'
import { createMemberIndex, isMemberUid, type MemberIndex, membersIn } from './membership/members.ts'
import { createInterner, MEMBER_OF } from './membership/names.ts'
import { type PrimaryGroupRule, primaryGroupRule } from './membership/primary-group.ts'

const NO_VALUES: readonly string[] = []
const NO_USER_FIELDS: UserFields = { email: undefined, name: undefined, employeeId: undefined, faults: [] }
const NO_GROUP_FIELDS: GroupFields = { name: undefined, faults: [] }

/** Turns the entries of one read into the records of an image. */
export class Records {
  /** The attributes of users besides their mapping. */
  readonly userAttributes: readonly string[]
  /** Every group that may be within another one has one of these attributes. */
  readonly groupSigns: readonly string[]
  /** Whether members name all the groups that they are in, where they name any. */
  readonly namesAllGroups: boolean = true
  /** The attributes of a group that list its members; empty where groups are not read for them. */
  readonly listed: readonly string[]
  readonly primary: PrimaryGroupRule
  readonly #users: CompiledOptions['users']
  readonly #groups: CompiledOptions['groups']
  /** Whether groups name their members by uid, users their groups, and groups the groups that they are in. */
  readonly #byUid: boolean
  readonly #usersNameGroups: boolean
  readonly #groupsNameParents: boolean
  readonly #dns = createInterner(dnKey)
  readonly #primaryNames = createInterner((name) => name)

  constructor({ users, groups }: Pick<CompiledOptions, 'users' | 'groups'>) {
    const { membersFrom, nested, map } = groups ?? {}
    this.#users = users
    this.#groups = groups
    // LDAP_MATCHING_RULE_IN_CHAIN returns direct members too, so no ranged reads.
    this.listed = membersFrom === 'member' && nested !== 'in-chain' ? (map?.members ?? []) : []
    this.primary = primaryGroupRule(groups?.primaryGroup)
    this.#byUid = this.listed.some(isMemberUid)
    this.#usersNameGroups = membersFrom === 'memberOf'
    this.#groupsNameParents = this.#usersNameGroups && nested === 'flatten'
    this.userAttributes = [
      ...(this.#byUid ? ['uid'] : []),
      ...(this.#usersNameGroups ? [MEMBER_OF] : []),
      ...this.primary.userAttributes,
    ]
    this.groupSigns = map?.members ?? []
  }

  get groupAttributes(): readonly string[] {
    return [...this.primary.groupAttributes, ...(this.#groupsNameParents ? [MEMBER_OF] : [])]
  }

  /** Throws `source-incomplete` for an entry that is torn. */
  userOf(entry: LdapEntry, disabled: DisabledRule['action'] | undefined): UserRecord {
    if (entry.isTorn) throw torn(entry)
    const { map } = this.#users
    const lookup = lookupIn(entry)
    const ids = lookup(map.id)
    const id = disabled === 'delete' ? undefined : usableId({ ids })
    const { email, name, employeeId, faults } =
      disabled === undefined ? map.fieldsOf(textIn(entry, lookup)) : NO_USER_FIELDS
    return {
      email,
      name,
      employeeId,
      faults,
      ids,
      id,
      dn: entry.dn,
      disabled,
      uids: this.#byUid ? lookup('uid') : NO_VALUES,
      memberOf: this.#usersNameGroups && id !== undefined ? lookup(MEMBER_OF).map(this.#dns.of) : NO_VALUES,
      primaryGroup: this.#primaryGroupOf(lookup),
    }
  }

  /** The users must be in the index. Throws `source-incomplete` for a torn entry, where no members are read. */
  groupOf(entry: LdapEntry, index: MemberIndex): GroupRecord {
    if (entry.isTorn && this.#groups?.membersFrom === undefined) throw torn(entry)
    const lookup = lookupIn(entry)
    return this.#recordOf(
      entry,
      lookup,
      index,
      this.#groups?.map.fieldsOf(textIn(entry, lookup)) ?? NO_GROUP_FIELDS,
    )
  }

  /** A group outside of the sync's filter, read without its mapping. */
  otherOf(entry: LdapEntry, index: MemberIndex): GroupRecord {
    const lookup = lookupIn(entry)
    return this.#recordOf(entry, lookup, index, NO_GROUP_FIELDS)
  }

  /** @param users the users behind the numbers of the index */
  createIndex(users: Pick<ImageUsers, 'idOf' | 'dnOf'>): MemberIndex {
    return createMemberIndex(this.listed, users)
  }

  /** The groups that any record names as its own, by normal DN. */
  named(): Iterable<string> {
    return this.#dns.forms()
  }

  #primaryGroupOf(lookup: Lookup): string | undefined {
    const name = this.primary.nameIn(lookup)
    return name && this.#primaryNames.of(name)
  }

  #recordOf(entry: LdapEntry, lookup: Lookup, index: MemberIndex, fields: GroupFields): GroupRecord {
    const groups = this.#groups
    const { users, nonUsers, shared } = index.resolve(membersIn(this.listed, lookup))
    return {
      name: fields.name,
      faults: fields.faults,
      ids: groups === undefined ? NO_VALUES : lookup(groups.map.id),
      dn: entry.dn,
      users,
      nonUsers,
      shared,
      lists:
        this.listed.length > 1 ? this.listed.filter((attribute) => lookup(attribute).length > 0) : undefined,
      memberOf: this.#groupsNameParents ? lookup(MEMBER_OF).map(this.#dns.of) : NO_VALUES,
      primaryNames: this.primary.namesOf(lookup),
      chained: NO_VALUES,
      whyUnknown: entry.isTorn && this.#groups?.membersFrom !== undefined ? 'changing' : undefined,
    }
  }
}

function torn({ dn }: LdapEntry): DirsyncdError {
  const what = `could not read all of "${dn}": it changed each time while its values were read`
  return new DirsyncdError('source-incomplete', what)
}
