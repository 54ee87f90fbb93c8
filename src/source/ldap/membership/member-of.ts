import type { Lookup } from '../../mapping.ts'
import { normalizeDn } from '../dn.ts'

export const MEMBER_OF = 'memberOf'

/** Membership as the members tell it: each names the groups that it is in. */
export interface MemberOf {
  readonly attributes: readonly string[]
  add(id: string, lookup: Lookup): void
  /** The groups that are named, by DN in its normal form. */
  readonly groups: () => Iterable<string>
  /** Who names the group with this DN. */
  membersOf(dn: string): readonly string[]
}

export function createMemberOf(asked: boolean): MemberOf {
  const members = new Map<string, string[]>()
  return {
    attributes: asked ? [MEMBER_OF] : [],
    add(id, lookup) {
      if (!asked) return
      for (const dn of lookup(MEMBER_OF)) {
        const group = normalizeDn(dn) ?? dn
        const others = members.get(group)
        if (others === undefined) members.set(group, [id])
        else others.push(id)
      }
    },
    groups: () => members.keys(),
    membersOf: (dn) => members.get(normalizeDn(dn) ?? dn) ?? [],
  }
}
