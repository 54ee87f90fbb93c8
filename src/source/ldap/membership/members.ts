import { normalizeDn } from '../dn.ts'

/** Finds the users that a group's members name, by DN or, for `memberUid`, by the users' `uid`. */
export interface MemberIndex {
  /** What the users must be asked for besides their mapping. */
  readonly attributes: readonly string[]
  addUser(id: string, dn: string, uids: readonly string[]): void
  resolve(members: readonly string[]): Resolved
}

interface Resolved {
  readonly ids: readonly string[]
  /** As the group spells them. */
  readonly strangers: readonly string[]
}

/** `attribute` is the group's attribute with the members; without one nothing is kept in memory. */
export function createMemberIndex(attribute: string | undefined): MemberIndex {
  switch (attribute?.toLowerCase()) {
    case undefined:
      return { attributes: [], addUser: () => undefined, resolve: () => ({ ids: [], strangers: [] }) }
    case 'memberuid':
      return indexByUid()
    default:
      return indexByDn((value) => memberDn(attribute ?? '', value))
  }
}

function indexByDn(dnOf: (value: string) => string | undefined): MemberIndex {
  const ids = createNames()
  return {
    attributes: [],
    addUser(id, dn) {
      const normal = normalizeDn(dn)
      if (normal !== undefined) ids.add(normal, id)
    },
    resolve: (members) =>
      resolveWith(members, (value) => {
        const normal = dnOf(value)
        return normal === undefined ? undefined : ids.get(normal)
      }),
  }
}

/** Ids by name. A name of several users (a `uid`, a DN that differs in what counts here for nothing) is nobody's. */
function createNames(): { add(name: string, id: string): void; get(name: string): string | undefined } {
  const ids = new Map<string, string>()
  const ambiguous = new Set<string>()
  return {
    add(name, id) {
      const other = ids.get(name)
      if (other === undefined) ids.set(name, id)
      else if (other !== id) ambiguous.add(name)
    },
    get: (name) => (ambiguous.has(name) ? undefined : ids.get(name)),
  }
}

function indexByUid(): MemberIndex {
  const ids = createNames()
  return {
    attributes: ['uid'],
    addUser(id, _dn, uids) {
      for (const uid of uids) ids.add(uid, id)
    },
    resolve: (members) => resolveWith(members, (uid) => ids.get(uid)),
  }
}

function resolveWith(members: readonly string[], find: (value: string) => string | undefined): Resolved {
  const ids: string[] = []
  const strangers: string[] = []
  for (const member of members) {
    // The empty DN is nobody: OpenLDAP has it in groups without members, because their schema wants one.
    if (member.trim() === '') continue
    const id = find(member)
    if (id === undefined) strangers.push(member)
    else ids.push(id)
  }
  return { ids, strangers: strangers.toSorted() }
}

/** The DN that a member is, in its normal form; `undefined` where members are no DNs. */
export function memberDn(attribute: string, value: string): string | undefined {
  switch (attribute.toLowerCase()) {
    case 'memberuid':
      return undefined
    case 'uniquemember':
      return normalizeDn(withoutUniqueId(value))
    default:
      return normalizeDn(value)
  }
}

/** `uniqueMember` may end with a bit string that tells apart owners of a reused DN (RFC 4517, 3.3.21). */
function withoutUniqueId(value: string): string {
  const at = value.lastIndexOf('#')
  return at >= 0 && /^#\s*'[01]*'B\s*$/.test(value.slice(at)) ? value.slice(0, at) : value
}
