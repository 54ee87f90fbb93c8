/** Groups are named by normal DN. */
export interface GroupNode {
  readonly users: readonly string[]
  readonly groups: readonly string[]
}

/** The users of a group and its nested groups, each once, also in circles. Groups not in `nodes` have no users. */
export function flatten(nodes: ReadonlyMap<string, GroupNode>, name: string): ReadonlySet<string> {
  const users = new Set<string>()
  for (const group of groupsWithin(nodes, name)) {
    for (const user of nodes.get(group)?.users ?? []) users.add(user)
  }
  return users
}

/** A group and all groups within it, each once, including those that are not in `nodes`. */
export function groupsWithin(nodes: ReadonlyMap<string, GroupNode>, name: string): ReadonlySet<string> {
  const within = new Set([name])
  // A set iterates over values that are added during the loop, and never twice.
  for (const group of within) for (const child of nodes.get(group)?.groups ?? []) within.add(child)
  return within
}
