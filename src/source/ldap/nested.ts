/** What a group has of its own. Groups are named by their DN in its normal form. */
export interface GroupNode {
  readonly users: readonly string[]
  readonly groups: readonly string[]
}

/**
 * The users of a group and of all groups within it, each once, however deep and in whatever circles. Groups that are not
 * in `nodes` have nobody.
 */
export function flatten(nodes: ReadonlyMap<string, GroupNode>, name: string): ReadonlySet<string> {
  const users = new Set<string>()
  const within = new Set([name])
  // A set hands out what is added to it while it is gone through, and never anything twice.
  for (const group of within) {
    const node = nodes.get(group)
    for (const user of node?.users ?? []) users.add(user)
    for (const child of node?.groups ?? []) within.add(child)
  }
  return users
}
