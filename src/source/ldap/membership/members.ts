import type { Lookup } from '../../mapping.ts'
import { normalizeDn } from '../dn.ts'
import type { ImageUsers, UserRecord } from '../image.ts'
import { DnIndex, type Found } from './dn-index.ts'

/**
 * Finds the users that a group's members name: by DN, or for `memberUid` by the users' `uid`. A `memberUid` in another
 * case than the `uid` counts where only one user has it in any case, and one that is a DN counts as a DN: old
 * directories contain all of these.
 */
export interface MemberIndex {
  /** Only users with a usable id can be members. */
  addUser(number: number, user: Pick<UserRecord, 'id' | 'dn' | 'uids'>): void
  resolve(members: readonly string[]): Resolved
}

export interface Resolved {
  /** By their numbers. */
  readonly users: readonly number[]
  /** As the group spells them. */
  readonly nonUsers: readonly string[]
  /** Those of them that name several users, so that the member is ambiguous. */
  readonly shared: readonly string[]
}

type Users = Pick<ImageUsers, 'idOf' | 'dnOf'>

/** `listed` are the group's attributes with the members; without any nothing is kept in memory. */
export function createMemberIndex(listed: readonly string[], users: Users): MemberIndex {
  if (listed.length === 0)
    return { addUser: () => undefined, resolve: () => ({ users: [], nonUsers: [], shared: [] }) }
  if (!listed.some(isMemberUid)) return indexByDn(users)
  return indexByUid(users, listed.every(isMemberUid))
}

export function isMemberUid(attribute: string): boolean {
  return attribute.toLowerCase() === 'memberuid'
}

/** As the group spells them. */
export function membersIn(listed: readonly string[], lookup: Lookup): readonly string[] {
  const [first = '', ...others] = listed
  if (others.length === 0) return valuesOf(first, lookup)
  return [...new Set(listed.flatMap((attribute) => valuesOf(attribute, lookup)))]
}

function valuesOf(attribute: string, lookup: Lookup): readonly string[] {
  const values = attribute === '' ? [] : lookup(attribute)
  return attribute.toLowerCase() === 'uniquemember' ? values.map(withoutUniqueId) : values
}

function indexByDn(users: Users): MemberIndex {
  const index = new DnIndex(users)
  return {
    addUser(number, { id, dn }) {
      if (id !== undefined) index.add(number, dn)
    },
    resolve: (members) => resolveWith(members, (value) => index.get(value)),
  }
}

/** Users by name. A name of several users matches none. */
function createNames({ idOf }: { readonly idOf: (number: number) => string | undefined }): {
  add(name: string, number: number): void
  get(name: string): Found
} {
  const users = new Map<string, number>()
  const ambiguous = new Set<string>()
  return {
    add(name, number) {
      const other = users.get(name)
      if (other === undefined) users.set(name, number)
      else if (idOf(other) !== idOf(number)) ambiguous.add(name)
    },
    get: (name) => (ambiguous.has(name) ? 'several' : users.get(name)),
  }
}

/** Values that look like DNs are DNs where other attributes hold DNs: a uid may be chosen to look like another's. */
function indexByUid(users: Users, alone: boolean): MemberIndex {
  const idOf = (number: number) => users.idOf(number)
  const exact = createNames({ idOf })
  const inAnyCase = createNames({ idOf })
  const numbers: number[] = []
  let byDn: DnIndex | undefined

  function named(member: string): Found {
    return exact.get(member) ?? inAnyCase.get(member.toLowerCase())
  }

  function atDn(member: string): Found {
    // Most directories hold no DN here, and their users need no index by DN.
    if (byDn === undefined) {
      byDn = new DnIndex(users)
      for (const number of numbers) byDn.add(number, users.dnOf(number))
    }
    return byDn.get(member)
  }

  return {
    addUser(number, { id, dn, uids }) {
      if (id === undefined) return
      numbers.push(number)
      byDn?.add(number, dn)
      for (const uid of uids) {
        exact.add(uid, number)
        inAnyCase.add(uid.toLowerCase(), number)
      }
    },
    resolve: (members) =>
      resolveWith(members, (member) => {
        if (normalizeDn(member) === undefined) return named(member)
        const found = alone ? named(member) : undefined
        return found === undefined || found === 'several' ? (atDn(member) ?? found) : found
      }),
  }
}

function resolveWith(members: readonly string[], find: (value: string) => Found): Resolved {
  const users: number[] = []
  const nonUsers: string[] = []
  const shared: string[] = []
  for (const member of members) {
    if (isNobody(member)) continue
    const user = find(member)
    if (user === 'several') shared.push(member)
    if (user === undefined || user === 'several') nonUsers.push(member)
    else users.push(user)
  }
  return { users, nonUsers: nonUsers.toSorted(), shared: shared.toSorted() }
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
