import type { Lookup } from '../../mapping.ts'
import { normalizeDn } from '../dn.ts'
import type { MemberNames } from '../../../core/entries/groups.ts'
import type { RecordList, UserRecord } from '../image.ts'
import { DnIndex, type Found, type MemberIndex, type Numbered } from './dn-index.ts'

/** `undefined` where groups list no members: nothing is kept in memory. */
export function createMemberIndex(listed: readonly string[], users: Numbered): MemberIndex | undefined {
  if (listed.length === 0) return undefined
  return listed.some(isMemberUid) ? new UidIndex(users, listed.every(isMemberUid)) : new DnIndex(users)
}

export function isMemberUid(attribute: string): boolean {
  return attribute.toLowerCase() === 'memberuid'
}

/** The members that a group lists in an attribute, as it spells them. */
export function membersIn(attribute: string, lookup: Lookup): readonly string[] {
  const values = lookup(attribute)
  const members = attribute.toLowerCase() === 'uniquemember' ? values.map(withoutUniqueId) : values
  return members.some(isNobody) ? members.filter((member) => !isNobody(member)) : members
}

export function resolveMembers(
  members: readonly string[],
  names: Pick<MemberNames, 'idOf'>,
): Omit<RecordList, 'attribute'> {
  const users: string[] = []
  const nonUsers: string[] = []
  const shared: string[] = []
  for (const member of members) {
    const id = names.idOf(member)
    if (id === null) shared.push(member)
    if (id === undefined || id === null) nonUsers.push(member)
    else users.push(id)
  }
  return { users, nonUsers, shared }
}

/** Users by name. A name of several users matches none. */
class Names {
  readonly #all: Numbered
  readonly #users = new Map<string, number>()
  readonly #ambiguous = new Set<string>()

  constructor(all: Numbered) {
    this.#all = all
  }

  add(name: string, number: number): void {
    const other = this.#users.get(name)
    if (other === undefined) this.#users.set(name, number)
    else if (this.#all.idAt(other) !== this.#all.idAt(number)) this.#ambiguous.add(name)
  }

  get(name: string): Found {
    return this.#ambiguous.has(name) ? 'several' : this.#users.get(name)
  }
}

/** Values that look like DNs are DNs where other attributes hold DNs: a uid may be chosen to look like another's. */
class UidIndex implements MemberIndex {
  readonly #all: Numbered
  readonly #isAlone: boolean
  readonly #exact: Names
  readonly #inAnyCase: Names
  readonly #numbers: number[] = []
  #byDn: DnIndex | undefined

  /** @param isAlone whether no attribute of groups holds DNs */
  constructor(all: Numbered, isAlone: boolean) {
    this.#all = all
    this.#isAlone = isAlone
    this.#exact = new Names(all)
    this.#inAnyCase = new Names(all)
  }

  addUser(number: number, { id, uids }: Pick<UserRecord, 'id' | 'uids'>): void {
    if (id === undefined) return
    this.#numbers.push(number)
    this.#byDn?.add(number, this.#all.dnAt(number))
    for (const uid of uids) {
      this.#exact.add(uid, number)
      this.#inAnyCase.add(uid.toLowerCase(), number)
    }
  }

  get(member: string): Found {
    if (normalizeDn(member) === undefined) return this.#named(member)
    const found = this.#isAlone ? this.#named(member) : undefined
    return found === undefined || found === 'several' ? (this.#atDn(member) ?? found) : found
  }

  #named(member: string): Found {
    return this.#exact.get(member) ?? this.#inAnyCase.get(member.toLowerCase())
  }

  #atDn(member: string): Found {
    // Most directories hold no DN here, and their users need no index by DN.
    if (this.#byDn === undefined) {
      this.#byDn = new DnIndex(this.#all)
      for (const number of this.#numbers) this.#byDn.add(number, this.#all.dnAt(number))
    }
    return this.#byDn.get(member)
  }
}

/** OpenLDAP has the empty DN in groups without members, because their schema requires one. */
function isNobody(member: string): boolean {
  return member.trim() === ''
}

/** `uniqueMember` may end with a bit string that tells apart owners of a reused DN (RFC 4517, 3.3.21). */
function withoutUniqueId(value: string): string {
  const at = value.lastIndexOf('#')
  return at >= 0 && /^#\s*'[01]*'B\s*$/.test(value.slice(at)) ? value.slice(0, at) : value
}
