import type { Lookup } from '../../mapping.ts'

/**
 * How users name their primary group. Such a group does not list them: only the user says so, with the last part of the
 * group's SID (Active Directory) or the group's number (POSIX).
 */
export interface PrimaryGroupRule {
  /** What users and groups must be asked for. */
  readonly userAttributes: readonly string[]
  readonly groupAttributes: readonly string[]
  /** What a user calls the primary group. */
  nameIn(user: Lookup): string | undefined
  /** What users call this group. */
  namesOf(group: Lookup): readonly string[]
}

const NONE: PrimaryGroupRule = {
  userAttributes: [],
  groupAttributes: [],
  nameIn: () => undefined,
  namesOf: () => [],
}

export function primaryGroupRule(by: 'sid' | 'gid' | undefined): PrimaryGroupRule {
  switch (by) {
    case undefined:
      return NONE
    case 'gid':
      return ruleOf(['gidNumber'], 'gidNumber', (lookup) => lookup('gidNumber')[0])
    case 'sid':
      return ruleOf(['primaryGroupID', 'objectSid'], 'objectSid', primaryGroupSid)
  }
}

/** The group is in the user's own domain: another domain of the forest has the same last parts. */
function primaryGroupSid(lookup: Lookup): string | undefined {
  const [rid] = lookup('primaryGroupID')
  const [sid] = lookup('objectSid')
  return rid === undefined || sid === undefined ? undefined : sid.replace(/-\d+$/, `-${rid}`)
}

function ruleOf(
  userAttributes: readonly string[],
  groupAttribute: string,
  nameIn: (lookup: Lookup) => string | undefined,
): PrimaryGroupRule {
  return {
    userAttributes,
    groupAttributes: [groupAttribute],
    nameIn,
    namesOf: (lookup) => lookup(groupAttribute),
  }
}
