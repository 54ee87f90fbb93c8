/** What a group has of its own. Groups are named by their DN in its normal form. */
export interface GroupNode {
  readonly users: readonly string[]
  readonly groups: readonly string[]
}

/**
 * The users of a group and of all groups within it, each once, however deep and in whatever circles. Groups that are
 * not in `nodes` have nobody.
 */
export function flatten(nodes: ReadonlyMap<string, GroupNode>, name: string): ReadonlySet<string> {
  const users = new Set<string>()
  for (const group of groupsWithin(nodes, name)) {
    for (const user of nodes.get(group)?.users ?? []) users.add(user)
  }
  return users
}

/** A group and all groups within it, each once, those that are not in `nodes` included. */
export function groupsWithin(nodes: ReadonlyMap<string, GroupNode>, name: string): ReadonlySet<string> {
  const within = new Set([name])
  // A set hands out what is added to it while it is gone through, and never anything twice.
  for (const group of within) for (const child of nodes.get(group)?.groups ?? []) within.add(child)
  return within
}
