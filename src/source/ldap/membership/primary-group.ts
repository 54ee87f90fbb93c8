import type { Lookup } from '../../mapping.ts'

/** Only the user names it: by the last part of the group's SID (Active Directory) or the group's number (POSIX). */
export interface PrimaryGroupRule {
  readonly userAttributes: readonly string[]
  readonly groupAttributes: readonly string[]
  nameIn(user: Lookup): string | undefined
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

/** Only for the user's own domain: another domain of the forest has the same last parts. */
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
