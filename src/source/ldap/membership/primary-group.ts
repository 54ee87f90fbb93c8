import type { Lookup } from '../../mapping.ts'

/**
 * Finds the users whose primary group a group is. Such a group does not list them: only the user says so, with the
 * last part of the group's SID (Active Directory) or the group's number (POSIX).
 */
export interface PrimaryGroups {
  /** What users and groups must be asked for. */
  readonly userAttributes: readonly string[]
  readonly groupAttributes: readonly string[]
  addUser(id: string, lookup: Lookup): void
  /** What the users call their primary groups, each once. */
  keys(): readonly string[]
  /** The ids of the users. */
  usersOf(lookup: Lookup): readonly string[]
}

const NONE: PrimaryGroups = {
  userAttributes: [],
  groupAttributes: [],
  addUser: () => undefined,
  keys: () => [],
  usersOf: () => [],
}

export function createPrimaryGroups(by: 'sid' | 'gid' | undefined): PrimaryGroups {
  switch (by) {
    case undefined:
      return NONE
    case 'gid':
      return collect(['gidNumber'], 'gidNumber', (lookup) => lookup('gidNumber')[0])
    case 'sid':
      return collect(['primaryGroupID', 'objectSid'], 'objectSid', primaryGroupSid)
  }
}

/** The group is in the user's own domain: another domain of the forest has the same last parts. */
function primaryGroupSid(lookup: Lookup): string | undefined {
  const [rid] = lookup('primaryGroupID')
  const [sid] = lookup('objectSid')
  return rid === undefined || sid === undefined ? undefined : sid.replace(/-\d+$/, `-${rid}`)
}

function collect(
  userAttributes: readonly string[],
  groupAttribute: string,
  groupOf: (lookup: Lookup) => string | undefined,
): PrimaryGroups {
  const users = new Map<string, string[]>()
  return {
    userAttributes,
    groupAttributes: [groupAttribute],
    addUser(id, lookup) {
      const group = groupOf(lookup)
      if (group === undefined) return
      const others = users.get(group)
      if (others === undefined) users.set(group, [id])
      else others.push(id)
    },
    keys: () => [...users.keys()],
    usersOf: (lookup) => lookup(groupAttribute).flatMap((group) => users.get(group) ?? []),
  }
}
