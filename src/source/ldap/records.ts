import { DirsyncdError } from '../../base/errors.ts'
import type { MemberNames } from '../../core/entries/groups.ts'
import { usableId } from '../collect.ts'
import type { GroupFields, Lookup, UserFields } from '../mapping.ts'
import type { CompiledOptions, DisabledRule } from './compile.ts'
import { dnKey } from './dn.ts'
import { type LdapEntry, lookupIn, textIn } from './entry.ts'
import type { GroupRecord, RecordList, UserRecord, WhyUnknown } from './image.ts'
import { isMemberUid, membersIn, resolveMembers } from './membership/members.ts'
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
      primaryGroup: this.primaryGroupIn(lookup),
    }
  }

  /** The users must have been read. Throws `source-incomplete` for a torn entry, where no members are read. */
  groupOf(entry: LdapEntry, names: Pick<MemberNames, 'idOf'>): GroupRecord {
    if (entry.isTorn && this.#groups?.membersFrom === undefined) throw torn(entry)
    const lookup = lookupIn(entry)
    const fields = this.#groups?.map.fieldsOf(textIn(entry, lookup)) ?? NO_GROUP_FIELDS
    return { ...this.#recordOf(entry, lookup, names, fields), whyUnknown: this.whyUnknown(entry, true) }
  }

  /** A group outside of the sync's filter, read without its mapping. */
  otherOf(entry: LdapEntry, names: Pick<MemberNames, 'idOf'>): GroupRecord {
    const record = this.#recordOf(entry, lookupIn(entry), names, NO_GROUP_FIELDS)
    return { ...record, whyUnknown: this.whyUnknown(entry, false) }
  }

  /** Why the members of this entry are unknown. @param _isGroup whether it is certainly a group */
  whyUnknown({ isTorn }: LdapEntry, _isGroup: boolean): WhyUnknown {
    return isTorn && this.#groups?.membersFrom !== undefined ? 'changing' : undefined
  }

  /** What a group lists, and the groups that an entry names as its parents. */
  listsIn(lookup: Lookup): readonly { readonly attribute: string; readonly members: readonly string[] }[] {
    const shown = this.listed.filter((attribute) => lookup(attribute).length > 0)
    return shown.map((attribute) => ({ attribute, members: membersIn(attribute, lookup) }))
  }

  parentsIn(lookup: Lookup): readonly string[] {
    return this.#groupsNameParents ? lookup(MEMBER_OF).map(this.#dns.of) : NO_VALUES
  }

  /** The groups that any record names as its own, by normal DN. */
  named(): Iterable<string> {
    return this.#dns.forms()
  }

  primaryGroupIn(lookup: Lookup): string | undefined {
    const name = this.primary.nameIn(lookup)
    return name && this.#primaryNames.of(name)
  }

  #recordOf(
    { dn }: LdapEntry,
    lookup: Lookup,
    names: Pick<MemberNames, 'idOf'>,
    fields: GroupFields,
  ): Omit<GroupRecord, 'whyUnknown'> {
    const listOf = (attribute: string, members: readonly string[]): RecordList => ({
      attribute,
      ...resolveMembers(members, names),
    })
    return {
      name: fields.name,
      faults: fields.faults,
      ids: this.#groups === undefined ? NO_VALUES : lookup(this.#groups.map.id),
      dn,
      lists: this.listsIn(lookup).map(({ attribute, members }) => listOf(attribute, members)),
      memberOf: this.parentsIn(lookup),
      primaryNames: this.primary.namesOf(lookup),
      chained: NO_VALUES,
    }
  }
}

function torn({ dn }: LdapEntry): DirsyncdError {
  const what = `could not read all of "${dn}": it changed each time while its values were read`
  return new DirsyncdError('source-incomplete', what)
}
